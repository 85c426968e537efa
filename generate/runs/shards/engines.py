"""The engines by name: where the workers of a run are."""

from __future__ import annotations

from liescope.common.errors import UnknownName, UsageError
from liescope.generate.runs.shards.engine import Engine

LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)
MOST_WORKERS = 1024


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
