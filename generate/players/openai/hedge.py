"""Requests that stall: when one has taken far longer than others of its model and kind, a second one is sent beside it.

The first answer counts, and both requests are logged, since both may be paid for. Few requests are hedged: only those
that take several times as long as 99 of 100, a small share of all, and none where the rate is limited.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

PERCENTILE, FACTOR = 0.99, 3.0  # a request stalls when it takes so many times what this share of them takes
SHORTEST = 5.0  # seconds; nothing that takes less stalls
SHARE = 0.01  # of the requests, at most, that are sent twice
KNOWN = 200  # answers of a kind without which nothing is known
_BIN = math.log(1.1)
_REMEMBERED = 4000  # answers, after which older ones count half

T = TypeVar("T")


class Stalls:
    """When a request to one host stalls, by its kind."""

    def __init__(self) -> None:
        self._latencies: dict[Hashable, Counter[int]] = defaultdict(Counter)
        self._after: dict[Hashable, float] = {}
        self._sent = self._hedged = 0

    def after(self, kind: Hashable) -> float | None:
        """Seconds after which a request of this kind has stalled; None while too little is known."""
        self._sent += 1
        return self._after.get(kind)

    def learn(self, kind: Hashable, seconds: float) -> None:
        """A request of this kind was answered."""
        bins = self._latencies[kind]
        bins[math.ceil(math.log(max(seconds, 1e-6)) / _BIN)] += 1
        answers = bins.total()
        if answers >= KNOWN and answers % (KNOWN // 4) == 0:
            self._after[kind] = max(FACTOR * _percentile(bins, answers), SHORTEST)
            if answers >= _REMEMBERED:
                self._latencies[kind] = Counter({place: count // 2 for place, count in bins.items()})

    def take(self) -> bool:
        """Whether another request may be sent twice; it counts as sent."""
        taken = self._hedged + 1 <= SHARE * self._sent
        self._hedged += taken
        return taken


def _percentile(bins: Counter[int], total: int) -> float:
    above = (1 - PERCENTILE) * total
    for place in sorted(bins, reverse=True):
        above -= bins[place]
        if above < 0:
            return math.exp(place * _BIN)
    return 0.0


class Race(Generic[T]):
    """One request, and a second one if the first stalls.

    second: makes the second request, or gives None if it may not be sent; good: whether a result is an answer.
    """

    def __init__(self, second: Callable[[], Coroutine[Any, Any, T] | None], good: Callable[[T], bool]) -> None:
        self._second, self._good = second, good
        self._timer: asyncio.TimerHandle | None = None
        self._other: asyncio.Task[T] | None = None
        self._scope: asyncio.Timeout | None = None
        self.decided = False  # the request that is cancelled now lost the race

    def start(self, seconds: float | None) -> None:
        """The first request is sent now, and has stalled after so many seconds."""
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._stalled)

    async def run(self, first: Awaitable[T]) -> T:
        """The first answer; if there is none, what came of the last request."""
        try:
            async with asyncio.timeout(None) as self._scope:
                result = await first
        except TimeoutError:
            if self._scope is None or not self._scope.expired() or self._other is None:
                raise
            return self._other.result()
        except BaseException:
            if self._other is not None:
                self._other.cancel()
            raise
        finally:
            if self._timer is not None:
                self._timer.cancel()
        if self._other is None:
            return result
        if not self._good(result):
            return await self._other
        self.decided = True
        self._other.cancel()
        await asyncio.wait([self._other])
        return result

    def _stalled(self) -> None:
        if (second := self._second()) is not None:
            self._other = asyncio.get_running_loop().create_task(second)
            self._other.add_done_callback(self._ended)

    def _ended(self, other: asyncio.Task[T]) -> None:
        """The second request ended: an answer ends the first one."""
        if not other.cancelled() and other.exception() is None and self._good(other.result()):
            scope = self._scope
            if scope is not None and not scope.expired() and not self.decided:
                self.decided = True
                scope.reschedule(asyncio.get_running_loop().time())
