"""The prompts of Werewolf, with or without a jester."""

from __future__ import annotations

from typing import Any

from liescope.games.core import AskKind, Event
from liescope.generate.players.prompts import public_log
from liescope.generate.players.prompts.family import ABOUT, CHOICE, FORM, RULES, STRATEGY, TYPES, Family
from liescope.generate.players.prompts.narration import counted, listing


def _facts(setup: Event, _seat: str) -> dict[str, Any]:
    """Werewolf's rules are the same for all seats."""
    counts = setup.data["composition"]
    return {
        "names": listing(setup.data["names"]),
        "composition": counted(counts.items()),
        "roles": tuple(role for role, count in counts.items() if count),
        "werewolves": counts.get("werewolf", 0),
        "debate_turns": setup.data["debate_turns"],
        "defence_turns": setup.data["defence_turns"],
        "days": setup.data["days"],
        "types": TYPES,
    }


FAMILY = Family(
    "werewolf",
    ("full",),
    {
        RULES: frozenset(
            {"names", "composition", "roles", "werewolves", "debate_turns", "defence_turns", "days", "types"}
        ),
        STRATEGY: frozenset({"name", "role", "roles", "werewolves"}),
        AskKind.KILL: CHOICE | {"round"},
        AskKind.PROTECT: CHOICE,
        AskKind.INVESTIGATE: CHOICE,
        AskKind.BID: frozenset({"name", "day", "phase", "round", "rounds"}),
        AskKind.SPEAK: frozenset({"name", "day", "phase", "round", "rounds", "limit"}),
        AskKind.EXPLAINED_VOTE: CHOICE | {"limit"},
        AskKind.VOTE: CHOICE,
        AskKind.SELF_ASSESSMENT: frozenset({"name", "statement", "types"}),
        AskKind.PEER_ASSESSMENT: ABOUT | {"types"},
        AskKind.REFLECTION: frozenset({"name"}),
        AskKind.NAME_ROLES: FORM,
        AskKind.TAG_LESSON: frozenset({"statement", "categories", "orders"}),
    },
    frozenset({AskKind.NAME_ROLES, AskKind.TAG_LESSON}),
    _facts,
    public_log.narrate,
    {
        "names": "Alice, Bob and Charlie",
        "composition": "1 werewolf and 2 villagers",
        "role": "villager",
        "roles": ("villager", "werewolf", "jester"),
        "werewolves": 2,
        "debate_turns": 12,
        "defence_turns": 6,
        "days": 20,
        "types": TYPES,
    },
    frozenset({STRATEGY}),
    temperature=1.0,
)
