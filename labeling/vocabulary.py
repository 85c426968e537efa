"""The words for roles and teams in each game, as parts of patterns, and the values of claims made with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from liescope.games.core import EventKind
from liescope.labeling.wording import NAME, VOTE, VOTE_WITH

NOT = "not "


@dataclass(frozen=True, slots=True, eq=False)
class Promise:
    """A kind of promise: words that commit their speaker to an act. kind: its name; act: the event that keeps or breaks
    it; words: a pattern with the group target, which is left out if the words leave open whom the act is for; trigger:
    what all such words contain; follows: the promise is to choose whom the target will choose; days: how many days
    after the statement the act may come.
    """

    kind: str
    act: EventKind
    words: re.Pattern[str]
    trigger: str
    follows: bool = False
    days: int = 0


PROMISES = (
    Promise("vote", EventKind.VOTE, VOTE, "vot"),
    Promise("vote_with", EventKind.VOTE, VOTE_WITH, "vot", follows=True),
)


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """One game's words. In the pattern parts, each value has a group with its name, or two ("mafia", "mafia2").

    groups: these names. roles: the words for roles, sides: for being with a team. inverted: "the werewolf is" before a
    subject, inverted_subject: which names may follow. nouns: what may belong to a player without saying what the player
    is. speakers: who may be reported without a name. trigger: what every text with a claim contains; mentions: what
    every text contains in which roles, sides or inverted match. evil: the value of those who kill at night. denials:
    what denying a value claims, if not "not VALUE". own: the value recorded when speakers claim a value about
    themselves. guilt, innocence: the values that make a claim about another player one of these kinds; promises: what
    speakers may promise. protects: whether protections are claimed. seer: the role, or else an act of looking, that a
    speaker must claim for its findings to be an investigation's result; "" if all findings are. looked: how speakers
    say that they have looked at a player (the group target), if a game has special words for it.
    """

    groups: tuple[str, ...]
    roles: str
    sides: str
    inverted: str
    inverted_subject: str
    nouns: str
    speakers: str
    trigger: str
    mentions: str
    evil: str
    guilt: frozenset[str]
    innocence: frozenset[str]
    denials: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
    promises: tuple[Promise, ...] = PROMISES
    protects: bool = False
    seer: str = ""
    looked: str = ""

    def deny(self, value: str) -> str:
        """What denying a value claims."""
        return self.denials.get(value, f"{NOT}{value}")

    def said(self, match: re.Match[str], negated: bool) -> str:
        """The value claimed by a match of a role pattern, negated or not."""
        groups = match.groupdict()
        value = next(name for name in self.groups if groups.get(name)).rstrip("2")
        if re.search("fake|false", groups.get("adjectives") or ""):
            negated = not negated
        return self.deny(value) if negated else value

    def kind(self, value: str) -> str:
        """The kind of claim that gives another player this value. Denying guilt is a denial, not a claim of innocence,
        where it leaves open what the player is.
        """
        guilt, innocence = value in self.guilt, value in self.innocence
        if value.startswith(NOT):
            guilt, innocence = innocence, guilt
        return "guilt" if guilt else "innocence" if innocence else "role"

    def is_result(self, value: str) -> bool:
        """Whether an investigation can result in this value."""
        return not value.startswith(NOT) or value == self.deny(self.evil)


# Pattern parts that the games share: what follows a role that does not describe a person ("a mafia tactic"), and
# words for being found guilty.
NOT_ONESELF = "tactic|move|play|kill|strateg|behavio|ploy|trap|hit|victim|target|activit|attack|hunt|trick"
MODIFIED = rf"(?! (?:{NOT_ONESELF})|-(?!al))"
GUILTY = (
    rf"guilty(?! of)|evil|one behind|one who (?:killed|murdered)|(?:one )?responsible for {NAME}'s (?:death|murder)|"
    r"one responsible(?! for)"
)
