"""Events put between the statements of a game, whose indices are known."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from liescope.games.core import Event, EventKind, Phase

Key = tuple[float, ...]
"""The place of something in a game: day, part of the day, round, statement."""


@dataclass(frozen=True, slots=True)
class Fact:
    """An event without its index. told: a table has a row for it; else it follows from the rules, if there is room."""

    key: Key
    kind: EventKind
    day: int
    phase: Phase
    told: bool = True
    fields: Mapping[str, Any] = field(default_factory=dict)

    def event(self, index: int) -> Event:
        return Event(index, self.kind, self.day, self.phase, **self.fields)


def placed(
    facts: Sequence[Fact], statements: Sequence[tuple[Key, Event]], silences: int | None
) -> tuple[list[Event], frozenset[int]]:
    """The events of a game in order, and the indices that certainly are those that the game had.

    facts, statements: in the order of their keys; silences: how many turns passed in silence, None for a game that had
    events of kinds that no table holds. A gap between two statements that is filled by its facts and silences has each
    at its place, the silences at its end; in any other gap nobody can tell.
    """
    keys = [key for key, _ in statements]
    gaps: list[list[Fact]] = [[] for _ in range(len(statements) + 1)]
    for fact in facts:
        gaps[bisect_right(keys, fact.key)].append(fact)
    events: list[Event] = []
    certain: set[int] = set()
    all_sure, left = silences is not None, silences or 0

    def put(gap: Sequence[Fact], free: int, sure: bool) -> None:
        for index, fact in enumerate(gap, free):
            events.append(fact.event(index))
            if sure or fact.phase is Phase.SETUP:
                certain.add(index)

    free, late = 0, list[Fact]()
    for gap, (_, said) in zip(gaps, statements, strict=False):
        room = said.index - free
        here = _fitting([*late, *gap], room)
        here, late = here[:room], here[room:]
        spare = room - len(here)
        sure = silences is not None and spare <= left
        left -= spare if sure else 0
        all_sure = all_sure and sure
        put(here, free, sure)
        events.append(said)
        certain.add(said.index)
        free = said.index + 1
    put([*late, *gaps[-1]], free, all_sure and left == 0)
    return events, frozenset(certain)


def _fitting(gap: Sequence[Fact], room: int) -> list[Fact]:
    """The facts without the last of those that no table tells, if there are more than there is room for."""
    kept = list(gap)
    for fact in reversed(gap):
        if len(kept) > room and not fact.told:
            kept.remove(fact)
    return kept
