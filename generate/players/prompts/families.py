"""The families of games that share their templates: which files a set has, and what these may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liescope.games.core import AskKind, Event
from liescope.generate.players.prompts import memory, public_log
from liescope.generate.players.prompts.narration import Narration, counted, listing
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS
from liescope.labeling.taxonomy import DeceptionType

RULES = "rules"
TYPES = tuple((kind.value, kind.definition) for kind in DeceptionType)
FIXED: dict[str, Any] = {
    "types": TYPES,
    "categories": tuple(CATEGORIES.items()),
    "orders": tuple(ORDERS.items()),
}  # variables that are the same for every question


@dataclass(frozen=True, slots=True)
class Family:
    """name: of its folder; sets: the sets there; variables: of each template, which is the file of that name with
    ".jinja"; judges: templates that only judging needs; facts: the rules' variables from the SETUP event and the seat;
    tell: what a seat's view becomes.
    """

    name: str
    sets: tuple[str, ...]
    variables: Mapping[str, frozenset[str]]
    judges: frozenset[str]
    facts: Callable[[Event, str], dict[str, Any]]
    tell: Callable[[Sequence[Event], str], Narration]


def family_of(game: str) -> Family:
    """The family of a game's name."""
    return WEREWOLF if "werewolf" in game else MAFIA


def _mafia_facts(setup: Event, seat: str) -> dict[str, Any]:
    """Mafia's rules are told to each seat by name."""
    return {
        "name": seat,
        "others": listing(name for name in setup.data["names"] if name != seat),
        "composition": counted(setup.data["composition"].items()),
        "rounds": setup.data["rounds"],
    }


def _werewolf_facts(setup: Event, _seat: str) -> dict[str, Any]:
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


_CHOICE = frozenset({"name", "day", "options"})
_ABOUT = frozenset({"name", "speaker", "statement"})
_FORM = frozenset({"name", "options"})

MAFIA = Family(
    "mafia",
    ("full", "minimal"),
    {
        RULES: frozenset({"name", "others", "composition", "rounds"}),
        AskKind.SPEAK: frozenset({"name", "day", "round", "rounds", "limit"}),
        AskKind.VOTE: _CHOICE,
        AskKind.KILL: _CHOICE,
        AskKind.INVESTIGATE: _CHOICE,
        AskKind.SELF_ASSESSMENT: frozenset({"name", "statement", "types"}),
        AskKind.PEER_ASSESSMENT: _ABOUT | {"types"},
        AskKind.NAME_ROLES: _FORM,
    },
    frozenset({AskKind.NAME_ROLES}),
    _mafia_facts,
    memory.tell,
)
WEREWOLF = Family(
    "werewolf",
    ("full",),
    {
        RULES: frozenset(
            {"names", "composition", "roles", "werewolves", "debate_turns", "defence_turns", "days", "types"}
        ),
        AskKind.KILL: _CHOICE | {"round"},
        AskKind.PROTECT: _CHOICE,
        AskKind.INVESTIGATE: _CHOICE,
        AskKind.BID: frozenset({"name", "day", "phase", "round", "rounds"}),
        AskKind.SPEAK: frozenset({"name", "day", "phase", "round", "rounds", "limit"}),
        AskKind.EXPLAINED_VOTE: _CHOICE | {"limit"},
        AskKind.VOTE: _CHOICE,
        AskKind.SELF_ASSESSMENT: frozenset({"name", "statement", "types"}),
        AskKind.PEER_ASSESSMENT: _ABOUT | {"types"},
        AskKind.REFLECTION: frozenset({"name"}),
        AskKind.NAME_ROLES: _FORM,
        AskKind.TAG_LESSON: frozenset({"statement", "categories", "orders"}),
    },
    frozenset({AskKind.NAME_ROLES, AskKind.TAG_LESSON}),
    _werewolf_facts,
    public_log.tell,
)

EXAMPLE: dict[str, Any] = {
    "name": "Alice",
    "names": "Alice, Bob and Charlie",
    "others": "Bob and Charlie",
    "composition": "1 mafioso and 2 villagers",
    "roles": ("villager", "werewolf", "jester"),
    "werewolves": 2,
    "debate_turns": 12,
    "defence_turns": 6,
    "days": 20,
    "day": 1,
    "phase": "discussion",
    "round": 1,
    "rounds": 2,
    "limit": 200,
    "options": "Bob, Charlie",
    "speaker": "Bob",
    "statement": "I am a villager.",
    **FIXED,
}
