"""Whom a statement accuses, as a fact or as an opinion: a broader notion than the ledger's claims.

A statement accuses another player if it
- says or supposes that the player is on the side of those who kill ("Bob is the mafioso", "I think it must be Bob");
- says that the speaker suspects, accuses or does not trust the player, or that suspicion points there;
- calls the player or what the player says suspicious, evasive, a liar, trying to mislead and the like;
- asks for a vote against the player, or for the player's exile.
Questions, conditions, denials and what others are said to think do not count, nor do calls to look at or to question
somebody. Pronouns mean what they mean for claims (`liescope.labeling.sentence_reading`).

It also holds what qualifies the words of a claim: a question, a condition, a report, an opinion, the speaker's own
finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from liescope.games.vocabulary import NAME, NO_NAME_WORD
from liescope.labeling import sentence_reading
from liescope.labeling.masking import MaskedText, mark_of, name_of
from liescope.labeling.role_patterns import RolePatterns, role_patterns
from liescope.labeling.sentence_reading import ADVERB, SHOWN, Sentence, sentences

REACH = 200  # characters read before the words


def declared(sentence: Sentence) -> int:
    """Where a sentence stops stating and starts asking."""
    if not sentence.asks:
        return len(sentence.low)
    question = sentence_reading.QUESTION.search(sentence.low)
    return question.start() if question else 0


def last_end(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match ends, or -1 if there is none."""
    end = -1
    for match in pattern.finditer(text):
        end = match.end()
    return end


def governed(low: str, start: int, patterns: RolePatterns) -> tuple[bool, bool] | None:
    """(fact, found by the speaker) for the words that begin at `start`; None if the speaker is not asserting them."""
    before = low[max(0, start - REACH) : start]
    if sentence_reading.BEFORE.search(before):
        return None
    before = before[max(0, last_end(sentence_reading.BREAK, before)) :]
    if low.startswith(("i ", "i'm"), start) and sentence_reading.WOULD_KNOW.search(before):
        return None if sentence_reading.OWN_CONDITION.search(before) else (True, False)
    if sentence_reading.SUPPOSED.search(before):
        return None
    ahead = low[start : start + 5]  # what marks some clause boundaries
    clause = before[min(len(before), max(0, last_end(sentence_reading.CLAUSE, before + ahead))) :]
    own = last_end(sentence_reading.OWN_FINDING, clause)
    if last_end(patterns.others_say, clause) > own:
        return None
    theory = sentence_reading.REASON.search(before) and sentence_reading.OWN_THEORY.search(
        before
    )  # "I think he lies as he is mafia"
    fact = last_end(sentence_reading.OPINION, clause) <= own and not theory
    return fact, fact and own >= 0 and sentence_reading.ENDS_FINDING.search(clause) is not None


def own_subject(sentence: Sentence, position: int) -> bool:
    """For a verb without a subject: whether the last subject before it is the speaker."""
    subjects = sentence_reading.LAST_SUBJECT.findall(sentence.low[max(0, position - REACH) : position])
    return bool(subjects) and subjects[-1] in ("i", sentence.me)


_WHO = rf"(?P<who>{NAME}|{NO_NAME_WORD}(?:you|he|she|they|him|her|them))(?!\w)"
_WHOSE = rf"{NO_NAME_WORD}(?P<who>your|his|her|their)"
_IS = r"(?:'s|'re| is| are| was| were|'s been| has been| have been)"
_SEEMS = (
    r" (?:seems?|seemed|looks?|looked|sounds?|sounded|feels?|appears?|acts?|acted|(?:must|might|may|could|has to) be)"
)
_NOT = r"(?P<negation>n't| not| never)?"
_VERY = (
    r"(?: (?:to be|like|a bit|a little|very|really|quite|so|too|highly|more|pretty|rather|extremely|overly|just|acting|"
    r"behaving|being|the most|the|my|our|most|a|an|prime|main|top|only|real|even|increasingly|trying|"
    r"clearly|attempt|tactic|ploy|move|bold|but)){0,4}"
)
_TRAIT = (  # "lying", "a desperate attempt to shift blame", "suspiciously convenient"
    r"(?:suspicious(?:ly)?|suspect|guilty|sketchy|shady|fishy|evasive|defensive|deflecting|lying|liar|dishonest|"
    r"deceptive|hiding|dodging|manipulat(?:ing|ive)|bluffing|framing|desperate|scrambling|untrustworthy|"
    r"fabricat(?:ing|ed)|to (?:frame|deflect|distract|mislead|shift|divert|deceive|manipulate|cover|confuse|"
    r"save (?:him|her|your|them)sel\w+))"
)
_RAISING = (
    rf"(?P<who>{NAME}|{NO_NAME_WORD}(?:your|his|her|their))(?:'s?)?(?: \w+){{1,6}}? "
    r"(?:raise|raises|raised|raising|adds? to)"
    r"(?: \w+){0,2} (?:suspicions?|red flags?|doubts?|questions|concerns?)(?! (?:about|of|over) )"
)
_TRUST = (
    rf"{NO_NAME_WORD}(?:(?:suspect|accuse|distrust|blame)|(?:suspect|accus|distrust|blam)ing|"
    rf"(?:don't|do not|can't|cannot|not) trust)(?: that)? {_WHO}"
    r"(?!'s (?:claim|word|investigation|result|suspicion|accusation))"
)
_POINTING = (
    r"(?<!\w)(?:suspicions?|suspicious|finger|fingers|evidence|everything|doubts|(?:my|our) votes?)"
    r"(?: (?:is|are|was|falls?|goes|of|about|on|at|toward|towards|against|regarding|still|now|remains?|lies?|lie|"
    rf"points?|pointing|strongly|directly|all|clearly|for|to|with)){{1,4}} {_WHO}"
)
_VOTING = (
    r"(?<!\w)(?:vot(?:e|ing)(?: for| against| out| off| to \w+)?|get(?:ting)? rid of|"
    r"(?:to|must|should|let's|will|and|now|gotta|can|for) (?:eliminate|arrest|lynch|exile|remove|banish|execute|"
    r"vote to \w+)|(?:for|by|on) (?:eliminating|arresting|exiling|lynching)|"
    rf"(?:eliminating|arresting|lynching)) {_WHO}(?!'s)"
)
_AGAINST_IT = re.compile(
    r"(?:n't|not|never|without|against|instead of|rather than|rush(?:ing)? to|why|before|avoid|hesitat\w*|hasty|"
    r"mistake to|wrong to)(?: \w+){0,3} $"
)
_OTHERS_WISH = re.compile(
    rf"(?:{NAME}|{NO_NAME_WORD}(?:you|he|she|they))(?:'s|'re| is| are| has| have|'ve)?(?: \w+){{0,2}} "
    r"(?:want|push|urg|try|rush|ask|tell|call|suggest|say|said|claim|accus|insist|vot|decid|suspect)\w*"
    r"[^.,;]{0,30}$"
)
_VERBS = re.compile(r"(?<!\w)(?:(?:could|should|must|might|may|am|is|are|will|would|can|do|to|be|now|all|also) )+$")
_PERSON = {"your": "you", "his": "him", "her": "her", "their": "them"}
_REACH = 60


