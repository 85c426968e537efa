"""What is left of a host's limits a minute (requests, tokens), so that no request is sent that would break them.

A host reports what is left with each response. Between two reports, what is sent is taken off and what refills is
added. Requests that were sent after the reported one are taken off the report, since the host has not counted them yet.
A limit is taken to refill steadily (OpenAI, Groq, Anthropic), until a host refuses twice with no more left the second
time: then it is a window, and all of it comes back at the reset.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from liescope.generate.players.openai.headers import Reading

LONGEST = 60.0  # seconds that a report is believed without another
SPARE = 1.25  # times the estimated tokens must be left, since estimates are not exact
_APART = 0.4  # seconds between two refusals that tell a window
_STALE = 600.0  # seconds after which a limit that is no longer reported is forgotten


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
    """The limits of one host. Times are seconds, monotonic."""

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
        believed = (limit for limit in self._limits.values() if now - limit.at < LONGEST)
        waits = (limit.wait(SPARE * tokens if limit.tokens else 1.0, now) for limit in believed)
        return min(max(waits, default=0.0), LONGEST)

    def sent(self, tokens: float) -> Sent:
        """A request is sent; returns what has been sent with it."""
        self._sent = Sent(self._sent.requests + 1, self._sent.tokens + tokens)
        for limit in self._limits.values():
            limit.left -= tokens if limit.tokens else 1.0
        return self._sent

    def reported(self, readings: Iterable[Reading], sent: Sent, now: float, refused: bool = False) -> None:
        """What the response to a request says. sent: as returned when it was sent; refused: it broke a limit."""
        for reading in readings:
            known = self._limits.get(reading.name)
            if known is not None and known.as_of > sent.requests:
                continue
            before = None if known is None else known.refused
            if refused and before is not None and known is not None and now - before[0] > _APART:
                grown = known.refill * (now - before[0])
                if reading.remaining - before[1] < grown / 10:
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
        stale = [name for name, limit in self._limits.items() if now - limit.at > _STALE]
        for name in stale:
            del self._limits[name]
