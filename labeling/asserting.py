"""What governs the words of a claim: a question, a condition, a report, an opinion, the speaker's own finding."""

from __future__ import annotations

import re

from liescope.labeling import wording
from liescope.labeling.reading import Sentence
from liescope.labeling.role_patterns import RolePatterns

REACH = 200  # characters before the words that are read


def declared(sentence: Sentence) -> int:
    """The position up to which a sentence states rather than asks."""
    if not sentence.asks:
        return len(sentence.low)
    question = wording.QUESTION.search(sentence.low)
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
    if wording.BEFORE.search(before):
        return None
    before = before[max(0, last_end(wording.BREAK, before)) :]
    if low.startswith(("i ", "i'm"), start) and wording.WOULD_KNOW.search(before):
        return None if wording.OWN_CONDITION.search(before) else (True, False)
    if wording.SUPPOSED.search(before):
        return None
    ahead = low[start : start + 5]  # what some clause boundaries look at
    clause = before[min(len(before), max(0, last_end(wording.CLAUSE, before + ahead))) :]
    own = last_end(wording.OWN_FINDING, clause)
    if last_end(patterns.others_say, clause) > own:
        return None
    theory = wording.REASON.search(before) and wording.OWN_THEORY.search(before)  # "I think he lies as he is mafia"
    fact = last_end(wording.OPINION, clause) <= own and not theory
    return fact, fact and own >= 0 and wording.ENDS_FINDING.search(clause) is not None


def own_subject(sentence: Sentence, position: int) -> bool:
    """Whether the last subject before a verb without one is the speaker."""
    subjects = wording.LAST_SUBJECT.findall(sentence.low[max(0, position - REACH) : position])
    return bool(subjects) and subjects[-1] in ("i", sentence.me)
