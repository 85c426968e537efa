"""Through whose eyes a game is looked at, and whether its labels are shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from liescope.common.errors import UnknownName
from liescope.games.core import Event
from liescope.games.record import GameRecord

TABLE = "*"
"""The eyes that see what everybody at the table saw, and no more."""


@dataclass(frozen=True, slots=True)
class Look:
    """eyes: "" for all-knowing, a seat's name, or `TABLE`. labels: show labels, and with them roles and models."""

    eyes: str = ""
    labels: bool = True

    @property
    def all_knowing(self) -> bool:
        return not self.eyes

    @property
    def told(self) -> bool:
        """Roles and models are shown: nothing is hidden from an all-knowing reader, and labels tell roles anyway."""
        return self.labels or self.all_knowing

    def sees(self, event: Event) -> bool:
        """Whether the event was seen with these eyes when it happened. A judge's answers were seen by nobody."""
        return self.all_knowing or ("judge" not in event.data and _seen_by(event, self.eyes))


def _seen_by(event: Event, eyes: str) -> bool:
    return event.audience is None if eyes == TABLE else event.seen_by(eyes)


def look_through(record: GameRecord, eyes: str = "", labels: bool | None = None) -> Look:
    """How a reader asks to look at a game. labels: None for what is usual, shown only to the all-knowing.

    Raises UnknownName if the game has no such seat.
    """
    names = [seat.name for seat in record.seats]
    if eyes and eyes != TABLE and eyes not in names:
        raise UnknownName("seat", eyes, names)
    return Look(eyes, not eyes if labels is None else labels)


def all_looks(record: GameRecord) -> Iterator[tuple[str, str]]:
    """Every pair of eyes for a chooser, and what it is called."""
    yield "", "All-knowing"
    yield TABLE, "What everybody saw"
    for seat in record.seats:
        yield seat.name, seat.name


def who_saw(event: Event, record: GameRecord) -> tuple[int, ...] | None:
    """The places of the seats that saw an event, None for everyone; nobody saw what a judge said afterwards."""
    if "judge" in event.data:
        return ()
    if event.audience is None:
        return None
    return tuple(place for place, seat in enumerate(record.seats) if seat.name in event.audience)
