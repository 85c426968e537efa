"""When requests may be sent to one host: one line of waiting requests for all players that share it.

Two things hold a request back: the window (how many may be in flight) and a pause. If a host asks to wait
(Retry-After), all requests wait, within reason. A complaint without such a time shrinks the window; only if the next
request is refused too, before any is answered, do all pause, longer each time.
Complaints about requests sent before the last complaint arrived carry no new information and are ignored.

A host that is down is tried with one request at a time until one is answered; the same happens after a pause that was
too short.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from statistics import fmean

from liescope.common.errors import EndpointSilent
from liescope.generate.players.player_protocol import Activity, Halt

FIRST = 16  # requests in flight at the start
FALL = 0.7  # share of the window left after a complaint
HOLD, LONGEST_HOLD = 1.0, 60.0  # seconds until a size that was refused is tried again, doubled if it still is
QUEUES = math.log(2.0)  # from this multiple of the usual latency on, more requests only wait for each other
_KNOWN = 16  # first answers that give the usual latency of a model and kind
_WEIGHT = 0.1  # weight of each answer in the mean of relative latencies

FIRST_PAUSE = 0.5  # seconds of a pause if the host gives no length; longer each time it was too short
LONGER = 1.5
LONGEST_PAUSE = 30.0
SHORTEST_ASKED = 0.05  # a host that asks for less gives no length
CREDIBLE, EARLY = 60.0, 15.0  # if a host asks for more than the first, one request tries after the second
LONGEST_ASKED = 120.0  # and again at intervals that double, up to this
OUTAGE = 8  # failures in a row after which a host is considered down
FIRST_PROBE, LONGEST_PROBE = 0.5, 10.0  # seconds between two attempts at a host that is down
_SHORTEST, _LOOK_AGAIN = 0.001, 1.0  # seconds of a single wait, at least and at most: its reason may change


@dataclass(frozen=True, eq=False, slots=True)
class RequestTurn:
    """One request's turn. at: when it was sent; in_flight: requests then, with it."""

    at: float
    in_flight: int


class Window:
    """How many requests may be in flight: doubled with every round of answers until a first one is refused or answers
    take much longer, then one more with every round and a share less with every refusal. A size that was refused is
    left alone for a while. ceiling: the largest.
    """

    def __init__(self, ceiling: int) -> None:
        self._exact = float(min(FIRST, ceiling))
        self._ceiling = ceiling
        self._doubling = True
        self._shrunk_at = float("-inf")
        self._limit = ceiling + 1  # a size that was refused
        self._hold, self._hold_until = HOLD, float("inf")  # when that size is tried again
        self._usual: dict[Hashable, list[float]] = {}  # logarithms of the seconds of the first answers, by kind
        self._slower = 0.0  # recent mean logarithm of latency over the usual one

    @property
    def size(self) -> int:
        return int(self._exact)

    def answered(self, turn: RequestTurn, now: float, kind: Hashable, seconds: float) -> None:
        """kind: what the latency may be compared with (a model and kind of ask)."""
        latency, usual = math.log(max(seconds, 1e-6)), self._usual.setdefault(kind, [])
        if len(usual) < _KNOWN:
            usual.append(latency)
        else:
            self._slower += _WEIGHT * (latency - fmean(usual) - self._slower)
        if turn.in_flight >= self._limit:
            self._limit, self._hold = self._ceiling + 1, HOLD
        if 2 * turn.in_flight <= self.size or self._slower > QUEUES:
            return
        grown = min(self._exact + (1.0 if self._doubling else 1.0 / self._exact), float(self._ceiling))
        if grown < self._limit or now >= self._hold_until:
            self._exact = grown

    def refused(self, turn: RequestTurn, now: float, others: int) -> None:
        """A request came too early, or was one too many at once. Only the first of one round counts. others: those in
        flight now.
        """
        if turn.at >= self._shrunk_at:
            self._exact = max(FALL * min(self._exact, max(turn.in_flight, others + 1)), 1.0)
            self._doubling, self._shrunk_at = False, now
            again = abs(turn.in_flight - self._limit) <= 1
            self._hold = min(2 * self._hold, LONGEST_HOLD) if again else HOLD
            self._limit, self._hold_until = max(turn.in_flight, 2), now + self._hold


