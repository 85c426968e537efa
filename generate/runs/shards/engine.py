"""Where workers run. A run gives a worker its orders and takes its news, whatever lies between them."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any, Protocol

from liescope.common import errors
from liescope.common.errors import LiescopeError, RunPaused, UnknownName, UsageError

LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)


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

    Raises UnknownName, MissingExtra, and UsageError for a cluster that cannot be reached.
    """
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    if name == RAY:
        from liescope.generate.runs.shards.ray_engine import RayEngine

        return RayEngine(workers)
    if workers is None or workers == 1:
        return None
    from liescope.generate.runs.shards.local import LocalEngine

    return LocalEngine(workers)


_BYTES = "base64"


def pack(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":"), default=_plain).encode()


def unpack(data: bytes) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(data, object_hook=_live)
    return message


def _plain(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} is no plain data")


def _live(value: dict[str, Any]) -> Any:
    return b64decode(value[_BYTES]) if value.keys() == {_BYTES} else value


def describe_error(error: LiescopeError) -> list[str]:
    return [type(error).__name__, str(error)]


def make_error(data: list[str]) -> LiescopeError:
    """The error again; one that takes more than a message becomes a plain UsageError."""
    kind, words = data
    found = getattr(errors, kind, None)
    if isinstance(found, type) and issubclass(found, LiescopeError) and "__init__" not in vars(found):
        return found(words)
    return UsageError(words)


def make_pause(data: list[str]) -> RunPaused:
    """The reason why a run is ending."""
    error = make_error(data)
    return error if isinstance(error, RunPaused) else RunPaused(str(error))
