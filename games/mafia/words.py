"""The words of Mafia and Mini-Mafia, and how they are told to a model: a seat's rules, and its view as one memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from liescope.games.core import AskKind, Event
from liescope.games.narration import (
    ASSESSED,
    CHOICE,
    RULES,
    SPEECH,
    PromptFamily,
    remembered,
    seated,
)
from liescope.games.vocabulary import CLEARED, END, GUILTY, MODIFIED, NAME, Vocabulary

WORDS = Vocabulary(
    groups=("mafia", "mafia2", "detective", "villager", "town", "town2"),
    roles=rf"(?P<mafia>mafios[oi]s?|mafia(?: members?)?|mobsters?|killers?|murderers?|culprits?|impost[eo]r|traitor|"
    rf"bad guy|{GUILTY}){END}{MODIFIED}"
    rf"|(?P<detective>detectives?|cop){END}"
    rf"|(?P<villager>villagers?|civilians?){END}"
    rf"|(?P<town>innocents?(?! until)|town(?:ie|sperson|sfolk|speople|[- ]?aligned| member| player| side)?|"
    rf"{CLEARED}){END}{MODIFIED}",
    sides=r"(?:part of|an? (?:active )?(?:member|part) of|in|with|working (?:with|for)|on|one of|aligned with) "
    r"(?:the |our )?"
    r"(?:(?P<mafia2>mafia|mafiosos?)|(?P<town2>town|(?<=our )(?:side|team)))(?:'s)?(?: side| team)?(?!\w)",
    inverted=r"(?<!\w)the (?:real |only |actual )?(?:(?P<mafia>mafioso|mafia(?: member)?|killer|culprit|murderer)|"
    r"(?P<detective>detective)) (?:is|has to be)",
    inverted_subject=NAME,
    nouns="killer|murderer|detective|cop|villager|civilian|culprit|town",
    speakers="the detective",
    trigger="mafi|detective|villager|town|innocent|investigat|vot|kill|murder|guilt|finding|firmed|verified|"
    "our side|our team|clea[nr]|"
    "culprit|mobster|evil|"
    "traitor|impost|checked|one behind|responsible|bad guy",
    mentions="mafi|detective|villager|town|innocent|killer|murder|guilty|clea[nr]|culprit|mobster|evil|traitor|impost|"
    "one behind|one who|responsible|bad guy|our side|our team|cop|civilian",
    evil="mafia",
    guilt=frozenset({"mafia"}),
    innocence=frozenset({"town", "villager"}),
    denials={"mafia": "town", "town": "mafia"},
    own={"mafia": "mafioso"},
)


def _facts(setup: Event, seat: str) -> dict[str, Any]:
    return {**seated(setup, seat), "rounds": setup.data["rounds"]}


PROMPTS = PromptFamily(
    Path(__file__).parent / "prompts",
    ("full", "minimal"),
    {
        RULES: frozenset({"name", "others", "composition", "rounds"}),
        AskKind.SPEAK: SPEECH,
        AskKind.VOTE: CHOICE,
        AskKind.KILL: CHOICE,
        AskKind.INVESTIGATE: CHOICE,
        **ASSESSED,
    },
    frozenset({AskKind.NAME_ROLES}),
    _facts,
    remembered,
)
