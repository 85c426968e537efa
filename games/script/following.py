"""What players know of a game in progress, gathered on from what they knew before its latest events.

Nothing depends on what is kept: it is used only for a log that begins with exactly the same events.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from liescope.games.core import Event

K = TypeVar("K")

_KEPT = 64  # the seats, or the games, whose last log is kept


class Following(Generic[K]):
    """The state after a log of events. begin: the state before the first event; add: the state after some more events,
    a new object if they change it.
    """

    def __init__(self, begin: Callable[[str], K], add: Callable[[K, Sequence[Event]], K]) -> None:
        self._begin = begin
        self._add = add
        self._last: OrderedDict[tuple[str, str], tuple[tuple[Event, ...], K]] = OrderedDict()

    def after(self, game: str, whose: str, log: tuple[Event, ...]) -> K:
        """The state after a log of this game. whose: the seat that saw it, or whatever else tells logs of one game
        apart.
        """
        known = self._last.pop((game, whose), None)
        if known is not None and log[: len(known[0])] == known[0]:
            state = known[1] if len(log) == len(known[0]) else self._add(known[1], log[len(known[0]) :])
        else:
            state = self._add(self._begin(whose), log)
        self._last[game, whose] = log, state
        if len(self._last) > _KEPT:
            self._last.popitem(last=False)
        return state


class Log:
    """Events as the key of a cache: equal to another log if all its events are equal; its hash is cheap."""

    __slots__ = ("events", "game")

    def __init__(self, game: str, events: tuple[Event, ...]) -> None:
        self.game = game
        self.events = events

    def __hash__(self) -> int:
        return hash((self.game, len(self.events)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Log) and self.game == other.game and self.events == other.events
