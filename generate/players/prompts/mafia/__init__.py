"""The prompts of Mafia and Mini-Mafia."""

from __future__ import annotations

from typing import Any

from liescope.games.core import AskKind, Event
from liescope.generate.players.prompts import memory
from liescope.generate.players.prompts.family import ABOUT, CHOICE, FORM, RULES, Family
from liescope.generate.players.prompts.narration import counted, listing


def _facts(setup: Event, seat: str) -> dict[str, Any]:
    """Mafia's rules address each seat by its name."""
    return {
        "name": seat,
        "others": listing(name for name in setup.data["names"] if name != seat),
        "composition": counted(setup.data["composition"].items()),
        "rounds": setup.data["rounds"],
    }


FAMILY = Family(
    "mafia",
    ("full", "minimal"),
    {
        RULES: frozenset({"name", "others", "composition", "rounds"}),
        AskKind.SPEAK: frozenset({"name", "day", "round", "rounds", "limit"}),
        AskKind.VOTE: CHOICE,
        AskKind.KILL: CHOICE,
        AskKind.INVESTIGATE: CHOICE,
        AskKind.SELF_ASSESSMENT: frozenset({"name", "statement", "types"}),
        AskKind.PEER_ASSESSMENT: ABOUT | {"types"},
        AskKind.NAME_ROLES: FORM,
    },
    frozenset({AskKind.NAME_ROLES}),
    _facts,
    memory.narrate,
    {"name": "Alice", "others": "Bob and Charlie", "composition": "1 mafioso and 2 villagers", "rounds": 2},
)
