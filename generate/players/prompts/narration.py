"""How a seat's events are narrated to it: the parts that all narrations share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from liescope.games.core import Event


@dataclass(frozen=True, slots=True)
class Narration:
    """growing: lines that are only ever appended to; private: lines after them, before the question."""

    growing: tuple[str, ...]
    private: tuple[str, ...] = ()


def quoted(text: str) -> str:
    """A statement to put in double quotation marks: on one line, with its double quotes turned into single ones."""
    return " ".join(text.split()).replace('"', "'")


def listing(names: Iterable[str], last: str = "and") -> str:
    """ "A", "A and B", "A, B and C"."""
    *most, final = list(names) or [""]
    return f"{', '.join(most)} {last} {final}" if most else final


def counted(composition: Iterable[tuple[str, int]]) -> str:
    """ "1 mafioso and 2 villagers"; roles that no one holds are left out."""
    return listing(f"{count} {_plural(role, count)}" for role, count in composition if count)


def drawn(event: Event, what: str) -> str:
    """The text to add if the rules had to choose for a seat."""
    return f" (drawn at random: unreadable {what})" if event.fallback else ""


def _plural(role: str, count: int) -> str:
    if count == 1:
        return role
    return "werewolves" if role == "werewolf" else f"{role}s"
