"""Claims in a statement that a game's log can check, found by rules.

What counts as a claim:
- Something stated as a fact. Opinions ("I think", "probably", "must be"), questions, conditions ("if I were"), reports
  of what others say ("Bob says he is the detective") and quoted words do not count. With words of certainty ("I know",
  "I can confirm", "clearly"), a fact is still a fact.
- A claim about oneself is a role claim, whatever it says: "I am the detective", "I'm innocent", "I'm not the mafioso".
  Speakers may name themselves ("Alice is innocent", said by Alice). A claim about others is guilt (mafia), innocence
  (town, villager) or a role (the detective, or that they lie about being it).
- "I investigated Bob", with its result, is one investigation claim: any role that the statement gives Bob is the
  result, not a second claim, even if it is put as an opinion ("based on my investigation, I believe Bob…").
  "My investigation", "my findings" and "I found out that" count as well; "the investigation" could be anyone's and
  does not.
- In Werewolf "not a werewolf" leaves open whether someone is the jester: it is "not werewolf", and innocence is
  "villagers". A comparison with a werewolf ("wolf-like", "acting like a wolf") is not a claim.
- "I protected Bob" is a protection claim; a plan or advice to protect is not.
- A vote promise commits the speaker ("I'm voting for Bob"); a proposal ("let's vote for Bob") does not.
- A pronoun means the player named last in its sentence, else the subject of the sentence before; "you" is the player
  addressed by name. If that is unclear, there is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from liescope.labeling import wording
from liescope.labeling.reading import Sentence, lower, mark_of, mask, sentences, unmask
from liescope.labeling.role_patterns import RolePatterns, role_patterns
from liescope.labeling.vocabulary import Vocabulary

_CACHED_LENGTH = 2000
_REACH = 200


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """kind: role, investigation, protection, innocence, guilt or vote; subject: the player it is about (the speaker for
    a vote); value: a team ("mafia", "town", "villagers"), a role, "not " and one of these, "" for a protection and for
    an investigation without a result, or the vote's target. A claim about oneself gives the role: "mafioso"
    rather than "mafia". quote: the words it was read from.
    """

    kind: str
    subject: str
    value: str
    quote: str


@dataclass(slots=True)
class _Said:
    """What a clause says about a player. fact: not just an opinion; found: the speaker claims to have found it out."""

    sentence: int
    start: int
    subject: str
    value: str
    quote: str
    fact: bool
    found: bool = False


def find_claims(text: str, speaker: str, names: Sequence[str], game: str) -> tuple[FoundClaim, ...]:
    """The claims in a statement, in the order of its words, without repeats. Any text and any names are accepted.

    game: the name of the rules, which decide what words for roles to look for.
    """
    find = _cached if len(text) <= _CACHED_LENGTH else _find
    return find(text, speaker, tuple(names), game)


def _find(text: str, speaker: str, names: tuple[str, ...], game: str) -> tuple[FoundClaim, ...]:
    patterns = role_patterns(game)
    if not patterns.trigger.search(lower(text)):
        return ()
    me = mark_of(speaker, names)
    said: list[_Said] = []
    looks = False
    checks: list[_Said] = []
    votes: list[_Said] = []
    protections: list[_Said] = []
    own_results: set[int] = set()
    for sentence in sentences(mask(text, names), me):
        if not patterns.trigger.search(sentence.low):
            continue
        end = _declared(sentence)
        if not end:
            continue
        looked = list(_investigations(sentence, end, patterns))
        looks = looks or wording.OWN_LOOK.search(sentence.low, 0, end) is not None
        if looked:
            sentence.focus = looked[-1].subject
        about = list(_statements(sentence, end, patterns))
        if mine := _my_investigation(sentence, end, patterns):
            own_results.add(sentence.number)
            about += _pointed(sentence, end, mine, patterns)
        others = [fact.subject for fact in about if fact.subject != me]
        if others and not looked:
            sentence.focus = others[-1]
        said += about
        checks += looked
        votes += _votes(sentence, end, patterns)
        if patterns.words.protects:
            protections += _protections(sentence, end, patterns)
    seer = patterns.words.seer
    if not seer or checks or looks or any(fact.subject == me and fact.value == seer for fact in said):
        investigated = list(_investigated(said, checks, own_results, me, patterns.words))
    else:
        investigated = []  # finding something out without looking is only a conclusion
    found = [
        *investigated,
        *_plain(said, me, patterns.words),
        *_of_kind("vote", votes),
        *_of_kind("protection", protections),
    ]
    found.sort(key=lambda one: one[:2])
    unique = {(kind, fact.subject, fact.value): fact for _, _, kind, fact in reversed(found)}
    return tuple(
        FoundClaim(kind, *_named(kind, subject, value, speaker, names), unmask(fact.quote, names).strip(" ,;:-"))
        for (kind, subject, value), fact in reversed(unique.items())
    )


_cached = lru_cache(maxsize=8192)(_find)

_Found = tuple[int, int, str, _Said]


def _named(kind: str, subject: str, value: str, speaker: str, names: Sequence[str]) -> tuple[str, str]:
    """Subject and value with characters turned into names."""
    return (unmask(subject, names) if subject else speaker), (unmask(value, names) if kind == "vote" else value)


# From what was said to claims


def _investigated(
    said: list[_Said], checks: list[_Said], own_results: set[int], me: str, words: Vocabulary
) -> Iterator[_Found]:
    """Investigation claims. What they use is removed from `said`."""
    targets: dict[str, _Said] = {}
    for check in checks:
        targets.setdefault(check.subject, check)
    stated = any(fact.sentence in own_results and fact.subject != me for fact in said)
    for fact in said:
        if fact.subject == me or not words.is_result(fact.value):
            continue
        reported = not checks and (fact.sentence in own_results or (fact.fact and bool(own_results) and not stated))
        if fact.found or reported:
            targets.setdefault(fact.subject, fact)
    results: dict[str, _Said] = {}
    for fact in said:
        if fact.subject in targets and words.is_result(fact.value):
            check = targets[fact.subject]
            if fact.fact or fact.sentence == check.sentence or fact.sentence in own_results:
                results.setdefault(fact.subject, fact)
    said[:] = [fact for fact in said if fact.subject not in targets or not words.is_result(fact.value)]
    for subject, check in targets.items():
        result = results.get(subject, check)
        quote = check.quote if result.quote in check.quote else f"{check.quote} … {result.quote}"
        yield (
            check.sentence,
            check.start,
            "investigation",
            _Said(check.sentence, check.start, subject, result.value, quote, fact=True),
        )


def _plain(said: list[_Said], me: str, words: Vocabulary) -> Iterator[_Found]:
    for fact in said:
        if not fact.fact:
            continue
        kind = "role"
        if fact.subject == me:
            fact.value = words.own.get(fact.value, fact.value)
        elif fact.value in words.guilt:
            kind = "guilt"
        elif fact.value in words.innocence:
            kind = "innocence"
        yield fact.sentence, fact.start, kind, fact


def _of_kind(kind: str, facts: list[_Said]) -> Iterator[_Found]:
    for fact in facts:
        yield fact.sentence, fact.start, kind, fact


# What governs a clause: a condition, a report, an opinion, the speaker's finding


def _declared(sentence: Sentence) -> int:
    """The position up to which the sentence states rather than asks."""
    if not sentence.asks:
        return len(sentence.low)
    question = wording.QUESTION.search(sentence.low)
    return question.start() if question else 0


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match ends, or -1 if there is none."""
    end = -1
    for match in pattern.finditer(text):
        end = match.end()
    return end


