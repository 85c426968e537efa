"""The words of Werewolf, with or without a jester."""

from __future__ import annotations

from liescope.games.vocabulary import CLEARED, END, GUILTY, NAME, NOT_ONESELF, Vocabulary
from liescope.games.werewolf.rules import SEER

# Words after which a role is a comparison: "a wolf tactic", "jester bait", "wolf-like".
_ONLY_LIKE = (
    rf"(?! (?:{NOT_ONESELF}|vote|voting|candidate|suspect|lean|read|vibe|energy|mode|bait|act|game|win|pattern|style|"
    r"type|territory|logic|talk|idiot|here or)|-(?!al|sid))"
)
_TEAM = "(?:side|team|pack|faction)"
_WOLF = "(?:were)?wol(?:f|ves)"

WORDS = Vocabulary(
    groups=("werewolf", "werewolf2", "jester", "doctor", "seer", "villager", "villager2", "villagers", "villagers2"),
    roles=rf"(?P<werewolf>{_WOLF}|killers?|murderers?|culprits?|impost[eo]r|bad guy|{GUILTY}){END}{_ONLY_LIKE}"
    rf"|(?P<jester>jesters?){END}{_ONLY_LIKE}"
    rf"|(?P<doctor>doctors?|doc|medic|healer){END}{_ONLY_LIKE}"
    rf"|(?P<seer>seers?){END}{_ONLY_LIKE}"
    r"|(?P<villagers>(?:villagers?|village|town)[- ]?(?:sided?|aligned|team|member|player)|village|"
    rf"innocents?(?! until)|good guy|town(?:ie|sperson|sfolk|speople)?|{CLEARED}){END}{_ONLY_LIKE}"
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
    trigger="wol[fv]|jester|doc|medic|healer|seer|villag|town|innocent|investigat|vot|kill|murder|guilt|finding|firmed|verified|clea[nr]|"
    "culprit|evil|impost|checked|one behind|responsible|bad guy|good guy|pack|protect|guard|shield|save|heal",
    mentions="wol[fv]|jester|doc|medic|healer|seer|villag|town|innocent|killer|murder|guilty|clea[nr]|culprit|evil|impost|"
    "one behind|one who|responsible|bad guy|good guy|pack|civilian",
    evil="werewolf",
    guilt=frozenset({"werewolf", "not villagers"}),
    innocence=frozenset({"villagers", "villager", "not werewolf"}),
    protects=True,
    seer=SEER,
)
