"""How fast requests may be sent to one host: one cool-down and one rate for all players that share it.

There is no rate limit until the host complains. A complaint (429) stops all requests to the host for as long as it
asks, and sets the rate below what the host accepted before. From there the rate rises again, slowly around the rate
that caused the last complaint, fast beyond it (additive increase, multiplicative decrease, with a memory of the limit).
Complaints about requests sent before the last complaint arrived carry no new information and are ignored.

A host that fails many times in a row is considered down: it is tried with one request at a time, at growing intervals,
until one is answered. Then all requests resume. The same happens after a cool-down that was too short.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from liescope.generate.players.activity import Activity
from liescope.generate.players.shared import Halt

OUTAGE = 8  # failures in a row after which a host is considered down
FIRST_PAUSE = 1.0  # seconds of a cool-down if the host gives no length; doubled each time it was too short
LONGEST_PAUSE = 60.0
SHORTEST_ASKED = 0.05  # wait for a host that asks for less, doubled in the same way
LONGEST_ASKED = 120.0  # wait for a host that asks for more
FIRST_PROBE, LONGEST_PROBE = 0.5, 10.0  # seconds between two attempts at a host that is down
FALL, DEEPEST_FALL = 0.9, 0.5  # of the rate that caused a complaint
SLOWEST = 2.0  # requests per second; below this, the cool-downs alone set the pace
_WINDOW = 10.0  # seconds over which requests are counted


@dataclass(frozen=True, eq=False, slots=True)
class Turn:
    """One request's turn. at: when it was sent; first: whether it was the first after a cool-down."""

    at: float
    first: bool


class Pace:
    """The pace of one host. clock: seconds, monotonic."""

    def __init__(self, host: str, halt: Halt, activity: Activity, clock: Callable[[], float] = time.monotonic) -> None:
        self.host = host
        self.rate: float | None = None  # requests per second; None for no limit
        self._halt = halt
        self._activity = activity.at(host)
        self._clock = clock
        self._turn = asyncio.Lock()
        self._next = 0.0  # no request before this time
        self._cool_until = 0.0
        self._sent: deque[Turn] = deque()  # the requests of the last seconds that drew no complaint
        self._ceiling = 0.0  # the rate that caused the last complaint
        self._heard_at = float("-inf")  # when the last complaint that counted arrived
        self._falls = False  # the rate must be reset when the cool-down ends
        self._fresh = True  # no request was sent since the last cool-down
        self._short = 0  # cool-downs in a row that were too short
        self._row = 0  # failures in a row
        self._probes = 0  # failed attempts at a host that is down
        self._probe: asyncio.Event | None = None  # set once the last request sent has ended

    @property
    def down(self) -> bool:
        """Whether the host is considered down."""
        return self._row >= OUTAGE

    @asynccontextmanager
    async def turn(self, gate: asyncio.Semaphore) -> AsyncIterator[Turn]:
        """Wait until this request may be sent, then pass the gate; inside the context, it is in flight.

        Raises RunPaused as soon as the run is ending.
        """
        async with self._turn:
            await self._wait(gate)
            sent = Turn(self._clock(), self._fresh)
            self._fresh = False
            if self._falls:
                self._fall()
            self._sent.append(sent)
            while self._sent[0].at < sent.at - _WINDOW:
                self._sent.popleft()
            if self.rate is not None:
                self._next = max(self._next, sent.at) + 1 / self.rate
            probe = self._probe = asyncio.Event()
        try:
            yield sent
        finally:
            gate.release()
            probe.set()

    def accepted(self) -> None:
        """A request was answered."""
        self._row = self._probes = self._short = 0
        self._activity.wait = None
        if self.rate is not None:
            nearness = self.rate / self._ceiling
            self.rate += 0.03 if nearness < 0.95 else 0.005 if nearness < 1.05 else 0.1

    def limited(self, sent: Turn, asked: float | None, reason: str) -> None:
        """The request of this turn came too early. asked: seconds that the host asks to wait; reason: its message."""
        now = self._clock()
        self._row = self._probes = 0
        if sent in self._sent:
            self._sent.remove(sent)
        if sent.at > self._heard_at:
            self._heard_at = now
            if sent.first:
                self._short += 1
            else:
                self._short, self._falls = 0, True
        longer = 2.0 ** min(self._short, 10)
        if asked is None:
            asked = min(FIRST_PAUSE * longer, LONGEST_PAUSE)
        elif asked < SHORTEST_ASKED:
            asked = min(SHORTEST_ASKED * longer, FIRST_PAUSE)
        self._cool(now + min(asked, LONGEST_ASKED), reason)

    def failed(self, sent: Turn, asked: float | None, reason: str) -> None:
        """The request of this turn got no usable answer."""
        now = self._clock()
        self._row += 1
        if self.down and sent.at >= self._cool_until:
            asked = max(asked or 0.0, min(FIRST_PROBE * 2.0 ** min(self._probes, 10), LONGEST_PROBE))
            self._probes += 1
        if asked is not None:
            self._cool(now + min(asked, LONGEST_ASKED), reason)

    async def _wait(self, gate: asyncio.Semaphore) -> None:
        """Wait until a request may be sent; the gate is passed then."""
        while True:
            while (wait := max(self._next, self._cool_until) - self._clock()) > 0:
                await self._halt.sleep(wait)
            if (self.down or self._short) and self._probe is not None and not self._probe.is_set():
                await self._probe.wait()
                continue
            await gate.acquire()
            if self._halt.error is None and self._clock() >= max(self._next, self._cool_until):
                return
            gate.release()
            self._halt.check()

    def _cool(self, until: float, reason: str) -> None:
        if until > self._cool_until:
            self._cool_until, self._fresh = until, True
            self._activity.wait = (until, reason)

    def _fall(self) -> None:
        """Set the rate below what the host accepted before it complained."""
        self._falls = False
        span = 1.0 if self.rate is None else _WINDOW
        took = sum(self._heard_at - span < sent.at <= self._heard_at for sent in self._sent) / span
        if self.rate is None:
            self._ceiling = max(took, 1.0)
            self.rate = FALL * self._ceiling
        else:
            self._ceiling = self.rate
            self.rate = max(min(FALL * self.rate, max(took, DEEPEST_FALL * self.rate)), SLOWEST)
