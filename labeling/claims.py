"""Claims in a statement that a game's log can check, found by rules.

What counts as a claim:
- Something stated as a fact. Opinions ("I think", "probably", "must be"), questions, conditions ("if I were"), reports
  of what others say ("Bob says he is the detective"), quoted words and words behind another's name ("Bob: I am the
  detective", as in a script or a copied log) do not count. With words of certainty ("I know", "I can confirm",
  "clearly"), a fact is still a fact.
- A claim about oneself is a role claim, whatever it says: "I am the detective", "I'm innocent", "I'm not the mafioso".
  Speakers may name themselves ("Alice is innocent", said by Alice). A claim about others is guilt (mafia), innocence
  (town, villager) or a role (the detective, or that they lie about being it).
- A role that a sentence takes for granted is claimed: "my detective findings", "I investigated him as the detective",
  "Bob, as the detective, you…", "if Bob had investigated me, he'd know I'm innocent".
- "I'm the mafioso, but I didn't kill Bob" claims the stated role, not what the deed alone would show.
- "I investigated Bob", with its result, is one investigation claim: any role that the statement gives Bob is the
  result, not a second claim, even if it is put as an opinion ("based on my investigation, I believe Bob…").
  "My investigation", "my findings", "I found out that" and "I confirmed it last night" count as well; "the
  investigation" could be anyone's and does not. "Bob confessed to being the mafioso" only reports what Bob says, but is
  the result if it "confirms my investigation".
- In Werewolf "not a werewolf" leaves open whether someone is the jester: it is "not werewolf", and innocence is
  "villagers". A comparison with a werewolf ("wolf-like", "acting like a wolf") is not a claim.
- "I protected Bob" is a protection claim; a plan or advice to protect is not.
- A promise commits the speaker to an act ("I'm voting for Bob", "I'm voting with Diana"); a proposal ("let's vote for
  Bob") does not.
- A pronoun means the player named last in its sentence, else the subject of the sentence before; "you" is the player
  addressed by name. If that is unclear, there is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from liescope.games.vocabulary import NAME, NOT, NOUN, FoundClaim, Vocabulary
from liescope.labeling import sentence_reading
from liescope.labeling.accusing import REACH, declared, governed, last_end, own_subject
from liescope.labeling.masking import MaskedText, mark_of, name_of
from liescope.labeling.role_patterns import RolePatterns, role_patterns
from liescope.labeling.sentence_reading import Sentence, lower, sentences

_CACHED_LENGTH = 2000
_NAME = re.compile(NAME)


@dataclass(slots=True)
class _Said:
    """A clause about a player. start, end: its place in the masked text; fact: not just an opinion; found:
    the speaker claims to have found it out; deed: it follows from who killed.
    """

    sentence: int
    start: int
    end: int
    subject: str
    value: str
    fact: bool
    found: bool = False
    deed: bool = False


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
    acts: list[_Found] = []
    own_results: set[int] = set()
    masked = MaskedText(text, names, speaker)
    for sentence in sentences(masked.text, me):
        if not patterns.trigger.search(sentence.low):
            continue
        end = declared(sentence)
        if not end:
            continue
        looking = sentence_reading.INVESTIGATING.search(sentence.low) is not None
        looked = list(_investigations(sentence, end, patterns, looking))
        looks = looks or (looking and sentence_reading.OWN_LOOK.search(sentence.low, 0, end) is not None)
        mine = _my_investigation(sentence, end, patterns)
        if looked or (mine and checks):
            sentence.focus = (looked or checks)[-1].subject
        about = list(_statements(sentence, end, patterns))
        if mine:
            own_results.add(sentence.number)
            about += _pointed(sentence, end, mine, patterns)
        others = [fact.subject for fact in about if fact.subject != me]
        if others and not looked:
            sentence.focus = others[-1]
        said += about
        checks += looked
        acts += _promises(sentence, end, patterns)
        if patterns.words.protects:
            acts += _protections(sentence, end, patterns)
    seer = patterns.words.seer
    if not seer or checks or looks or any(fact.subject == me and fact.value == seer for fact in said):
        investigated = list(_investigated(said, checks, own_results, me, patterns.words))
    else:
        investigated = []  # a finding without an investigation is only a conclusion
    found = sorted([*investigated, *_plain(said, me, patterns.words), *acts], key=lambda one: one[1].start)
    # Keep the first of repeated claims: later keys overwrite, so reverse twice.
    unique = {(kind, fact.subject, fact.value): fact for kind, fact in reversed(found)}
    return tuple(_claim(kind, fact, speaker, names, masked) for (kind, _, _), fact in reversed(unique.items()))


_cached = lru_cache(maxsize=8192)(_find)

_Found = tuple[str, _Said]
_EDGES = " ,;:-\"'("


def _claim(kind: str, fact: _Said, speaker: str, names: Sequence[str], masked: MaskedText) -> FoundClaim:
    """The claim with names instead of characters, and its place in the original text."""
    words = masked.text[fact.start : fact.end]
    start = fact.start + len(words) - len(words.lstrip(_EDGES))
    end = fact.end - len(words) + len(words.rstrip(_EDGES))
    object = fact.value.removeprefix(NOT)
    return FoundClaim(
        kind,
        name_of(fact.subject, names) if fact.subject else speaker,
        name_of(object, names) if _NAME.fullmatch(object) else object,
        fact.value.startswith(NOT),
        *masked.said(start, end),
    )


# From what was said to claims


def _investigated(
    said: list[_Said], checks: list[_Said], own_results: set[int], me: str, words: Vocabulary
) -> Iterator[_Found]:
    """Investigation claims. What they use is removed from `said`."""
    targets: dict[str, _Said] = {}
    for check in checks:
        targets.setdefault(check.subject, check)
    results_of = [fact for fact in said if fact.subject != me and words.is_result(fact.value)]
    if own_results and not any(fact.sentence in own_results for fact in said if fact.subject != me):
        meant = [fact for fact in results_of if fact.fact]  # the investigation has one result, guilt if any is stated
        meant = sorted(meant, key=lambda fact: fact.value not in words.guilt)[:1]
    else:
        meant = [fact for fact in results_of if fact.sentence in own_results]
    for fact in results_of:
        if fact.found or (not checks and fact in meant):
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
        start, end = min(check.start, result.start), max(check.end, result.end)
        yield "investigation", _Said(check.sentence, start, end, subject, result.value, fact=True)


def _plain(said: list[_Said], me: str, words: Vocabulary) -> Iterator[_Found]:
    stated = {fact.value for fact in said if fact.subject == me and fact.fact and not fact.deed}
    sides = {words.evil, words.deny(words.evil)}
    for fact in said:
        if not fact.fact:
            continue
        if fact.subject == me:
            if fact.deed and stated & sides - {fact.value}:
                continue  # "I'm the mafioso, but I didn't kill Bob"
            fact.value = words.own.get(fact.value, fact.value)
            yield "role", fact
        else:
            yield words.kind(fact.value), fact


def _said(
    sentence: Sentence, start: int, end: int, subject: str, value: str, fact: bool = True, found: bool = False
) -> _Said:
    """The content of a sentence from `start` to `end`."""
    return _Said(sentence.number, sentence.start + start, sentence.start + end, subject, value, fact, found)


# The forms that statements about players take


def _statements(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    low, words = sentence.low, patterns.words
    if not patterns.mentions.search(low, 0, end):
        yield from _guilt(sentence, end, patterns)
        yield from _killings(sentence, end, patterns)
        return
    for match in patterns.is_role.finditer(low, 0, end):
        if patterns.possessive.match(match[0]):
            continue
        if sentence_reading.TRAIT_OF.match(match[0]) and NOUN.match(low, match.end()):
            continue
        yield from _predicate(sentence, match, words.said(match, _negated(match)), patterns)
    if " about" in low:
        for pattern in (patterns.truthful, patterns.about_others):
            for match in pattern.finditer(low, 0, end):
                yield from _predicate(sentence, match, words.said(match, _negated(match)), patterns)
    yield from _guilt(sentence, end, patterns)
    if sentence_reading.PRETENDING.search(low):
        for match in patterns.pretending.finditer(low, 0, end):
            yield from _predicate(sentence, match, words.said(match, not _negated(match)), patterns)
    yield from _killings(sentence, end, patterns)
    apposed = (patterns.apposed,) if ", " in low else ()
    for pattern in (patterns.inverted, *apposed, *((patterns.addressed,) if ", as " in low else ())):
        for match in pattern.finditer(low, 0, end):
            yield from _predicate(sentence, match, words.said(match, _negated(match)), patterns)
    if "confess" in low or "admit" in low:
        for match in patterns.confessed.finditer(low, 0, end):
            for said in _predicate(sentence, match, words.said(match, negated=False), patterns):
                yield replace(said, fact=False)  # a report that the speaker's own findings may confirm
    for match in patterns.found_to_be.finditer(low, 0, end):
        yield from _found_out(sentence, match, patterns)
    yield from _about_oneself(sentence, end, patterns)


def _guilt(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    if " guilt " in sentence.low:
        for match in sentence_reading.GUILT_OF.finditer(sentence.low, 0, end):
            yield from _predicate(sentence, match, patterns.words.evil, patterns)


def _killings(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    low, words = sentence.low, patterns.words
    if "kill" in low or "murder" in low:
        for match in sentence_reading.KILLED.finditer(low, 0, end):
            denied = re.search("n't|not|never", match["aux"]) is not None
            if match["subject"] == "i" if denied else match["verb"].endswith("ed"):
                value = words.deny(words.evil) if denied else words.evil
                for said in _predicate(sentence, match, value, patterns):
                    yield replace(said, deed=True)


def _negated(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    return bool(groups.get("negation")) != (" not" in (groups.get("adverbs") or ""))


def _predicate(sentence: Sentence, match: re.Match[str], value: str, patterns: RolePatterns) -> Iterator[_Said]:
    low, start, end = sentence.low, match.start(), match.end()
    standing = governed(low, start, patterns)
    if standing is None or low.startswith((" or ", "?"), end):
        return
    adverbs = match.groupdict().get("adverbs") or ""
    if re.search("necessari|either|neither", adverbs):
        return
    hedged = sentence_reading.HEDGE.search(adverbs) or sentence_reading.TRAILING_OPINION.match(low, end)
    fact, found = standing
    several = re.findall(NAME, match["subject"])
    for word in several or [match["subject"]]:
        subject = sentence.resolve(word, start)
        if subject:
            yield _said(sentence, start, end, subject, value, fact and not hedged, found and not hedged)


def _found_out(sentence: Sentence, match: re.Match[str], patterns: RolePatterns) -> Iterator[_Said]:
    """A verb of finding: the speaker found "her to be the mafioso", or an investigation of the speaker's did."""
    low, target = sentence.low, match.start("target")
    standing = governed(low, target, patterns)
    subject = sentence.resolve(match["target"], match.start())
    if standing is None or not subject or subject == sentence.me:
        return
    before = low[max(0, target - REACH) : target]
    mine = last_end(sentence_reading.OWN_FINDING, before) >= 0 or own_subject(sentence, target)
    if mine or sentence_reading.MY_INVESTIGATION.search(before):
        mine = mine and not match[0].startswith("revealed")  # to reveal is to tell, not to find out
        value = patterns.words.said(match, bool(match["negation"] or match["negation2"]))
        yield _said(sentence, *match.span(), subject, value, found=mine)


