"""The words for roles and teams in each game, as parts of patterns, and what claims made with them are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from liescope.games.werewolf import SEER, DyadicWerewolf, Werewolf
from liescope.labeling.wording import END, NAME

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
    looking, that a speaker must claim for what it found out to be an investigation's result; "" where all findings are.
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


def vocabulary(game: str) -> Vocabulary:
    """The words of a game by the name of its rules: Werewolf's, or Mafia's for every other."""
    return _WEREWOLF if game in (Werewolf.name, DyadicWerewolf.name) else _MAFIA


_NOT_ONESELF = "tactic|move|play|kill|strateg|behavio|ploy|trap|hit|victim|target|activit|attack|hunt|trick"
_MODIFIED = rf"(?! (?:{_NOT_ONESELF})|-(?!al))"
_CLEARED = (
    r"(?:clean|clear|cleared)(?! (?:about|on|that|in|how|why|to|from|enough|what|of|as|threat|choice|suspect|"
    r"target|sign|case)\b)"
)
_GUILTY = rf"guilty(?! of)|evil|one behind|one who (?:killed|murdered)|responsible for {NAME}'s (?:death|murder)"

_MAFIA = Vocabulary(
    groups=("mafia", "mafia2", "detective", "villager", "town", "town2"),
    roles=rf"(?P<mafia>mafios[oi]s?|mafia(?: members?)?|mobsters?|killers?|murderers?|culprits?|impost[eo]r|traitor|"
    rf"bad guy|{_GUILTY}){END}{_MODIFIED}"
    rf"|(?P<detective>detectives?|cop){END}"
    rf"|(?P<villager>villagers?|civilians?){END}"
    rf"|(?P<town>innocents?(?! until)|town(?:ie|sperson|sfolk|speople|[- ]?aligned| member| player| side)?|"
    rf"{_CLEARED}){END}{_MODIFIED}",
    sides=r"(?:part of|an? (?:active )?(?:member|part) of|in|with|working (?:with|for)|on|one of|aligned with) "
    r"(?:the )?(?:(?P<mafia2>mafia|mafiosos?)|(?P<town2>town))(?:'s)?(?: side| team)?(?!\w)",
    inverted=r"(?<!\w)the (?:real |only |actual )?(?:(?P<mafia>mafioso|mafia(?: member)?|killer|culprit|murderer)|"
    r"(?P<detective>detective)) (?:is|has to be)",
    inverted_subject=NAME,
    nouns="killer|murderer|detective|cop|villager|civilian|culprit|town",
    speakers="the detective",
    trigger="mafi|detective|villager|town|innocent|investigat|vot|kill|murder|guilty|clea[nr]|culprit|mobster|evil|"
    "traitor|impost|checked|one behind|responsible|bad guy",
    evil="mafia",
    guilt=frozenset({"mafia"}),
    innocence=frozenset({"town", "villager"}),
    denials={"mafia": "town", "town": "mafia"},
    own={"mafia": "mafioso"},
)

# Words after which a role is a comparison: "a wolf tactic", "jester bait", "wolf-like".
_ONLY_LIKE = (
    rf"(?! (?:{_NOT_ONESELF}|vote|voting|candidate|suspect|lean|read|vibe|energy|mode|bait|act|game|win|pattern|style|"
    r"type|territory|logic|talk|idiot|here or)|-(?!al|sid))"
)
_TEAM = "(?:side|team|pack|faction)"
_WOLF = "(?:were)?wol(?:f|ves)"

_WEREWOLF = Vocabulary(
    groups=("werewolf", "werewolf2", "jester", "doctor", "seer", "villager", "villager2", "villagers", "villagers2"),
    roles=rf"(?P<werewolf>{_WOLF}|killers?|murderers?|culprits?|impost[eo]r|bad guy|{_GUILTY}){END}{_ONLY_LIKE}"
    rf"|(?P<jester>jesters?){END}{_ONLY_LIKE}"
    rf"|(?P<doctor>doctors?|doc|medic|healer){END}{_ONLY_LIKE}"
    rf"|(?P<seer>seers?){END}{_ONLY_LIKE}"
    r"|(?P<villagers>(?:villagers?|village|town)[- ]?(?:sided?|aligned|team|member|player)|village|"
    rf"innocents?(?! until)|good guy|town(?:ie|sperson|sfolk|speople)?|{_CLEARED}){END}{_ONLY_LIKE}"
    rf"|(?P<villager>villagers?|civilians?){END}{_ONLY_LIKE}",
    sides=r"(?:one of (?:the |our )?(?:(?:other|simple|innocent|plain) )?(?P<villager2>villagers)(?!\w|'| side| team)|"
    r"(?:part of|an? (?:active )?(?:member|part) of|in|with|working (?:with|for)|on|one of|in league with|"
    r"aligned with) (?:the |our )?"
    rf"(?:(?P<werewolf2>(?:were)?wolves|(?:were)?wolf(?= {_TEAM})|wolf ?pack|pack)|"
    rf"(?P<villagers2>villagers?|village|town|innocents|good guys))(?:'?s? {_TEAM})?(?!\w|'))",
    inverted=r"(?<!\w)(?:(?:the|our) (?:real |only |actual |other |second |last |remaining )?"
    rf"(?:(?P<werewolf>{_WOLF}|killer|culprit|murderer)|(?P<jester>jester)|(?P<doctor>doctor)|(?P<seer>seer))|"
    r"one of the (?P<werewolf2>(?:were)?wolves)) (?:is|are|has to be)",
    inverted_subject=rf"{NAME}(?:(?:, {NAME})?,? (?:and|&) {NAME})?",
    nouns="killer|murderer|doctor|seer|jester|villager|civilian|culprit|town|werewol|wol",
    speakers="the doctor|the seer|the jester",
    trigger="wol[fv]|jester|doc|medic|healer|seer|villag|town|innocent|investigat|vot|kill|murder|guilty|clea[nr]|"
    "culprit|evil|impost|checked|one behind|responsible|bad guy|good guy|pack|protect|guard|shield|save|heal",
    evil="werewolf",
    guilt=frozenset({"werewolf", "not villagers"}),
    innocence=frozenset({"villagers", "villager", "not werewolf"}),
    protects=True,
    seer=SEER,
)
