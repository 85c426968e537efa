"""Where workers run. A run gives a worker its orders and takes its news, whatever lies between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol


class WorkerDied(Exception):
    """A worker ended without saying how; the message says what is known."""


class Worker(Protocol):
    """One worker that was started."""

    async def exchange(self, orders: dict[str, Any]) -> dict[str, Any]:
        """Give orders, take the news (`Session.exchange`). Raises WorkerDied."""
        ...

    async def close(self, kill: bool = False) -> None:
        """End the worker and wait until it has ended. kill: at once."""
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
