"""How many requests and tokens a second a host takes: as it reports in headers, and as its complaints (429) teach."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

from liescope.generate.players.openai.verdict import seconds_until

# The rate that complaints teach
FALL = 0.96  # of the limit
DEEPEST = 0.25  # of the rate, for one complaint
SLOWEST = 1.0  # requests a second; below this, the pauses alone set the pace
SLACK = 0.05  # seconds by which requests may be late and still be made up for
SHORT = 2.0  # seconds of a pause
STRAY_SHARE, STRAY_ROW = 0.1, 4  # refusals are strays up to this share of the last 100, and below this number of 10
_BUSIEST = 1.0  # seconds
_CREEP, _CLIMB = 0.004, 0.03  # growth a second near the limit, and away from it

# The limits that a host reports
BELIEVED = 60.0  # seconds for which a report is believed without another
SPARE = 1.25  # times the estimated tokens must be left, since estimates are not exact
_APART = 0.4  # seconds between two refusals that tell a window
_STALE = 600.0  # seconds after which a limit that is no longer reported is forgotten
_HEADER = re.compile(r"(?:x-|anthropic-)?(rate|token)limit-([a-z_-]+)")
_ROLES = ("limit", "remaining", "reset")
_PERIODS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0}
_LARGEST = 1e12


class SendRate:
    """The rate of one host, learned from its complaints. Times are seconds, monotonic.

    There is no rate until the first complaint; then it is what the host took in its busiest second. After a short pause
    the rate was about right: the limit is what was just too much. After a long one, the host took a share of what would
    have been sent without it, and that share of the rate is the limit, whatever the host counts by: windows of a
    minute, or a bucket that fills. The rate is set a little below the limit and rises again while it holds requests
    back: slowly around the limit, faster away from it.
    """

    def __init__(self) -> None:
        self.per_second: float | None = None
        self._limit = 0.0
        self._next = 0.0  # when the next request is due
        self._grew_at = 0.0
        self._cycle = Cycle()
        self._ended: Cycle | None = None  # the cycle before, until all its complaints have come
        self._second, self._busy, self._busiest = 0.0, 0, 0  # only until the first complaint
        self._refusals: deque[bool] = deque(maxlen=100)  # whether the last requests were refused, the newest first

    def wait(self, now: float) -> float:
        """Seconds until a request is due."""
        return self._next - now if self.per_second is not None else 0.0

    def sent(self, now: float, held: bool) -> Cycle:
        """A request is sent. held: whether it had to wait for the rate. Returns its cycle."""
        self._settle(now)
        if self.per_second is None:
            if now - self._second > _BUSIEST:
                self._second, self._busy, self._busiest = now, 0, self._busy
            self._busy += 1
        else:
            if held:
                self._grow(now)
            self._next = max(self._next, now - SLACK) + 1 / self.per_second
        self._cycle.sent += 1
        return self._cycle

    def answered(self) -> None:
        """A request was answered."""
        self._refusals.appendleft(False)

    def is_stray(self) -> bool:
        """Whether a refusal that came now is one of the few that a busy host sends at any rate.

        Hosts that shed load refuse a few requests in a hundred at random. Slowing down for those would be endless: each
        complaint lowers the rate, and no rate prevents the next. A limit that is reached refuses many, or several in a
        row. Once a rate was learned, every complaint counts: such a host may have taught one by chance.
        """
        self._refusals.appendleft(True)
        if self.per_second is not None or sum(islice(self._refusals, 10)) >= STRAY_ROW:
            return False
        return sum(self._refusals) <= max(STRAY_ROW - 1, STRAY_SHARE * len(self._refusals))

    def refused(self, cycle: Cycle) -> None:
        """A request of this cycle came too early."""
        cycle.refused += 1

    def not_taken(self, cycle: Cycle) -> None:
        """A request of this cycle was refused, perhaps for another reason: it tells no rate."""
        cycle.sent -= 1
        self._busy = max(self._busy - 1, 0)

    def complained(self) -> None:
        """A complaint that says something new: the cycle ends."""
        self._ended, self._cycle = self._cycle, Cycle()

    def paused(self, now: float, until: float) -> None:
        """Nothing is sent until then."""
        self._cycle.paused += until - max(now, self._cycle.paused_until)
        self._cycle.paused_until = until
        self._next = max(self._next, until)

    def _grow(self, now: float) -> None:
        assert self.per_second is not None
        nearness = self.per_second / self._limit
        speed = _CREEP if 0.97 < nearness < 1.05 else _CLIMB * min(max(nearness, 1.0), 4.0) ** 2
        self.per_second *= 1 + speed * min(now - self._grew_at, 1.0)
        self._grew_at = now

    def _settle(self, now: float) -> None:
        """Set the rate by the cycle that ended."""
        ended, self._ended = self._ended, None
        if ended is None:
            return
        if self.per_second is None:
            took = max(self._busy - ended.refused, self._busiest) / _BUSIEST
        else:
            took = self.per_second * max(ended.share, DEEPEST)
        self._limit = max(took, SLOWEST)
        self.per_second = self._cycle.rate = FALL * self._limit
        self._next, self._grew_at = max(self._next, now), now


@dataclass(slots=True)
class Cycle:
    """From one complaint to the next. sent: requests, of which some were refused; paused: seconds, at a rate."""

    sent: int = 0
    refused: int = 0
    paused: float = 0.0
    paused_until: float = 0.0
    rate: float = 0.0

    @property
    def share(self) -> float:
        """What the host took of what would have been sent without a pause; 1 for a short one."""
        if self.paused <= SHORT:
            return 1.0
        return (self.sent - self.refused) / max(self.sent + self.paused * self.rate, 1.0)


@dataclass(frozen=True, slots=True)
class ReportedLimit:
    """One limit as a host reported it. name: the host's; tokens: whether it counts tokens or requests; limit: the most
    there can be; remaining: how much of it is left; reset: seconds until all of it is there again.
    """

    name: str
    tokens: bool
    limit: float
    remaining: float
    reset: float


def read_limits(headers: Mapping[str, str], now: datetime | None = None) -> tuple[ReportedLimit, ...]:
    """The limits in a response's headers (by lower-case name), in each provider's spelling; those that make no sense
    are left out.

        x-ratelimit-{limit,remaining,reset}-{requests,tokens}          OpenAI, Groq, Azure, LiteLLM, vLLM gateways
        x-ratelimit-{limit,remaining,reset}-{requests-day,tokens-minute}   Cerebras; -{req,tokens}-minute: Mistral
        anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}   Anthropic
        x-ratelimit-{limit,remaining,reset}, x-tokenlimit-…            Together; the first also OpenRouter
        ratelimit-{limit,remaining,reset}                              the IETF's draft

    A reset is a span (6m0s, 12ms), seconds, a timestamp in seconds or milliseconds, or a date (RFC 3339).
    """
    found: dict[str, dict[str, str]] = {}
    for header, value in headers.items():
        if "limit-" in header and (match := _HEADER.fullmatch(header)):
            words = match[2].split("-")
            role = next((word for word in words if word in _ROLES), None)
            if role is not None:
                name = "-".join((match[1], *(word for word in words if word != role)))
                found.setdefault(name, {})[role] = value.strip()
    moment = now or datetime.now(UTC)
    readings = (_reading(name, values, moment) for name, values in found.items())
    return tuple(reading for reading in readings if reading is not None)


def _reading(name: str, values: Mapping[str, str], now: datetime) -> ReportedLimit | None:
    remaining, limit = _amount(values.get("remaining", "")), _amount(values.get("limit", ""))
    if remaining is None or limit is None:  # what is left alone (Azure) says nothing about when there is more
        return None
    period = next((seconds for word, seconds in _PERIODS.items() if word in name), 60.0)
    reset = seconds_until(values.get("reset", ""), now)
    return ReportedLimit(name, "token" in name, max(limit, remaining), remaining, period if reset is None else reset)


def _amount(value: str) -> float | None:
    """A count; None for anything else, such as the -1 of Azure for a limit that it does not tell."""
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < _LARGEST else None


@dataclass(slots=True)
class Sent:
    """Everything sent so far, as of one request: how many requests, and their tokens by estimate."""

    requests: int = 0
    tokens: float = 0.0


@dataclass(slots=True)
class _Limit:
    """One limit. left: at the time `at`; refill: a second, 0 for a window; reset: when all of it is there again; as_of:
    the request whose response said so; refused: when a request was last refused and what was left, if none was
    answered since.
    """

    tokens: bool
    most: float
    left: float
    refill: float
    reset: float
    at: float
    as_of: int
    refused: tuple[float, float] | None

    def wait(self, need: float, now: float) -> float:
        """Seconds until as much as is needed is there."""
        missing = min(need, self.most) - self.left
        if missing <= 0:
            return 0.0
        return missing / self.refill - (now - self.at) if self.refill else self.reset - now


class Quotas:
    """The limits of one host as it reports them, so that no request is sent that would break them. Times are seconds,
    monotonic.

    Between two reports, what is sent is taken off and what refills is added. Requests that were sent after the reported
    one are taken off the report, since the host has not counted them yet. A limit is taken to refill steadily (OpenAI,
    Groq, Anthropic), until a host refuses twice with no more left the second time: then it is a window, and all of it
    comes back at the reset.
    """

    def __init__(self) -> None:
        self._sent = Sent()
        self._limits: dict[str, _Limit] = {}
        self._windows: set[str] = set()  # limits that do not refill before their reset

    @property
    def known(self) -> bool:
        """Whether the host reports any limit."""
        return bool(self._limits)

    def wait(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens may be sent; not above 0 if it may be now."""
        believed = (limit for limit in self._limits.values() if now - limit.at < BELIEVED)
        waits = (limit.wait(SPARE * tokens if limit.tokens else 1.0, now) for limit in believed)
        return min(max(waits, default=0.0), BELIEVED)

    def sent(self, tokens: float) -> Sent:
        """A request is sent; returns what has been sent with it."""
        self._sent = Sent(self._sent.requests + 1, self._sent.tokens + tokens)
        for limit in self._limits.values():
            limit.left -= tokens if limit.tokens else 1.0
        return self._sent

    def reported(self, readings: Iterable[ReportedLimit], sent: Sent, now: float, refused: bool = False) -> None:
        """What the response to a request says. sent: as returned when it was sent; refused: it broke a limit."""
        for reading in readings:
            known = self._limits.get(reading.name)
            if known is not None and known.as_of > sent.requests:
                continue
            if refused and known is not None and known.refused is not None:
                at, left = known.refused
                if now - at > _APART and reading.remaining - left < known.refill * (now - at) / 10:
                    self._windows.add(reading.name)
            later = self._sent.tokens - sent.tokens if reading.tokens else self._sent.requests - sent.requests
            missing = max(reading.limit - reading.remaining, reading.limit / 1000, 1e-3)
            self._limits[reading.name] = _Limit(
                tokens=reading.tokens,
                most=max(reading.limit, 1.0),
                left=reading.remaining - later,
                refill=0.0 if reading.name in self._windows else missing / max(reading.reset, 1e-3),
                reset=now + reading.reset,
                at=now,
                as_of=sent.requests,
                refused=(now, reading.remaining) if refused else None,
            )
        self._limits = {name: limit for name, limit in self._limits.items() if now - limit.at <= _STALE}
