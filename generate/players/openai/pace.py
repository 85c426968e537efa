"""When requests may be sent to one host: one line of waiting requests for all players that share it.

Four things hold a request back: the window (how many may be in flight), the rate that the host's complaints taught and
the quotas that it reports (`rate_limits`), and the breaker of a host that is down. A complaint (429) also stops all
requests for as long as the host asks, within reason. One without any reason is first taken to be about too many at once
(`window.CrowdLimit`). Complaints about requests sent before the last complaint arrived carry no new information and are
ignored, and the few that a busy host sends at any rate (`SendRate.is_stray`) concern their own request.

A host that is down is tried with one request at a time until one is answered; the same happens after a cool-down that
was too short.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from liescope.common.errors import EndpointSilent
from liescope.generate.players.openai.rate_limits import Cycle, Quotas, SendRate, Sent, read_limits
from liescope.generate.players.openai.window import Window
from liescope.generate.players.player_protocol import Activity, Halt

FIRST_PAUSE = 0.5  # seconds of a cool-down if the host gives no length; longer each time it was too short
LONGER = 1.5
LONGEST_PAUSE = 30.0
SHORTEST_ASKED = 0.05  # wait for a host that asks for less, longer in the same way
CREDIBLE, EARLY = 60.0, 15.0  # of a host that asks for more than the first, one request tries after the second
LONGEST_ASKED = 120.0  # and again at intervals that double, up to this
OUTAGE = 8  # failures in a row after which a host is considered down
FIRST_PROBE, LONGEST_PROBE = 0.5, 10.0  # seconds between two attempts at a host that is down
_SHORTEST = 0.001  # seconds of a wait
_LOOK_AGAIN = 1.0  # seconds; what is waited for may change meanwhile
_WORTH_SAYING = 1.0  # seconds of a wait that the display shows


class Breaker:
    """A circuit breaker: a host that fails many times in a row is down, and is then tried at growing intervals."""

    def __init__(self) -> None:
        self._row = 0  # failures in a row
        self._probes = 0  # failed attempts at a host that is down

    @property
    def open(self) -> bool:
        """Whether the host is considered down."""
        return self._row >= OUTAGE

    def answered(self) -> None:
        """The host answered, were it with a refusal."""
        self._row = self._probes = 0

    def failed(self, probe: bool) -> float | None:
        """No usable answer came. probe: whether the request was sent after the last pause. Returns the seconds until
        the next attempt if the host is down.
        """
        self._row += 1
        if not (self.open and probe):
            return None
        self._probes += 1
        return min(FIRST_PROBE * 2.0 ** min(self._probes - 1, 10), LONGEST_PROBE)


@dataclass(frozen=True, eq=False, slots=True)
class RequestTurn:
    """One request's turn. at: when it was sent; first: whether it was the first after a cool-down; cycle: of the rate;
    sent: what had been sent with it; in_flight: with it.
    """

    at: float
    first: bool
    cycle: Cycle
    sent: Sent
    in_flight: int


class Pace:
    """The pace of one host. ceiling: the most requests in flight; clock: seconds, monotonic."""

    def __init__(
        self, host: str, halt: Halt, activity: Activity, ceiling: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.host = host
        self.window = Window(ceiling, clock)
        self.rate = SendRate()
        self._quotas = Quotas()
        self._breaker = Breaker()
        self._halt = halt
        self._clock = clock
        self._activity = activity.at(host)
        self._tell = activity.tell
        self._activity.limit = self.window.size
        self._line = asyncio.Lock()
        self._room = asyncio.Event()  # set when a request ends or the window grows
        self._in_flight = 0
        self._cool_until = 0.0
        self._heard_at = float("-inf")  # when the last complaint that counted arrived
        self._fresh = True  # no request was sent since the last cool-down
        self._short = 0  # cool-downs in a row that were too short
        self._long = 0  # and for which it asked for more than is believed
        self._probe: asyncio.Event | None = None  # set once the last request sent has ended
        self._gone: EndpointSilent | None = None

    @property
    def down(self) -> bool:
        """Whether the host is considered down."""
        return self._breaker.open

    def free(self) -> bool:
        """Whether a request could be sent at once, with room to spare."""
        now = self._clock()
        return (
            not self._line.locked()
            and not self.down
            and self.rate.per_second is None
            and self._in_flight < self.window.size
            and self._cool_until <= now
            and self._quotas.wait(0.0, now) <= 0
        )

    @asynccontextmanager
    async def turn(self, tokens: float = 0.0) -> AsyncIterator[RequestTurn]:
        """Wait until a request of so many tokens may be sent; inside the context, it is in flight.

        Raises RunPaused as soon as the run is ending, and EndpointSilent once the host was given up.
        """
        self._activity.queued += 1
        try:
            async with self._line:
                held = await self._wait(tokens)
                sent = self._send(tokens, held)
                probe = self._probe = asyncio.Event()
        finally:
            self._activity.queued -= 1
        try:
            yield sent
        finally:
            self._in_flight -= 1
            self._activity.under_way -= 1
            self._room.set()
            probe.set()

    def answered(self, sent: RequestTurn, kind: Hashable, seconds: float) -> None:
        """The request of this turn was answered. kind: what its latency may be compared with."""
        self._short = self._long = 0
        self._closed()
        self.rate.answered()
        self._activity.wait = None
        self.window.answered(kind, sent.at, sent.in_flight, seconds)
        self._resized()

    def reported(self, sent: RequestTurn, headers: Mapping[str, str], refused: bool) -> None:
        """What the headers of the response say about the host's limits. refused: it says that one was broken."""
        if readings := read_limits(headers):
            self._quotas.reported(readings, sent.sent, self._clock(), refused)

    def limited(self, sent: RequestTurn, asked: float | None, reason: str, crowded: bool = False) -> bool:
        """The request of this turn came too early, or (crowded) was one too many at once. asked: seconds that the host
        asks to wait; reason: its message. Returns whether all requests wait; a stray complaint concerns its own alone.
        """
        now = self._clock()
        self._closed()
        before = self.window.size
        if crowded:
            self.window.crowded(sent.in_flight)
        elif self._is_stray(sent):
            return False
        elif asked is None and not self._quotas.known and self.window.refused(sent.in_flight, sent.at):
            crowded = True
            if not self.window.crowd.sure:
                self.rate.not_taken(sent.cycle)
                if sent.at > self._heard_at:  # what was refused beside it is not in flight after a pause
                    self._heard_at = now
                    self._cool(now, FIRST_PAUSE, reason)
        self._resized()
        if crowded:
            if asked is None or before > 1:
                return True
        else:
            self.rate.refused(sent.cycle)
            if sent.at > self._heard_at:
                self._heard_at = now
                if sent.first:
                    self._short += 1
                else:
                    self._short = 0
                    self.rate.complained()
        longer = LONGER ** min(self._short, 20)
        if asked is None:
            asked = min(FIRST_PAUSE * longer, LONGEST_PAUSE)
        elif asked < SHORTEST_ASKED:
            asked = min(SHORTEST_ASKED * longer, FIRST_PAUSE)
        self._cool(now, asked, reason)
        return True

    def failed(self, sent: RequestTurn, asked: float | None, reason: str, overloaded: bool = False) -> None:
        """The request of this turn got no usable answer. overloaded: it may be because of too many at once."""
        now = self._clock()
        if overloaded:
            self.window.overloaded(sent.at)
            self._resized()
        pause = self._breaker.failed(probe=sent.at >= self._cool_until)
        if self.down and not self._activity.paused:
            self._activity.paused = True
            self._tell("paused", host=self.host, reason=reason)
        if pause is not None:
            asked = max(asked or 0.0, pause)
        if asked is not None:
            self._cool(now, asked, reason)

    def give_up(self, error: EndpointSilent) -> None:
        """Nobody waits for the host any longer, unless it answers after all."""
        if self.down or self._short:
            self._gone = error
            self._room.set()

    def _is_stray(self, sent: RequestTurn) -> bool:
        """Whether a complaint is one of the few that a busy host sends at any rate."""
        crowd = self.window.crowd
        if not self.rate.is_stray() or self._quotas.known or sent.first or crowd.limit is not None:
            return False
        crowd.stray(sent.in_flight)
        return True

    def _closed(self) -> None:
        self._breaker.answered()
        if self._activity.paused:
            self._activity.paused = False
            self._tell("resumed", host=self.host)

    def _send(self, tokens: float, held: bool) -> RequestTurn:
        now = self._clock()
        self._in_flight += 1
        self._activity.under_way += 1
        turn = RequestTurn(now, self._fresh, self.rate.sent(now, held), self._quotas.sent(tokens), self._in_flight)
        self._fresh = False
        return turn

    async def _wait(self, tokens: float) -> bool:
        """Wait until a request may be sent; returns whether the rate held it back."""
        held = False
        while True:
            self._halt.check()
            probing = self.down or self._short > 0
            if self._gone is not None and probing:
                raise self._gone
            now = self._clock()
            quota = self._quotas.wait(tokens, now)
            if quota > _WORTH_SAYING:
                self._activity.wait = (now + quota, "its limit a minute is used up")
            due = self.rate.wait(now)
            if (wait := max(self._cool_until - now, due, quota)) > 0:
                held = held or due >= wait
                await self._halt.sleep(min(max(wait, _SHORTEST), _LOOK_AGAIN))
            elif probing and self._probe is not None and not self._probe.is_set():
                await self._probe.wait()
            elif self._in_flight < self.window.size:
                return held
            elif (trial := self.window.crowd.trial(now)) == 0 and self._in_flight == self.window.size:
                self.window.crowd.tried(now)
                return held
            else:
                self.window.wanted()
                self._room.clear()
                await self._room_or(trial)

    async def _room_or(self, seconds: float | None) -> None:
        """Wait until a request has ended or the window has changed, for so many seconds at most."""
        if not seconds:
            await self._room.wait()
            return
        waits = [asyncio.ensure_future(self._room.wait()), asyncio.ensure_future(self._halt.sleep(seconds))]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def _resized(self) -> None:
        if self._activity.limit != self.window.size:
            self._activity.limit = self.window.size
            self._room.set()

    def _cool(self, now: float, asked: float, reason: str) -> None:
        if asked > CREDIBLE:
            reason = f"{reason} (it asks for {asked:,.0f} s, and is tried earlier)"
            asked = min(EARLY * 2.0 ** min(self._long, 10), LONGEST_ASKED)
            if now >= self._cool_until:
                self._long += 1
            self._short = max(self._short, 1)
        until = now + asked
        if until > self._cool_until:
            self.rate.paused(self._clock(), until)
            self._cool_until, self._fresh = until, True
            self._activity.wait = (until, reason)