class Pace:
    """The pace of one host. ceiling: the most requests in flight; clock: seconds, monotonic."""

    def __init__(
        self, host: str, halt: Halt, activity: Activity, ceiling: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.host = host
        self.window = Window(ceiling)
        self._halt = halt
        self._clock = clock
        self._activity = activity.at(host)
        self._activity.limit = self.window.size
        self._line = asyncio.Lock()
        self._room = asyncio.Event()  # set when a request ends or the window grows
        self._pause_until = 0.0
        self._heard_at = float("-inf")  # when the last complaint that counted arrived
        self._complaints = 0  # complaints that counted, since the last answer
        self._failures = 0  # failures in a row of requests sent after the last pause
        self._probe: asyncio.Event | None = None  # set once the last request sent has ended
        self._gone: EndpointSilent | None = None

    @property
    def down(self) -> bool:
        """Whether the host is considered down."""
        return self._failures >= OUTAGE

    @property
    def _probing(self) -> bool:
        return self.down or self._complaints > 1

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[RequestTurn]:
        """Wait until a request may be sent; inside the context, it is in flight.

        Raises RunPaused as soon as the run is ending, and EndpointSilent once the host is given up.
        """
        self._activity.queued += 1
        try:
            async with self._line:
                await self._wait()
                self._activity.under_way += 1
                turn = RequestTurn(self._clock(), self._activity.under_way)
                probe = self._probe = asyncio.Event()
        finally:
            self._activity.queued -= 1
        try:
            yield turn
        finally:
            self._activity.under_way -= 1
            self._room.set()
            probe.set()

    def answered(self, turn: RequestTurn, kind: Hashable, seconds: float) -> None:
        """The request of this turn was answered. kind: what its latency may be compared with."""
        self._complaints = 0
        self._is_up()
        self._activity.wait = None
        self.window.answered(turn, self._clock(), kind, seconds)
        self._resized()

    def limited(self, turn: RequestTurn, asked: float | None, reason: str) -> None:
        """The request of this turn came too early. asked: seconds that the host asks to wait; reason: its message."""
        now = self._clock()
        self._activity.limited += 1
        self._is_up()
        self.window.refused(turn, now, self._activity.under_way)
        self._resized()
        seconds = asked if asked and asked >= SHORTEST_ASKED else 0.0
        if turn.at > self._heard_at:
            self._heard_at = now
            self._complaints = max(self._complaints + 1, 2 if seconds > CREDIBLE else 0)
            if not seconds and self._complaints > 1:
                seconds = min(FIRST_PAUSE * LONGER ** min(self._complaints - 2, 20), LONGEST_PAUSE)
        self._pause(now, seconds, reason)

    def failed(self, turn: RequestTurn, asked: float | None, reason: str, overloaded: bool = False) -> None:
        """The request of this turn got no usable answer. overloaded: it may be because of too many at once."""
        now, seconds = self._clock(), asked or 0.0
        news = turn.at >= self._pause_until
        self._failures += news
        if overloaded and not self.down:
            self.window.refused(turn, now, self._activity.under_way)
            self._resized()
        if self.down and news:
            seconds = max(seconds, min(FIRST_PROBE * 2.0 ** min(self._failures - OUTAGE, 10), LONGEST_PROBE))
            self._activity.paused = True
        self._pause(now, seconds, reason)

    def give_up(self, error: EndpointSilent) -> None:
        """Stop all waiting for the host, unless it answers after all."""
        if self._probing:
            self._gone = error
            self._room.set()

    def _is_up(self) -> None:
        """The host answered, if only with a refusal."""
        self._failures = 0
        self._activity.paused = False

    async def _wait(self) -> None:
        """Wait until a request may be sent."""
        while True:
            self._halt.check()
            if self._gone is not None and self._probing:
                raise self._gone
            if (wait := self._pause_until - self._clock()) > 0:
                await self._halt.sleep(min(max(wait, _SHORTEST), _LOOK_AGAIN))
            elif self._probing and self._probe is not None and not self._probe.is_set():
                await self._probe.wait()
            elif self._activity.under_way < self.window.size:
                return
            else:
                self._room.clear()
                await self._room.wait()

    def _resized(self) -> None:
        self._activity.limit = self.window.size
        self._room.set()

    def _pause(self, now: float, seconds: float, reason: str) -> None:
        """Send nothing for so long."""
        if seconds > CREDIBLE:
            reason = f"{reason} (it asks for {seconds:,.0f} s, and is tried earlier)"
            seconds = min(EARLY * 2.0 ** min(max(self._complaints - 2, 0), 10), LONGEST_ASKED)
        if seconds and now + seconds > self._pause_until:
            self._pause_until = now + seconds
            self._activity.wait = (self._pause_until, reason)
