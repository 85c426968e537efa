"""Where workers run. A run gives a worker its orders and takes its news, whatever lies between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from liescope.common.errors import UnknownName, UsageError

LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)
MOST_WORKERS = 1024


class WorkerDied(Exception):
    """A worker ended without saying how; the message says what is known."""


class Worker(Protocol):
    """One worker that was started."""

    async def exchange(self, orders: dict[str, Any]) -> dict[str, Any]:
        """Give orders, take the news (`Session.exchange`). Raises WorkerDied."""
        ...

    async def close(self) -> None:
        """Let go of a worker that has told how it ended; its shard is deleted."""
        ...

    async def kill(self) -> dict[str, Any]:
        """End the worker at once; returns the pieces and books that its shard holds, as far as they can be had."""
        ...


class Engine(Protocol):
    """workers: how many are wanted."""

    workers: int

    async def start(self, config: dict[str, Any], folder: Path) -> Worker:
        """A new worker. config: as in `Session`, without its folder; folder: where a shard on this machine may be.

        Raises UsageError if none can be started.
        """
        ...

    async def close(self) -> None: ...


def open_engine(name: str, workers: int | None) -> Engine | None:
    """The engine of that name; None if this process alone is to do the work. workers: by default one for `local`, one
    on each node for `ray`.

    Raises UnknownName, MissingExtra, and UsageError for a number out of range or a cluster that cannot be reached.
    """
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"--workers is a number from 1 to {MOST_WORKERS:,}; {workers} is none")
    if name == RAY:
        from liescope.generate.runs.shards.ray_engine import RayEngine

        return RayEngine(workers)
    if workers is None or workers == 1:
        return None
    from liescope.generate.runs.shards.local import LocalEngine

    return LocalEngine(workers)
