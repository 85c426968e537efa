"""The words for roles and teams in each game, as parts of patterns, and the values of claims made with them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from liescope.labeling.wording import NAME

NOT = "not "


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """One game's words. In the pattern parts, each value has a group with its name, or two ("mafia", "mafia2").

    groups: these names. roles: the words for roles, sides: for being with a team. inverted: "the werewolf is" before a
    subject, inverted_subject: which names may follow. nouns: what may belong to a player without saying what the player
    is. speakers: who may be reported without a name. trigger: what every text with a claim contains.
    evil: the value of those who kill at night. denials: what denying a value claims, if not "not VALUE". own: the
    value recorded when speakers claim a value about themselves. guilt, innocence: the values that make a
    claim about another player one of these kinds. protects: whether protections are claimed. seer: the role, or else an
    act of looking, that a speaker must claim for its findings to be an investigation's result; "" if all findings are.
    looked: how speakers say that they have looked at a player (the group target), if a game has special words for it.
    """

    groups: tuple[str, ...]
    roles: str
    sides: str
    inverted: str
    inverted_subject: str
    nouns: str
    speakers: str
    trigger: str
    evil: str
    guilt: frozenset[str]
    innocence: frozenset[str]
    denials: Mapping[str, str] = field(default_factory=dict)
    own: Mapping[str, str] = field(default_factory=dict)
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

    def is_result(self, value: str) -> bool:
        """Whether an investigation can result in this value."""
        return not value.startswith(NOT) or value == self.deny(self.evil)


# Pattern parts that the games share: what follows a role that does not describe a person ("a mafia tactic"), and
# words for being found innocent and guilty.
NOT_ONESELF = "tactic|move|play|kill|strateg|behavio|ploy|trap|hit|victim|target|activit|attack|hunt|trick"
MODIFIED = rf"(?! (?:{NOT_ONESELF})|-(?!al))"
CLEARED = (
    r"(?:clean|clear|cleared)(?! (?:about|on|that|in|how|why|to|from|enough|what|of|as|threat|choice|suspect|"
    r"target|sign|case)\b)"
)
GUILTY = rf"guilty(?! of)|evil|one behind|one who (?:killed|murdered)|responsible for {NAME}'s (?:death|murder)"