def _governed(low: str, start: int, patterns: RolePatterns) -> tuple[bool, bool] | None:
    """(fact, found by the speaker) for the words that begin at `start`; None if the speaker is not asserting them."""
    before = low[max(0, start - _REACH) : start]
    if wording.BEFORE.search(before):
        return None
    before = before[max(0, _last_end(wording.BREAK, before)) :]
    if wording.SUPPOSED.search(before):
        return None
    ahead = low[start : start + 5]  # what some clause boundaries look at
    clause = before[min(len(before), max(0, _last_end(wording.CLAUSE, before + ahead))) :]
    own = _last_end(wording.OWN_FINDING, clause)
    if _last_end(patterns.others_say, clause) > own:
        return None
    fact = _last_end(wording.OPINION, clause) <= own
    return fact, fact and own >= 0 and wording.ENDS_FINDING.search(clause) is not None


# The forms that statements about players take


def _statements(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    low, words = sentence.low, patterns.words
    for match in patterns.is_role.finditer(low, 0, end):
        if patterns.possessive.match(match[0]):
            continue
        if wording.TRAIT_OF.match(match[0]) and wording.NOUN.match(low, match.end()):
            continue
        yield from _predicate(sentence, match, words.said(match, _negated(match)), patterns)
    if " about" in low or "pretend" in low or "fals" in low or "posing" in low or "faking" in low or "imperson" in low:
        for match in patterns.pretending.finditer(low, 0, end):
            yield from _predicate(sentence, match, words.said(match, not _negated(match)), patterns)
    if "kill" in low or "murder" in low:
        for match in wording.KILLED.finditer(low, 0, end):
            denied = re.search("n't|not|never", match["aux"]) is not None
            if denied or match["verb"].endswith("ed"):
                yield from _predicate(sentence, match, words.deny(words.evil) if denied else words.evil, patterns)
    for pattern in (patterns.inverted, patterns.apposed):
        for match in pattern.finditer(low, 0, end):
            yield from _predicate(sentence, match, words.said(match, _negated(match)), patterns)
    for match in patterns.found_to_be.finditer(low, 0, end):
        yield from _found_out(sentence, match, patterns)
    yield from _about_oneself(sentence, end, patterns)


def _negated(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    return bool(groups.get("negation")) != (" not" in (groups.get("adverbs") or ""))


def _predicate(sentence: Sentence, match: re.Match[str], value: str, patterns: RolePatterns) -> Iterator[_Said]:
    low, start, end = sentence.low, match.start(), match.end()
    governed = _governed(low, start, patterns)
    if governed is None or low.startswith((" or ", "?"), end):
        return
    adverbs = match.groupdict().get("adverbs") or ""
    if re.search("necessari|either|neither", adverbs):
        return
    hedged = wording.HEDGE.search(adverbs) or wording.TRAILING_OPINION.match(low, end)
    fact, found = governed
    quote = sentence.words[start:end]
    several = re.findall(wording.NAME, match["subject"])
    for word in several or [match["subject"]]:
        subject = sentence.resolve(word, start)
        if subject:
            yield _Said(sentence.number, start, subject, value, quote, fact and not hedged, found and not hedged)


def _found_out(sentence: Sentence, match: re.Match[str], patterns: RolePatterns) -> Iterator[_Said]:
    """A verb of finding: the speaker found "her to be the mafioso", or an investigation of the speaker's did."""
    low, target = sentence.low, match.start("target")
    governed = _governed(low, target, patterns)
    subject = sentence.resolve(match["target"], match.start())
    if governed is None or not subject or subject == sentence.me:
        return
    before = low[max(0, target - _REACH) : target]
    mine = _last_end(wording.OWN_FINDING, before) >= 0 or _own_subject(before)
    if mine or wording.MY_INVESTIGATION.search(before):
        value = patterns.words.said(match, bool(match["negation"] or match["negation2"]))
        yield _Said(
            sentence.number, match.start(), subject, value, sentence.words[match.start() : match.end()], True, mine
        )


def _about_oneself(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    low = sentence.low
    matches = [match for match in patterns.named.finditer(low, 0, end) if sentence.me and sentence.me in match[0]]
    matches += patterns.claiming.finditer(low, 0, end)
    matches += [
        match
        for match in patterns.as_role.finditer(low, 0, end)
        if match["own"] or wording.AS_OWN.match(low, match.end())
    ]
    for match in matches:
        if _governed(low, match.start(), patterns) is not None:
            quote = sentence.words[match.start() : match.end()]
            value = patterns.words.said(match, negated=False)
            yield _Said(sentence.number, match.start(), sentence.me, value, quote, fact=True)


# Investigations and votes


def _own_subject(before: str) -> bool:
    """Whether the last subject before a verb without one is the speaker."""
    subjects = wording.LAST_SUBJECT.findall(before)
    return bool(subjects) and subjects[-1] == "i"


def _investigations(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    low = sentence.low
    looks = list(patterns.looked.finditer(low, 0, end)) if patterns.looked else []
    if not looks and not wording.INVESTIGATING.search(low):
        return
    matches = list(wording.INVESTIGATED.finditer(low, 0, end))
    matches = [m for m in matches if not m["elided"] or _own_subject(low[max(0, m.start() - _REACH) : m.start()])]
    matches += wording.ONE_INVESTIGATED.finditer(low, 0, end)
    matches += wording.INVESTIGATION_OF.finditer(low, 0, end)
    for match in sorted([*matches, *looks], key=lambda match: match.start()):
        subject = sentence.resolve(match["target"], match.start())
        if not subject or subject == sentence.me or _governed(low, match.start(), patterns) is None:
            continue
        result = patterns.result.search(low, match.end(), min(end, match.end() + 60))
        value = patterns.words.said(result, bool(result["negation"])) if result else ""
        quote = sentence.words[match.start() : match.end()]
        yield _Said(sentence.number, match.start(), subject, value, quote, fact=True)


def _my_investigation(sentence: Sentence, end: int, patterns: RolePatterns) -> int:
    """Where the words about the speaker's own investigation end; 0 if there are none."""
    match = wording.MY_INVESTIGATION.search(sentence.low, 0, end)
    return match.end() if match and _governed(sentence.low, match.start(), patterns) is not None else 0


def _pointed(sentence: Sentence, end: int, start: int, patterns: RolePatterns) -> Iterator[_Said]:
    """ "my investigation points to Bob"."""
    for match in wording.POINTS_TO.finditer(sentence.low, start, end):
        subject = sentence.resolve(match["target"], match.start())
        if subject and subject != sentence.me:
            quote = sentence.words[match.start() : match.end()]
            yield _Said(sentence.number, match.start(), subject, patterns.words.evil, quote, fact=True)


def _votes(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    if "vot" not in sentence.low:
        return
    for match in wording.VOTE.finditer(sentence.low, 0, end):
        target = sentence.resolve(match["target"], match.start())
        conditional = wording.SUPPOSED.search(sentence.low, match.end(), match.end() + 60)
        if target and not conditional and _governed(sentence.low, match.start(), patterns) is not None:
            quote = sentence.words[match.start() : match.end()]
            yield _Said(sentence.number, match.start(), sentence.me, target, quote, fact=True)


def _protections(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    if not wording.PROTECTING.search(sentence.low):
        return
    for match in wording.PROTECTED.finditer(sentence.low, 0, end):
        target = sentence.resolve(match["target"], match.start())
        if target and _governed(sentence.low, match.start(), patterns) is not None:
            quote = sentence.words[match.start() : match.end()]
            yield _Said(sentence.number, match.start(), target, "", quote, fact=True)
