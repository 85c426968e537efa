"""Why a score is what it is: the words and claims that weigh most in it, in words for people."""

from __future__ import annotations

import re
from dataclasses import dataclass

from liescope.detectors.view.candidate import CLAIMS
from liescope.detectors.view.claim_graph import LATE

_RELATION = re.compile(
    r"(?P<side>self|says|about|now):(?P<kind>[^=<>*]+)(?:=(?P<value>[^<>*]+))?(?P<tie>[<>]\w+)?(?:\*(?P<count>\d+))?"
)
_ONE = "somebody"
_TIES = {
    "<seer": "somebody who claims to be the seer",
    "<accused": "somebody whom it accused",
    ">seer": "somebody who claims to be the seer",
    ">accuser": "somebody who accused it",
}
_SAID = {
    ("investigation", True): "reports {whom} as {value}",
    ("investigation", False): "speaks of having investigated {whom}",
    ("guilt", True): "calls {whom} {value}",
    ("innocence", True): "calls {whom} {value}",
    ("role", True): "says that {whom} is {value}",
    ("vote", False): "means to vote for {whom}",
    ("voted", False): "voted for {whom}",
}
_WHOLE = {
    "seer:alone": "it alone claims to be the seer",
    "seer:first": "it was the first to claim to be the seer",
    "seer:later": "it claims to be the seer after somebody else did",
    "no seer": "nobody claims to be the seer",
    "seers": "others claim to be the seer: {}",
    "no accusation": "nobody accuses anybody",
    "accuses:mutual": "it and another accuse each other",
    "accuses:alone": "it accuses somebody who does not accuse it",
    "others accuse each other": "others accuse each other",
    "first accusation:by": "it was the first to accuse",
    "first accusation:of": "it was the first to be accused",
    "first accusation:other": "the first accusation was between others",
    "accused by": "players who accuse it: {}",
    "accuses": "players whom it accuses: {}",
    "spoke": "times it spoke: {}",
    "spoke first": "it spoke first",
    "talks:less": "it speaks less often than the others",
    "talks:usual": "it speaks about as often as the others",
    "talks:more": "it speaks more often than the others",
    "statements:less": "its statements are shorter than is usual at the table",
    "statements:usual": "its statements are about as long as is usual at the table",
    "statements:more": "its statements are longer than is usual at the table",
    "answer": "it answers somebody",
    "more": "it goes on after words of its own",
    "opening": "it opens the conversation",
    "question": "it asks a question",
    "silent": "it was silent",
    "killed": "it was killed",
    "exiled": "it was voted out",
}
_MANY = "3"  # where the claim graph stops counting
_SIZES = {"length": "words of the statement: {}", "talked": "statements before it in its conversation: {}"}


@dataclass(frozen=True, slots=True)
class Reason:
    """What speaks for or against a statement or a candidate. field: where it stands; feature: the words or the claim;
    weight: what it adds to the log-odds of deception, against the mean of the table where there is one.
    """

    field: str
    feature: str
    weight: float

    def __str__(self) -> str:
        """As in `own: investigated him (+0.31)`."""
        words = claim_in_words(self.feature) if self.field == CLAIMS else self.feature
        return f"{self.field}: {words} ({self.weight:+.2f})"


def claim_in_words(relation: str) -> str:
    """A relation of the claim graph as a sentence, in which "it" is the player; unchanged if it is of another form."""
    if (whole := _WHOLE.get(relation)) is not None:
        return whole
    start, _, count = relation.rpartition(":")
    if "{}" in _WHOLE.get(start, ""):
        return _WHOLE[start].format(_counted(count))
    if start in _SIZES:
        return _SIZES[start].format(_sized(int(count)))
    if start == "day":
        return f"it is day {count}{' or later' if count == str(LATE) else ''}"
    found = _RELATION.fullmatch(relation)
    if not found:
        return relation
    side, tie = found["side"], _TIES.get(found["tie"] or "", _ONE)
    who, whom = {"self": ("it", "itself"), "says": ("it", tie), "about": (tie, "it"), "now": ("here it", tie)}[side]
    value = {"seer": "the seer"}.get(found["value"] or "", found["value"] or "")
    plain = "has to do with {whom}: " + found["kind"] + (f" {value}" if value else "")
    sentence = f"{who} {_SAID.get((found['kind'], bool(value)), plain).format(whom=whom, value=value)}"
    return f"{sentence} (by {_counted(found['count'])})" if found["count"] else sentence


def _sized(digits: int) -> str:
    """The numbers with so many binary digits."""
    return f"{2 ** (digits - 1)} to {2**digits - 1}" if digits > 1 else str(digits)


def _counted(number: str) -> str:
    return f"{number} or more" if number == _MANY else number