def _about_oneself(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Said]:
    low = sentence.low
    matches: list[re.Match[str]] = []
    if sentence.me and sentence.me in low:
        matches += [match for match in patterns.named.finditer(low, 0, end) if sentence.me in match[0]]
    if "claim" in low or "role" in low:
        matches += patterns.claiming.finditer(low, 0, end)
    if "my " in low:
        matches += patterns.with_role.finditer(low, 0, end)
    if "s me" in low or " me" in low[-6:]:
        matches += patterns.that_is_me.finditer(low, 0, end)
    if "as " in low or "being " in low:
        matches += [
            match
            for match in patterns.as_role.finditer(low, 0, end)
            if match["own"] or match["act"] or sentence_reading.AS_OWN.match(low, match.end())
        ]
    for match in matches:
        value = patterns.words.said(match, negated=False)
        if match.groupdict().get("act") and patterns.words.kind(value) != "role":
            continue  # "I investigated Bob as mafia" is about Bob
        if governed(low, match.start(), patterns) is not None:
            yield _said(sentence, *match.span(), sentence.me, value)


# Investigations, promises and protections


def _investigations(sentence: Sentence, end: int, patterns: RolePatterns, looking: bool) -> Iterator[_Said]:
    """looking: the sentence holds a word for investigating."""
    low = sentence.low
    looks = list(patterns.looked.finditer(low, 0, end)) if patterns.looked else []
    if not looks and not looking:
        return
    matches = list(sentence_reading.INVESTIGATED.finditer(low, 0, end))
    matches = [m for m in matches if not m["elided"] or own_subject(sentence, m.start())]
    matches += sentence_reading.ONE_INVESTIGATED.finditer(low, 0, end)
    matches += sentence_reading.INVESTIGATION_OF.finditer(low, 0, end)
    for match in sorted([*matches, *looks], key=lambda match: match.start()):
        subject = sentence.resolve(match["target"], match.start())
        if not subject or subject == sentence.me or governed(low, match.start(), patterns) is None:
            continue
        result = patterns.result.search(low, match.end(), min(end, match.end() + 60))
        value = patterns.words.said(result, bool(result["negation"])) if result else ""
        yield _said(sentence, match.start(), (result or match).end(), subject, value)


