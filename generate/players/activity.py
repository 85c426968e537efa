"""What goes on in a run right now, host by host: for the live display, `liescope status` and the log."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from liescope.generate.players.protocol import Attempt

_SPAN = 10.0  # seconds over which a rate is averaged


class Rate:
    """Events a second, averaged over the last seconds with weights that decay. clock: seconds, monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = self._at = clock()
        self._value = 0.0

    def add(self) -> None:
        """Count one event."""
        self._value = self._decayed() + 1 / _SPAN
        self._at = self._clock()

    @property
    def per_second(self) -> float:
        known = 1 - math.exp(-max(self._clock() - self._begun, 1.0) / _SPAN)  # less than the whole span has passed
        return self._decayed() / known

    def _decayed(self) -> float:
        return self._value * math.exp((self._at - self._clock()) / _SPAN)


@dataclass(slots=True)
class HostActivity:
    """One host, since this process began.

    under_way: requests sent but not yet answered; queued: requests that wait for their turn; limit: how many may be
    under way, as found so far; answers, tokens (prompts and completions), cached (prompt tokens), cost, saved (by the
    cached ones): of the requests that ended; limited: refusals because of a rate limit; retries: by reason, how many
    requests had to be sent again; wait: until when (`time.monotonic`) nothing is sent, and why; paused: whether the
    host is considered down.
    """

    under_way: int = 0
    queued: int = 0
    limit: int | None = None
    answers: int = 0
    tokens: int = 0
    cached: int = 0
    cost: float = 0.0
    saved: float = 0.0
    limited: int = 0
    retries: Counter[str] = field(default_factory=Counter)
    wait: tuple[float, str] | None = None
    paused: bool = False
    rate: Rate = field(default_factory=Rate)

    def count(self, attempt: Attempt) -> None:
        """Add a request that ended."""
        self.tokens += (attempt.prompt_tokens or 0) + (attempt.completion_tokens or 0)
        self.cached += attempt.cached_tokens or 0
        self.cost += attempt.cost or 0.0
        if not attempt.problem:
            self.answers += 1
            self.rate.add()

    def waiting(self, now: float) -> float:
        """Seconds for which nothing will be sent."""
        return 0.0 if self.wait is None else max(self.wait[0] - now, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data; waits in seconds from now."""
        seconds = self.waiting(time.monotonic())
        return {
            "under_way": self.under_way,
            "queued": self.queued,
            "limit": self.limit,
            "answers": self.answers,
            "per_second": round(self.rate.per_second, 3),
            "tokens": self.tokens,
            "cached_tokens": self.cached,
            "cost": self.cost,
            "saved": self.saved,
            "limited": self.limited,
            "retries": dict(self.retries.most_common()),
            "waits": round(seconds, 1),
            "waits_because": self.wait[1] if self.wait is not None and seconds else "",
            "paused": self.paused,
        }


def _silent(event: str, **facts: Any) -> None:
    """Say nothing; for players outside a run."""


@dataclass(slots=True)
class Activity:
    """hosts: by name, in the order of their first request; tell: called with what happens and its facts (plain JSON
    data, no secret), for the log of the run.
    """

    hosts: dict[str, HostActivity] = field(default_factory=dict)
    tell: Callable[..., None] = field(default=_silent, repr=False)

    def at(self, host: str) -> HostActivity:
        """The host's figures, made on first use."""
        return self.hosts.setdefault(host, HostActivity())

    def to_json(self) -> dict[str, dict[str, Any]]:
        """The figures of each host as plain JSON data."""
        return {name: host.to_json() for name, host in self.hosts.items()}

    @property
    def under_way(self) -> int:
        return sum(host.under_way for host in self.hosts.values())

    @property
    def retries(self) -> Counter[str]:
        """By reason, of all hosts."""
        return sum((host.retries for host in self.hosts.values()), Counter[str]())
