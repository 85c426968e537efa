"""The progress of a run whose workers each report their own."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

from liescope.generate.players.activity import HostActivity, Rate
from liescope.generate.runs.progress import RunProgress

_NUMBERS = ("done", "failed", "playing", "calls", "unrated", "retried", "tokens", "from_cache", "cost")
_COUNTERS = ("winners", "failures", "fallbacks")


class _Reported(Rate):
    """A rate measured elsewhere."""

    def __init__(self, per_second: float) -> None:
        super().__init__()
        self._reported = per_second

    @property
    def per_second(self) -> float:
        return self._reported


def report(progress: RunProgress) -> dict[str, Any]:
    """A worker's progress as plain JSON data."""
    numbers = {name: getattr(progress, name) for name in _NUMBERS}
    counters = {name: dict(getattr(progress, name)) for name in _COUNTERS}
    return {**numbers, **counters, "hosts": progress.activity.to_json()}


class Tally:
    """base: what the run had before, to which the reports of all workers are added."""

    def __init__(self, base: RunProgress) -> None:
        self.base = base
        self._reports: dict[str, dict[str, Any]] = {}

    def take(self, worker: str, given: dict[str, Any]) -> None:
        """The latest report of a worker."""
        self._reports[worker] = given

    def ended(self, worker: str) -> None:
        """A worker plays and asks no more; what it did stays counted."""
        if worker in self._reports:
            self._reports[worker]["playing"] = 0
            for host in self._reports[worker]["hosts"].values():
                host.update(under_way=0, queued=0, limit=None, per_second=0.0, waits=0.0, paused=False)

    def sum(self, into: RunProgress) -> None:
        """Bring the progress that is shown up to date."""
        for name in _NUMBERS:
            setattr(into, name, getattr(self.base, name) + sum(one[name] for one in self._reports.values()))
        for name in _COUNTERS:
            total = Counter[str](getattr(self.base, name))
            for one in self._reports.values():
                total.update(one[name])
            setattr(into, name, total)
        names = dict.fromkeys(name for one in self._reports.values() for name in one["hosts"])
        into.activity.hosts = {
            name: _host([one["hosts"][name] for one in self._reports.values() if name in one["hosts"]])
            for name in names
        }


def _host(parts: list[dict[str, Any]]) -> HostActivity:
    """What all workers together do at one host."""

    def total(name: str) -> Any:
        return sum(part[name] or 0 for part in parts)

    limits = [part["limit"] for part in parts if part["limit"] is not None]
    longest = max(parts, key=lambda part: part["waits"])
    return HostActivity(
        under_way=total("under_way"),
        queued=total("queued"),
        limit=sum(limits) if limits else None,
        answers=total("answers"),
        tokens=total("tokens"),
        cached=total("cached_tokens"),
        cost=total("cost"),
        saved=total("saved"),
        limited=total("limited"),
        retries=sum((Counter(part["retries"]) for part in parts), Counter[str]()),
        wait=(time.monotonic() + longest["waits"], longest["waits_because"]) if longest["waits"] else None,
        paused=all(part["paused"] for part in parts),
        rate=_Reported(total("per_second")),
    )
