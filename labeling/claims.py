"""Claims in a statement that a game's log can check, found by rules.

What counts as a claim:
- Something said as a fact. An opinion ("I think", "probably", "must be"), a question, a condition ("if I were"), and
  what is reported of others ("Bob says he is the detective") or stands in quotation marks is none. Words of certainty
  ("I know", "I can confirm", "clearly") leave a fact a fact.
- About oneself it is a role claim, whatever it says: "I am the detective", "I'm innocent", "I'm not the mafioso".
  Speakers may name themselves ("Alice is innocent", said by Alice). About others it is guilt (mafia), innocence
  (town, villager) or a role (the detective, or that they lie about being it).
- "I investigated Bob", and what comes of it, is one investigation claim: the role that the statement gives Bob
  anywhere is its result and no second claim, even where it is put as an opinion ("based on my investigation, I
  believe Bob…"). "My investigation", "my findings" and "I found out that" count as well; "the investigation" may be
  anybody's and does not.
- A vote promise commits the speaker ("I'm voting for Bob"); a proposal ("let's vote for Bob") does not.
- A pronoun means the player named last in its sentence, else whom the sentence before was about; "you" is the player
  spoken to by name. Where that is unclear there is no claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from labeling import wording
from labeling.reading import Sentence, lower, mark_of, mask, sentences, unmask

_CACHED_LENGTH = 2000
_ROLE_GROUPS = ("mafia", "mafia2", "detective", "villager", "town", "town2")
_REACH = 200


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """kind: role, investigation, innocence, guilt or vote; subject: the player it is about (the speaker for a vote);
    value: "mafia", "town", a role, "not " and a role, "" for an investigation without a result, or the vote's target.
    What speakers say of themselves names the role: "mafioso" rather than "mafia". quote: the words it was read from.
    """

    kind: str
    subject: str
    value: str
    quote: str


@dataclass(slots=True)
class _Said:
    """What a clause says of a player. fact: not just an opinion; found: the speaker says to have found it out."""

    sentence: int
    start: int
    subject: str
    value: str
    quote: str
    fact: bool
    found: bool = False


def find_claims(text: str, speaker: str, names: Sequence[str]) -> tuple[FoundClaim, ...]:
    """The claims in a statement, in the order of its words, none twice. Any text and any names will do."""
    find = _cached if len(text) <= _CACHED_LENGTH else _find
    return find(text, speaker, tuple(names))


def _find(text: str, speaker: str, names: tuple[str, ...]) -> tuple[FoundClaim, ...]:
    if not wording.TRIGGER.search(lower(text)):
        return ()
    me = mark_of(speaker, names)
    said: list[_Said] = []
    checks: list[_Said] = []
    votes: list[_Said] = []
    own_results: set[int] = set()
    for sentence in sentences(mask(text, names), me):
        if not wording.TRIGGER.search(sentence.low):
            continue
        end = _declared(sentence)
        if not end:
            continue
        looked = list(_investigations(sentence, end))
        if looked:
            sentence.focus = looked[-1].subject
        about = list(_statements(sentence, end))
        if mine := _my_investigation(sentence, end):
            own_results.add(sentence.number)
            about += _pointed(sentence, end, mine)
        others = [fact.subject for fact in about if fact.subject != me]
        if others and not looked:
            sentence.focus = others[-1]
        said += about
        checks += looked
        votes += _votes(sentence, end)
    found = [*_investigated(said, checks, own_results, me), *_plain(said, me), *_promises(votes)]
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


def _investigated(said: list[_Said], checks: list[_Said], own_results: set[int], me: str) -> Iterator[_Found]:
    """Investigation claims. What they use up in `said` is taken out of it."""
    targets: dict[str, _Said] = {}
    for check in checks:
        targets.setdefault(check.subject, check)
    stated = any(fact.sentence in own_results and fact.subject != me for fact in said)
    for fact in said:
        if fact.subject == me or fact.value.startswith("not "):
            continue
        reported = not checks and (fact.sentence in own_results or (fact.fact and bool(own_results) and not stated))
        if fact.found or reported:
            targets.setdefault(fact.subject, fact)
    results: dict[str, _Said] = {}
    for fact in said:
        if fact.subject in targets and not fact.value.startswith("not "):
            check = targets[fact.subject]
            if fact.fact or fact.sentence == check.sentence or fact.sentence in own_results:
                results.setdefault(fact.subject, fact)
    said[:] = [fact for fact in said if fact.subject not in targets or fact.value.startswith("not ")]
    for subject, check in targets.items():
        result = results.get(subject, check)
        quote = check.quote if result.quote in check.quote else f"{check.quote} … {result.quote}"
        yield (
            check.sentence,
            check.start,
            "investigation",
            _Said(check.sentence, check.start, subject, result.value, quote, fact=True),
        )


def _plain(said: list[_Said], me: str) -> Iterator[_Found]:
    for fact in said:
        if not fact.fact:
            continue
        if fact.subject == me:
            fact.value = "mafioso" if fact.value == "mafia" else fact.value
            kind = "role"
        elif fact.value == "mafia":
            kind = "guilt"
        else:
            kind = "innocence" if fact.value in ("town", "villager") else "role"
        yield fact.sentence, fact.start, kind, fact


def _promises(votes: list[_Said]) -> Iterator[_Found]:
    for vote in votes:
        yield vote.sentence, vote.start, "vote", vote


# What governs a clause: a condition, a report, an opinion, a finding of one's own


def _declared(sentence: Sentence) -> int:
    """Up to where the sentence states rather than asks."""
    if not sentence.asks:
        return len(sentence.low)
    question = wording.QUESTION.search(sentence.low)
    return question.start() if question else 0


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match ends, -1 without one."""
    end = -1
    for match in pattern.finditer(text):
        end = match.end()
    return end


