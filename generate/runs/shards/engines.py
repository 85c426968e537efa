"""The engines by name."""

from __future__ import annotations

from liescope.common.errors import UnknownName, UsageError
from liescope.generate.runs.shards.engine import Engine

ENGINES = ("local",)
MOST_WORKERS = 1024


def open_engine(name: str = "local", workers: int | None = None) -> Engine | None:
    """The engine of that name; None if this process alone is to do the work. Raises UnknownName, UsageError."""
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise UsageError(f"--workers is a number from 1 to {MOST_WORKERS:,}; {workers} is none")
    if workers in (None, 1):
        return None
    from liescope.generate.runs.shards.local import LocalEngine

    assert workers is not None
    return LocalEngine(workers)
