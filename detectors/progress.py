"""Progress of a long action, shown on standard error if wanted: one line per task."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from liescope.detectors.protocol import Progress, silent


@contextmanager
def shown(wanted: bool) -> Iterator[Progress]:
    """Yield the function to report progress to."""
    if not wanted:
        yield silent
        return
    from liescope.common.console import progress

    with progress() as bars:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total, note="")
            bars.update(tasks[what], completed=done, total=total)

        yield show
