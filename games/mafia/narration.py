"""How Mafia and Mini-Mafia are told to a model: each seat's rules, and all it has seen as one memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liescope.games.core import AskKind, Event
from liescope.games.narration import (
    ASSESSED,
    CHOICE,
    RULES,
    SPEECH,
    Narration,
    PromptFamily,
    counted,
    listing,
    remember,
)


def _facts(setup: Event, seat: str) -> dict[str, Any]:
    """Mafia's rules address each seat by its name."""
    return {
        "name": seat,
        "others": listing(name for name in setup.data["names"] if name != seat),
        "composition": counted(setup.data["composition"].items()),
        "rounds": setup.data["rounds"],
    }


def memory(view: Sequence[Event], seat: str) -> list[str]:
    """The lines of a seat's memory. view: the events that the seat has seen."""
    return [line for event in view if (line := remember(event, seat)) is not None]


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
    lambda view, seat: Narration(tuple(memory(view, seat))),
    {"name": "Alice", "others": "Bob and Charlie", "composition": "1 mafioso and 2 villagers", "rounds": 2},
)
