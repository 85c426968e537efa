"""Progress of a long action, shown on standard error if wanted: one line per task, with an estimate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from liescope.detectors.detector import Progress, silent


def remaining(seconds: float, done: int, total: int) -> str:
    """How long the rest will take at the pace so far, in words; "" while that cannot be told, or for the last half
    minute. seconds: spent on the work so far.
    """
    left = seconds / done * (total - done) if done else 0.0
    return f"about {left / 60:.0f} min left" if left > 30 else ""


@contextmanager
def shown(wanted: bool) -> Iterator[Progress]:
    """Yield the function to report progress to."""
    if not wanted:
        yield silent
        return
    from liescope.common.console import progress

    with progress() as bars:
        tasks: dict[str, Any] = {}
        began: dict[str, float] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what], began[what] = bars.add_task(what, total=total, note=""), time.monotonic()
            left = remaining(time.monotonic() - began[what], done, total)
            bars.update(tasks[what], completed=done, total=total, note=left)

        yield show