def _governed(low: str, start: int) -> tuple[bool, bool] | None:
    """(fact, found by the speaker) for what begins at `start`; None where the speaker does not say it at all."""
    before = low[max(0, start - _REACH) : start]
    if wording.BEFORE.search(before):
        return None
    before = before[max(0, _last_end(wording.BREAK, before)) :]
    if wording.SUPPOSED.search(before):
        return None
    ahead = low[start : start + 5]  # what some clause boundaries look at
    clause = before[min(len(before), max(0, _last_end(wording.CLAUSE, before + ahead))) :]
    own = _last_end(wording.OWN_FINDING, clause)
    if _last_end(wording.OTHERS_SAY, clause) > own:
        return None
    fact = _last_end(wording.OPINION, clause) <= own
    return fact, fact and own >= 0 and wording.ENDS_FINDING.search(clause) is not None


def _value(match: re.Match[str], negated: bool) -> str:
    """The team or role that a match of a role pattern says, or denies."""
    groups = match.groupdict()
    role = next(name for name in _ROLE_GROUPS if groups.get(name))
    role = role.rstrip("2")
    if re.search("fake|false", groups.get("adjectives") or ""):
        negated = not negated
    if not negated:
        return role
    return {"mafia": "town", "town": "mafia"}.get(role, f"not {role}")


# The forms that statements about players take


def _statements(sentence: Sentence, end: int) -> Iterator[_Said]:
    low = sentence.low
    for match in wording.IS.finditer(low, 0, end):
        if wording.POSSESSIVE.match(match[0]):
            continue
        yield from _predicate(sentence, match, _value(match, _negated(match)))
    if " about" in low or "pretend" in low or "fals" in low or "posing" in low or "faking" in low or "imperson" in low:
        for match in wording.PRETENDING.finditer(low, 0, end):
            yield from _predicate(sentence, match, _value(match, not _negated(match)))
    if "kill" in low or "murder" in low:
        for match in wording.KILLED.finditer(low, 0, end):
            denied = re.search("n't|not|never", match["aux"]) is not None
            if denied or match["verb"].endswith("ed"):
                yield from _predicate(sentence, match, "town" if denied else "mafia")
    for pattern in (wording.INVERTED, wording.APPOSED):
        for match in pattern.finditer(low, 0, end):
            yield from _predicate(sentence, match, _value(match, _negated(match)))
    for match in wording.FOUND_TO_BE.finditer(low, 0, end):
        yield from _found_out(sentence, match)
    yield from _about_oneself(sentence, end)


def _negated(match: re.Match[str]) -> bool:
    groups = match.groupdict()
    return bool(groups.get("negation")) != (" not" in (groups.get("adverbs") or ""))


