"""The words of one-night werewolf: Werewolf's for the roles they share, and words for looking at cards; and how it is
told to a model: each seat's rules, and all it has seen as one memory.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from liescope.games.core import AskKind, Event, EventKind
from liescope.games.narration import (
    ASSESSED,
    CHOICE,
    RULES,
    SPEECH,
    PromptFamily,
    listing,
    remember,
    remembered,
    seated,
)
from liescope.games.one_night.rules import SEER, VILLAGER, VILLAGERS, WEREWOLF
from liescope.games.vocabulary import I_HAVE, NAME
from liescope.games.werewolf import words as werewolf

_VERBS = "looked at|peeked at|took a (?:look|peek) at|viewed|saw|flipped|turned over|checked|inspected"
_OF_A_CARD = rf"(?P<target>{NAME})(?:'s? (?:card|role|identity)|(?=[,.;:]| and | last night| in the night))"

WORDS = replace(
    werewolf.WORDS,
    evil=WEREWOLF,
    guilt=frozenset({WEREWOLF}),
    innocence=frozenset({VILLAGERS, VILLAGER}),
    denials={WEREWOLF: VILLAGERS, VILLAGERS: WEREWOLF},
    protects=False,
    seer=SEER,
    looked=rf"{I_HAVE} (?:{_VERBS}) {_OF_A_CARD}",
    trigger=f"{werewolf.WORDS.trigger}|look|peek|card|saw",
)


def _facts(setup: Event, seat: str) -> dict[str, Any]:
    data = setup.data
    return {
        **seated(setup, seat),
        "players": len(data["names"]),
        "centre": data["centre"],
        "rounds": data["rounds"],
        "seer": data["composition"].get("seer", 0) > 0,
    }


def _line(event: Event, seat: str) -> str | None:
    match event.kind:
        case EventKind.NIGHT:
            return "The night begins."
        case EventKind.DAY:
            return "The day begins."
        case EventKind.PARTNERS:
            others = [name for name in event.data["names"] if name != seat]
            if others:
                return f"The other werewol{'ves are' if len(others) > 1 else 'f is'} {listing(others)}."
            seen = event.data.get("seen")
            card = f" You looked at one card in the centre: {seen}." if seen else ""
            return f"No other player is a werewolf.{card}"
        case EventKind.EXILE:
            return f"{event.target} was exiled with {event.data['votes']} votes."
        case EventKind.NO_EXILE:
            return f"Nobody was exiled: no player got {event.data['needed']} votes."
        case _:
            return remember(event, seat)


PROMPTS = PromptFamily(
    Path(__file__).parent / "prompts",
    ("full",),
    {
        RULES: frozenset({"name", "others", "composition", "players", "centre", "rounds", "seer"}),
        AskKind.INVESTIGATE: CHOICE,
        AskKind.SPEAK: SPEECH,
        AskKind.VOTE: CHOICE,
        **ASSESSED,
    },
    frozenset({AskKind.NAME_ROLES}),
    _facts,
    partial(remembered, line=_line),
)
