"""What every command shares: progress on standard error, one JSON object on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn


def progress() -> Progress:
    """A progress display on standard error; use it as a context manager and add tasks to it."""
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=False,
    )


def emit(data: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output, for programs. NaN is not JSON: a value that is not there is None."""
    json.dump(data, sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")
