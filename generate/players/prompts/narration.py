"""What a seat reads of the events that it saw: the parts that every narration shares."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from liescope.games.core import Event


@dataclass(frozen=True, slots=True)
class Narration:
    """growing: lines that only ever get more at their end; private: lines behind them, before the question."""

    growing: tuple[str, ...]
    private: tuple[str, ...] = ()


def quoted(text: str) -> str:
    """A statement as it stands between double quotation marks: on one line, its own double quotes made single."""
    return " ".join(text.split()).replace('"', "'")


def listing(names: Iterable[str], last: str = "and") -> str:
    """ "A", "A and B", "A, B and C"."""
    *most, final = list(names) or [""]
    return f"{', '.join(most)} {last} {final}" if most else final


def counted(composition: Iterable[tuple[str, int]]) -> str:
    """ "1 mafioso and 2 villagers"; roles that nobody holds are left out."""
    return listing(f"{count} {_plural(role, count)}" for role, count in composition if count)


def drawn(event: Event, what: str) -> str:
    """What to add where the rules had to choose in a seat's place."""
    return f" (drawn at random: unreadable {what})" if event.fallback else ""


def _plural(role: str, count: int) -> str:
    if count == 1:
        return role
    return "werewolves" if role == "werewolf" else f"{role}s"
