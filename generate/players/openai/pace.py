"""When requests may be sent to one host: one line of waiting requests for all players that share it.

Three things hold a request back: the window (how many may be in flight), the quotas that the host reports in headers,
and a pause. If a host asks to wait (Retry-After), all requests wait, within reason. A complaint without such a time
shrinks the window; only if the next request is refused too, before any is answered, do all pause, longer each time.
Complaints about requests sent before the last complaint arrived carry no new information and are ignored.

A host that is down is tried with one request at a time until one is answered; the same happens after a pause that was
too short.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean

from liescope.common.errors import EndpointSilent
from liescope.generate.players.openai.verdict import seconds_until
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
BELIEVED = 60.0  # seconds after which a report is too old to believe
SPARE = 1.25  # so many times the estimated tokens must be left, since estimates are inexact
_HEADER = re.compile(r"(?:x-|anthropic-)?(rate|token)limit-(?:([a-z_-]+)-)?(limit|remaining|reset)(?:-([a-z_-]+))?")
_LARGEST, _MOST_LIMITS = 1e12, 32


@dataclass(frozen=True, eq=False, slots=True)
class RequestTurn:
    """One request's turn. at: when it was sent; in_flight: requests then, with it; sent: all so far, with it, and their
    tokens by estimate.
    """

    at: float
    in_flight: int
    sent: tuple[int, float]


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


@dataclass(slots=True)
class ReportedLimit:
    """One limit as a host reported it. name: the host's; tokens: whether it counts tokens or requests; limit: the most
    there can be; remaining: how much of it is left; reset: seconds until all of it is there again.

    From the last report that counted: left: what it said, less what was sent since; at: when it came; as_of: for which
    request.
    """

    name: str
    tokens: bool
    limit: float
    remaining: float
    reset: float
    left: float = 0.0
    at: float = 0.0
    as_of: int = 0

    def wait(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens fits in."""
        missing = min(SPARE * tokens if self.tokens else 1.0, max(self.limit, 1.0)) - self.left
        # what is used comes back in `reset` seconds, so one unit takes reset / used
        used = max(self.limit - self.remaining, self.limit / 1000, 1e-3)
        return missing * max(self.reset, 1e-3) / used - (now - self.at) if missing > 0 else 0.0


def read_limits(headers: Mapping[str, str], now: datetime | None = None) -> list[ReportedLimit]:
    """The limits in a response's headers (by lower-case name), in each provider's spelling; nonsensical ones are left
    out.

        x-ratelimit-{limit,remaining,reset}-{requests,tokens}          OpenAI, Groq, Azure, LiteLLM, vLLM gateways
        x-ratelimit-{limit,remaining,reset}-{requests-day,tokens-minute}   Cerebras; -{req,tokens}-minute: Mistral
        anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}   Anthropic
        x-ratelimit-{limit,remaining,reset}, x-tokenlimit-…            Together; the first also OpenRouter
        ratelimit-{limit,remaining,reset}                              the IETF's draft
    """
    found: dict[str, dict[str, str]] = {}
    for header, value in headers.items():
        if match := _HEADER.fullmatch(header):
            kind, before, role, after = match.groups()
            found.setdefault("-".join(filter(None, (kind, before, after))), {})[role] = value.strip()
    limits = []
    for name, values in found.items():
        try:  # a remainder alone (Azure) does not say when there will be more
            limit, remaining = float(values["limit"]), float(values["remaining"])
        except (KeyError, ValueError):
            continue
        if 0 <= limit < _LARGEST and 0 <= remaining < _LARGEST:  # Azure reports -1 for a limit that it keeps to itself
            reset = seconds_until(values.get("reset", ""), now or datetime.now(UTC))
            reset = BELIEVED if reset is None else reset
            limits.append(ReportedLimit(name, "token" in name, max(limit, remaining), remaining, reset))
    return limits


class Quotas:
    """The limits of one host. Times are seconds, monotonic.

    Between two reports, what is sent is taken off and what refills is added, steadily (as OpenAI, Groq and Anthropic
    do). Requests that were sent after the reported one are taken off the report, since the host has not counted them.
    """

    def __init__(self) -> None:
        self._sent = (0, 0.0)
        self._limits: dict[str, ReportedLimit] = {}

    def wait(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens may be sent; not above 0 if it may be now."""
        believed = (limit for limit in self._limits.values() if now - limit.at < BELIEVED)
        return min(max((limit.wait(tokens, now) for limit in believed), default=0.0), BELIEVED)

    def sent(self, tokens: float) -> tuple[int, float]:
        """Note that a request is sent; returns the totals so far, including it."""
        requests, before = self._sent
        self._sent = requests + 1, before + tokens
        for limit in self._limits.values():
            limit.left -= tokens if limit.tokens else 1.0
        return self._sent

    def reported(self, limits: Iterable[ReportedLimit], sent: tuple[int, float], now: float) -> None:
        """Take in a response's report. sent: as returned when the request was sent."""
        for limit in limits:
            known = self._limits.get(limit.name)
            if known is None and len(self._limits) >= _MOST_LIMITS:
                continue  # a server may make up names without end
            if known is None or known.as_of <= sent[0]:
                later = self._sent[limit.tokens] - sent[limit.tokens]
                limit.left, limit.at, limit.as_of = limit.remaining - later, now, sent[0]
                self._limits[limit.name] = limit


class Pace:
    """The pace of one host. ceiling: the most requests in flight; clock: seconds, monotonic."""

    def __init__(
        self, host: str, halt: Halt, activity: Activity, ceiling: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.host = host
        self.window = Window(ceiling)
        self._quotas = Quotas()
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
    async def turn(self, tokens: float = 0.0) -> AsyncIterator[RequestTurn]:
        """Wait until a request of so many tokens may be sent; inside the context, it is in flight.

        Raises RunPaused as soon as the run is ending, and EndpointSilent once the host is given up.
        """
        self._activity.queued += 1
        try:
            async with self._line:
                await self._wait(tokens)
                self._activity.under_way += 1
                turn = RequestTurn(self._clock(), self._activity.under_way, self._quotas.sent(tokens))
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

    def reported(self, turn: RequestTurn, headers: Mapping[str, str]) -> None:
        """What the headers of the response say about the host's limits."""
        self._quotas.reported(read_limits(headers), turn.sent, self._clock())

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

    async def _wait(self, tokens: float) -> None:
        """Wait until a request may be sent."""
        while True:
            self._halt.check()
            if self._gone is not None and self._probing:
                raise self._gone
            now = self._clock()
            quota = self._quotas.wait(tokens, now)
            if quota > _LOOK_AGAIN:
                self._activity.wait = (now + quota, "its limit a minute is used up")
            if (wait := max(self._pause_until - now, quota)) > 0:
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