def _my_investigation(sentence: Sentence, end: int, patterns: RolePatterns) -> int:
    """Where the words about the speaker's own investigation end; 0 if there are none."""
    match = sentence_reading.LOOKING.search(sentence.low) and sentence_reading.MY_INVESTIGATION.search(
        sentence.low, 0, end
    )
    if match and governed(sentence.low, match.start(), patterns) is not None:
        return match.end()
    named = sentence.low.find(f"{sentence.me}'s investigation", 0, end) if sentence.me else -1
    return named + 1 if named >= 0 else 0


def _pointed(sentence: Sentence, end: int, start: int, patterns: RolePatterns) -> Iterator[_Said]:
    """ "my investigation points to Bob"."""
    for match in sentence_reading.POINTS_TO.finditer(sentence.low, start, end):
        subject = sentence.resolve(match["target"], match.start())
        if subject and subject != sentence.me:
            yield _said(sentence, *match.span(), subject, patterns.words.evil)


def _promises(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Found]:
    for promise in patterns.words.promises:
        if promise.trigger not in sentence.low:
            continue
        for match in promise.words.finditer(sentence.low, 0, end):
            target = sentence.resolve(match["target"], match.start()) if match["target"] else ""
            if match["target"] and not target:
                continue
            conditional = sentence_reading.SUPPOSED.search(sentence.low, match.end(), match.end() + 60)
            if not conditional and governed(sentence.low, match.start(), patterns) is not None:
                yield promise.kind, _said(sentence, *match.span(), sentence.me, target)


def _protections(sentence: Sentence, end: int, patterns: RolePatterns) -> Iterator[_Found]:
    if not sentence_reading.PROTECTING.search(sentence.low):
        return
    for match in sentence_reading.PROTECTED.finditer(sentence.low, 0, end):
        target = sentence.resolve(match["target"], match.start())
        if target and governed(sentence.low, match.start(), patterns) is not None:
            yield "protection", _said(sentence, *match.span(), target, "")
