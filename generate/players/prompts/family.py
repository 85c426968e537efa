"""What the prompts of a game are made of: which files a set has, and what these may say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from liescope.games.core import Event
from liescope.generate.players.prompts.narration import Narration
from liescope.labeling.lesson_tags import CATEGORIES, ORDERS
from liescope.labeling.taxonomy import DeceptionType

RULES = "rules"
STRATEGY = "strategy"  # advice for a role; it stands in the private part, where only its seat reads it
TYPES = tuple((kind.value, kind.definition) for kind in DeceptionType)
FIXED: dict[str, Any] = {
    "types": TYPES,
    "categories": tuple(CATEGORIES.items()),
    "orders": tuple(ORDERS.items()),
}  # variables that are the same for every question


@dataclass(frozen=True, slots=True)
class Family:
    """The prompts that one game or several share.

    name: of their folder; sets: the sets there; variables: of each template, which is the file of that name with
    ".jinja"; judges: templates that only judging needs; facts: the rules' variables from the SETUP event and the seat;
    narrate: turns a seat's view into text; example: a value for each of the rules' variables, to try templates with;
    optional: templates that a set may lack.
    """

    name: str
    sets: tuple[str, ...]
    variables: Mapping[str, frozenset[str]]
    judges: frozenset[str]
    facts: Callable[[Event, str], dict[str, Any]]
    narrate: Callable[[Sequence[Event], str], Narration]
    example: Mapping[str, Any]
    optional: frozenset[str] = frozenset()


CHOICE = frozenset({"name", "day", "options"})
ABOUT = frozenset({"name", "speaker", "statement"})
FORM = frozenset({"name", "options"})

EXAMPLE: dict[str, Any] = {
    "name": "Alice",
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
"""A value for each variable of the questions, to try templates with."""
