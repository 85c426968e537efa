"""Runs commands of Liescope in this process, always in the same surroundings: the one place where the goldens meet
the code.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from liescope.cli import main

WIDTH = 80
_UNSET = ("TERMINAL_WIDTH", "FORCE_COLOR", "NO_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "LINES", "LIESCOPE_CURRENCY")
_SET = {"COLUMNS": str(WIDTH), "TZ": "UTC", "OPENAI_API_KEY": "sk-none", "HF_HUB_OFFLINE": "1", "TERM": "dumb"}
_ANSI = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@contextmanager
def surroundings(folder: Path) -> Iterator[None]:
    """In that folder, with a terminal of 80 columns, in UTC, with a cache of its own."""
    changed = {**_SET, "XDG_CACHE_HOME": str(folder / "cache"), **dict.fromkeys(_UNSET)}
    before = {name: os.environ.get(name) for name in changed}
    _put(changed)
    time.tzset()
    try:
        with chdir(folder):
            yield
    finally:
        _put(before)
        time.tzset()


def _put(values: dict[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def command(folder: Path, *words: str, code: int = 0) -> str:
    """What `liescope WORDS` prints on standard output when run in that folder. It must end with this exit code."""
    ended, out, error = _run(folder, words)
    assert ended == code, f"liescope {' '.join(words)} ended with {ended}: {error[-1500:]}"
    return out


def refused(folder: Path, *words: str) -> str:
    """The last line of standard error of a command that fails, with its exit code."""
    ended, out, error = _run(folder, words)
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    return f"{ended}: {lines[-1] if lines else out.strip()}"


def _run(folder: Path, words: Sequence[str]) -> tuple[int, str, str]:
    out, error = io.StringIO(), io.StringIO()
    with surroundings(folder), redirect_stdout(out), redirect_stderr(error):
        try:
            ended = main(words)
        except SystemExit as stopped:
            ended = int(stopped.code or 0)
    return ended, _ANSI.sub("", out.getvalue()), _ANSI.sub("", error.getvalue())
