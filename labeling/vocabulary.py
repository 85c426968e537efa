"""The words for roles and teams in each game, as parts of patterns, and what claims made with them are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from liescope.labeling.wording import NAME

NOT = "not "


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """One game's words. In the parts of patterns each value has a group of its name, or two ("mafia", "mafia2").

    groups: these names. roles: the words for roles, sides: for being with a team. inverted: "the werewolf is" before a
    subject, inverted_subject: which names may follow. nouns: what may belong to a player without saying what the player
    is. speakers: who may be reported without a name. trigger: what a text with a claim holds.
    evil: the value of those who kill at night. denials: what is claimed by denying a value, where that is not "not
    VALUE". own: how speakers' claims of a value about themselves are called. guilt, innocence: the values that make a
    claim about another one of these kinds. protects: whether protections are claimed. seer: the role, or else an act of
    looking, that a speaker must claim for what it found out to be an investigation's result; "" if all findings are.
    looked: how speakers say that they have looked at a player (the group target), where a game has words of its own.
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
        """The value that a match of a role pattern claims, or denies."""
        groups = match.groupdict()
        value = next(name for name in self.groups if groups.get(name)).rstrip("2")
        if re.search("fake|false", groups.get("adjectives") or ""):
            negated = not negated
        return self.deny(value) if negated else value

    def is_result(self, value: str) -> bool:
        """Whether an investigation may come to this value."""
        return not value.startswith(NOT) or value == self.deny(self.evil)


# Parts of patterns that the games share: what comes after a role that is not said of a person ("a mafia tactic"), and
# words for being found innocent and guilty.
NOT_ONESELF = "tactic|move|play|kill|strateg|behavio|ploy|trap|hit|victim|target|activit|attack|hunt|trick"
MODIFIED = rf"(?! (?:{NOT_ONESELF})|-(?!al))"
CLEARED = (
    r"(?:clean|clear|cleared)(?! (?:about|on|that|in|how|why|to|from|enough|what|of|as|threat|choice|suspect|"
    r"target|sign|case)\b)"
)
GUILTY = rf"guilty(?! of)|evil|one behind|one who (?:killed|murdered)|responsible for {NAME}'s (?:death|murder)"
