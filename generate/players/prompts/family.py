"""What a game's prompts consist of: the files of a set, and the variables they may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liescope.games.core import AskKind, Event
from liescope.generate.players.prompts.narration import Narration
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS
from liescope.labeling.taxonomy import DeceptionType

RULES = "rules"
STRATEGY = "strategy"  # advice for a role; part of the private text, which only its seat reads
TYPES = tuple((kind.value, kind.definition) for kind in DeceptionType)
FIXED: dict[str, Any] = {
    "types": TYPES,
    "categories": tuple(CATEGORIES.items()),
    "orders": tuple(ORDERS.items()),
}  # variables common to all questions


@dataclass(frozen=True, slots=True)
class Family:
    """The prompts of one or more games.

    name: their folder's name; sets: the sets in it; variables: those of each template, by file name without ".jinja";
    judges: templates needed only for judging; facts: the rules' variables from the SETUP event and the seat; narrate:
    turns a seat's view into text; example: a value for each of the rules' variables, for trying out templates;
    optional: templates that a set may lack; temperature: at which models are asked that are given none, as the paper of
    these games did; None for the default of whoever serves the model.
    """

    name: str
    sets: tuple[str, ...]
    variables: Mapping[str, frozenset[str]]
    judges: frozenset[str]
    facts: Callable[[Event, str], dict[str, Any]]
    narrate: Callable[[Sequence[Event], str], Narration]
    example: Mapping[str, Any]
    optional: frozenset[str] = frozenset()
    temperature: float | None = None


CHOICE = frozenset({"name", "day", "options"})
ABOUT = frozenset({"name", "speaker", "statement"})
FORM = frozenset({"name", "options"})
SHARED = {AskKind.FIND_CLAIMS: frozenset({"names", "speaker", "statement", "options"})}
"""Questions with one template for all games, which a set may replace."""

EXAMPLE: dict[str, Any] = {
    "name": "Alice",
    "names": "Alice, Bob, Charlie",
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
"""A value for each variable of the questions, for trying out templates."""
