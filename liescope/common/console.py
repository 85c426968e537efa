"""The terminal: progress on standard error, results on standard output, long text in a pager; and signals that ask a
program to end: Ctrl-C, SIGTERM (kill, docker stop, Slurm) and SIGHUP (a closed terminal).
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any, TextIO

from rich.cells import cell_len
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
from rich.text import Text


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


_HANG = 2  # extra indentation of the continuation of a wrapped line, in columns
_NARROWEST = 20


def print_pages(lines: Iterable[Text]) -> None:
    """Print lines, wrapped at words to the width of the terminal (80 columns on a pipe), each with its indentation."""
    console = Console(highlight=False)
    os.environ.setdefault("LESS", "-RFX")  # colours shown, and no pager for what fits on the screen
    with console.pager(styles=True) if console.is_terminal else nullcontext():
        for line in lines:
            for part in hang(line, console):
                console.print(part, soft_wrap=True)


def hang(line: Text, console: Console) -> Iterator[Text]:
    """A line that is too long for the console, split into parts; all but the first are indented further.

    A word longer than a line is never split, and neither is a line with `no_wrap`, so that paths and commands can be
    copied.
    """
    for row in line.split("\n", allow_blank=True):
        indent = len(row.plain) - len(row.plain.lstrip(" "))
        width = max(console.width - indent - _HANG, _NARROWEST)
        breaks = [] if line.no_wrap or row.cell_len <= console.width else list(_breaks(row.plain, indent, width))
        for number, part in enumerate(row.divide(breaks)):
            part.rstrip()
            yield Text(" " * (indent + _HANG)) + part if number else part


def _breaks(words: str, start: int, width: int) -> Iterator[int]:
    """The offsets at which the line is broken."""
    column = 0
    for word in re.finditer(r"\S+\s*", words[start:]):
        if column and column + cell_len(word.group().rstrip()) > width:
            yield start + word.start()
            column = 0
        column += cell_len(word.group())


def heeded() -> tuple[signal.Signals, ...]:
    """The signals that this process does not ignore; under nohup it ignores SIGHUP."""
    asking = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    return tuple(each for each in asking if signal.getsignal(each) is not signal.SIG_IGN)


def end_by(number: int) -> BaseException:
    """What a program raises after tidying up because of a signal. Its exit code is 128 plus the signal's number."""
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)


def let_go_of_terminal() -> None:
    """After SIGHUP: discard output to the closed terminal, so that it raises no error."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (1, 2):
        try:
            os.ttyname(number)
        except OSError as error:
            if error.errno == errno.EIO:
                os.dup2(nowhere, number)
    os.close(nowhere)


def standard_input(what: str) -> TextIO:
    """Standard input; a person at a terminal is told that the program waits for input. what: is to be typed."""
    if sys.stdin.isatty():
        sys.stderr.write(f"reading {what} from standard input; Ctrl-D ends it\n")
        sys.stderr.flush()
    return sys.stdin


def let_interrupts_end_reads() -> None:
    """Let Ctrl-C end a wait for input even after polars has run: its SIGINT handler restarts interrupted reads."""
    signal.siginterrupt(signal.SIGINT, True)