def _predicate(sentence: Sentence, match: re.Match[str], value: str) -> Iterator[_Said]:
    low, start, end = sentence.low, match.start(), match.end()
    governed = _governed(low, start)
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


def _found_out(sentence: Sentence, match: re.Match[str]) -> Iterator[_Said]:
    """A verb of finding: the speaker found "her to be the mafioso", or an investigation of the speaker's did."""
    low, target = sentence.low, match.start("target")
    governed = _governed(low, target)
    subject = sentence.resolve(match["target"], match.start())
    if governed is None or not subject or subject == sentence.me:
        return
    before = low[max(0, target - _REACH) : target]
    mine = _last_end(wording.OWN_FINDING, before) >= 0 or _own_subject(before)
    if mine or wording.MY_INVESTIGATION.search(before):
        value = _value(match, bool(match["negation"] or match["negation2"]))
        yield _Said(
            sentence.number, match.start(), subject, value, sentence.words[match.start() : match.end()], True, mine
        )


def _about_oneself(sentence: Sentence, end: int) -> Iterator[_Said]:
    low = sentence.low
    matches = [match for match in wording.NAMED.finditer(low, 0, end) if sentence.me and sentence.me in match[0]]
    matches += wording.CLAIMING.finditer(low, 0, end)
    matches += [
        match
        for match in wording.AS_ROLE.finditer(low, 0, end)
        if match["own"] or wording.AS_OWN.match(low, match.end())
    ]
    for match in matches:
        if _governed(low, match.start()) is not None:
            quote = sentence.words[match.start() : match.end()]
            yield _Said(sentence.number, match.start(), sentence.me, _value(match, False), quote, fact=True)


# Investigations and votes


def _own_subject(before: str) -> bool:
    """Whether the last subject before a verb without one is the speaker."""
    subjects = wording.LAST_SUBJECT.findall(before)
    return bool(subjects) and subjects[-1] == "i"


def _investigations(sentence: Sentence, end: int) -> Iterator[_Said]:
    low = sentence.low
    if not wording.INVESTIGATING.search(low):
        return
    matches = list(wording.INVESTIGATED.finditer(low, 0, end))
    matches = [m for m in matches if not m["elided"] or _own_subject(low[max(0, m.start() - _REACH) : m.start()])]
    matches += wording.ONE_INVESTIGATED.finditer(low, 0, end)
    matches += wording.INVESTIGATION_OF.finditer(low, 0, end)
    for match in sorted(matches, key=lambda match: match.start()):
        subject = sentence.resolve(match["target"], match.start())
        if not subject or subject == sentence.me or _governed(low, match.start()) is None:
            continue
        result = wording.RESULT.search(low, match.end(), min(end, match.end() + 60))
        value = _value(result, bool(result["negation"])) if result else ""
        quote = sentence.words[match.start() : match.end()]
        yield _Said(sentence.number, match.start(), subject, value, quote, fact=True)


def _my_investigation(sentence: Sentence, end: int) -> int:
    """Where the speaker speaks of an investigation of its own: the end of these words, 0 without."""
    match = wording.MY_INVESTIGATION.search(sentence.low, 0, end)
    return match.end() if match and _governed(sentence.low, match.start()) is not None else 0


def _pointed(sentence: Sentence, end: int, start: int) -> Iterator[_Said]:
    """ "my investigation points to Bob"."""
    for match in wording.POINTS_TO.finditer(sentence.low, start, end):
        subject = sentence.resolve(match["target"], match.start())
        if subject and subject != sentence.me:
            yield _Said(
                sentence.number, match.start(), subject, "mafia", sentence.words[match.start() : match.end()], True
            )


def _votes(sentence: Sentence, end: int) -> Iterator[_Said]:
    if "vot" not in sentence.low:
        return
    for match in wording.VOTE.finditer(sentence.low, 0, end):
        target = sentence.resolve(match["target"], match.start())
        conditional = wording.SUPPOSED.search(sentence.low, match.end(), match.end() + 60)
        if target and not conditional and _governed(sentence.low, match.start()) is not None:
            quote = sentence.words[match.start() : match.end()]
            yield _Said(sentence.number, match.start(), sentence.me, target, quote, fact=True)
