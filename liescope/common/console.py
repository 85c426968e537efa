"""Shared by all commands: progress on standard error, one JSON object on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)


class _Display(Progress):
    """Appears with the first update, so that an error found at the start stays one line on standard error."""

    def __enter__(self) -> _Display:
        return self

    def update(self, task_id: TaskID, **news: Any) -> None:
        if not self.live.is_started:
            self.start()
        super().update(task_id, **news)

    def stop(self) -> None:
        if self.live.is_started:
            super().stop()


def progress(shown: bool = True) -> Progress:
    """A progress display on standard error; use it as a context manager, add tasks and `update` them. shown: False
    prints nothing.
    """
    return _Display(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=False,
        disable=not shown,
    )


def emit(data: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output, for programs. NaN is not JSON: a missing value is None."""
    json.dump(data, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def put(line: str) -> None:
    """Print one line on standard output."""
    sys.stdout.write(f"{line}\n")