@dataclass(frozen=True, slots=True)
class _Ways:
    """The patterns of one game. evil: being on the side of the killers; others: the rest."""

    evil: tuple[re.Pattern[str], ...]
    others: tuple[re.Pattern[str], ...]
    roles: RolePatterns


def accused(text: str, speaker: str, names: Sequence[str], game: str) -> frozenset[str]:
    """The other players whom a statement accuses. Any text and any names are accepted.

    game: the name of the rules, whose words for roles are looked for. Raises UndeclaredGame if it has no vocabulary.
    """
    return _accused(text, speaker, tuple(names), game)


@lru_cache(maxsize=2**16)  # cached, because several analyses read the same statements
def _accused(text: str, speaker: str, names: tuple[str, ...], game: str) -> frozenset[str]:
    ways = _ways(game)
    me = mark_of(speaker, names)
    masked = MaskedText(text, names, speaker)
    found = {who for sentence in sentences(masked.text, me) for who in _in_sentence(sentence, ways)}
    return frozenset(name_of(mark, names) for mark in found - {"", me})


def _in_sentence(sentence: Sentence, ways: _Ways) -> Iterator[str]:
    low, end = sentence.low, declared(sentence)
    for pattern in (*ways.evil, *ways.others):
        for match in pattern.finditer(low, 0, end):
            groups = match.groupdict()
            if pattern in ways.evil:
                negated = bool(groups.get("negation"))
                if ways.roles.words.said(match, negated) not in ways.roles.words.guilt:
                    continue
            elif groups.get("negation"):
                continue
            before = low[max(0, match.start() - _REACH) : match.start()]
            if _AGAINST_IT.search(before) or _OTHERS_WISH.search(before):
                continue
            verbs = _VERBS.search(low, 0, match.start()) if pattern in ways.others else None
            if governed(low, verbs.start() if verbs else match.start(), ways.roles) is not None:
                yield sentence.resolve(_PERSON.get(match["who"], match["who"]), match.start("who"))


@lru_cache(maxsize=16)
def _ways(game: str) -> _Ways:
    roles = role_patterns(game)
    role = rf"(?:{roles.words.sides}| ?(?:(?:the|a|an|our|real|actual|true|likely) ){{0,3}}(?:{roles.words.roles}))"
    inverted = roles.words.inverted.replace(" (?:is|", " (?:must be|might be|could be|may be|is|")
    traits = rf"(?:{_IS}|{_SEEMS}){_NOT}{ADVERB}{_VERY} {_TRAIT}(?!\w)"
    return _Ways(
        evil=(
            re.compile(
                rf"{_WHO}(?:{_IS}|{_SEEMS}| as| to be| being| of being){_NOT}{ADVERB}{SHOWN}(?: to be| like)? {role}"
            ),
            re.compile(rf"{inverted}{_NOT}{ADVERB} {_WHO}(?!'s)"),
        ),
        others=(
            re.compile(rf"{_WHO}(?:'s?(?: \w+){{1,6}}?)?{traits}"),
            re.compile(rf"{_WHOSE}(?: \w+){{1,6}}?{traits}"),
            re.compile(_RAISING),
            re.compile(_TRUST),
            re.compile(_POINTING),
            re.compile(_VOTING),
        ),
        roles=roles,
    )
