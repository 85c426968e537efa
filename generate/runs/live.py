"""The progress of a run, live on standard error: a bar and a few lines on a terminal, an occasional line on a
pipe.

Everything fits in 80 columns; longer lines are cut.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from liescope.common.text import plain
from liescope.generate.runs.runner import RunProgress

WIDTH = 80
PIPE_EVERY = 15.0  # seconds between two lines on a pipe
_REASONS = 3
_HOSTS, _NAME = 6, 28  # hosts shown, and characters of a host's name

Show = Callable[[RunProgress, float], None]


@contextmanager
def live_display(doing: str, currency: str, wanted: bool) -> Iterator[Show]:
    """A function that shows the progress of a run after a number of seconds; it does nothing if no display is wanted.

    Nothing is shown before the first call, so an error found at the start is only one line.
    """
    if not wanted:
        yield lambda _progress, _seconds: None
        return
    console = Console(stderr=True)
    display = _Terminal(doing, currency, console) if console.is_terminal else _Pipe(doing, currency)
    try:
        yield display.show
    finally:
        display.close()


class _Terminal:
    def __init__(self, doing: str, currency: str, console: Console) -> None:
        self._currency = currency
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("games  {task.fields[clock]}"),
            console=console,
        )
        self._task = self._bar.add_task(doing, total=None, clock="")
        self._live = Live(self._bar, console=console, refresh_per_second=8)

    def show(self, progress: RunProgress, seconds: float) -> None:
        ended = progress.done + progress.failed
        self._bar.update(self._task, total=progress.planned, completed=ended, clock=clock(progress, seconds))
        lines = [
            Text(f"  {line}", no_wrap=True, overflow="ellipsis") for line in state(progress, seconds, self._currency)
        ]
        self._live.update(Group(self._bar, *lines))
        if not self._live.is_started:
            self._live.start()

    def close(self) -> None:
        if self._live.is_started:
            self._live.stop()


class _Pipe:
    """Lines for a log file. The last state is always written."""

    def __init__(self, doing: str, currency: str) -> None:
        self._doing, self._currency = doing, currency
        self._next = PIPE_EVERY
        self._last: tuple[RunProgress, float] | None = None

    def show(self, progress: RunProgress, seconds: float) -> None:
        self._last = (progress, seconds)
        if seconds >= self._next:
            self._next = seconds + PIPE_EVERY
            self._write()

    def close(self) -> None:
        if self._last is not None:
            self._write()

    def _write(self) -> None:
        assert self._last is not None
        progress, seconds = self._last
        head = f"{self._doing} {progress.done + progress.failed}/{progress.planned} games  {clock(progress, seconds)}"
        for line in (head, *(f"  {line}" for line in state(progress, seconds, self._currency))):
            sys.stderr.write(f"{_cut(line)}\n")
        sys.stderr.flush()


def clock(progress: RunProgress, seconds: float) -> str:
    """The elapsed time, and an estimate of the time left from the games that have ended since the start."""
    ended = progress.done + progress.failed
    left = ""
    if ended > progress.before and ended < progress.planned:
        left = f", about {_span(seconds / (ended - progress.before) * (progress.planned - ended))} left"
    return f"{_span(seconds)}{left}"


def state(progress: RunProgress, seconds: float, currency: str) -> Iterator[str]:
    """Lines about what is under way, its cost so far, each host, and what the run is waiting for."""
    activity = progress.activity
    parts = [f"{_count(progress.playing, 'game')}, {_count(activity.under_way, 'request')} under way"]
    parts.append(f"{progress.calls / max(seconds, 1e-6):,.1f} replies/s")
    parts += [f"{progress.failed:,} failed"] if progress.failed else []
    yield "  ".join(parts)
    spent = [f"{progress.tokens:,} tokens"]
    spent += [f"{progress.cost:,.2f} {currency}"] if progress.cost else []
    spent += [f"{progress.unrated:,} ratings not had"] if progress.unrated else []
    yield "  ".join(spent)
    yield from host_lines(activity.to_json(), WIDTH - 2)
    if activity.retries:
        yield _cut(f"sent again: {_counts(activity.retries)}", WIDTH - 2)
    if progress.fallbacks:
        yield _cut(f"fallbacks: {_counts(progress.fallbacks)}", WIDTH - 2)


def host_lines(hosts: Mapping[str, Mapping[str, Any]], width: int) -> Iterator[str]:
    """A line for each host, the busiest first, and one for each that is being waited for. hosts: as
    `Activity.to_json`.
    """
    busiest = sorted(hosts.items(), key=lambda one: (-one[1]["under_way"], one[0]))
    for name, host in busiest[:_HOSTS]:
        limit = "" if host["limit"] is None else f"/{host['limit']:,}"
        name = _cut(plain(name), _NAME)
        parts = [f"{name}: {host['under_way']:,}{limit} under way", f"{host['per_second']:,.1f}/s"]
        parts.append(f"{_short(host['tokens'])} tokens")
        parts += [f"{_short(host['cached_tokens'])} cached"] if host["cached_tokens"] else []
        parts += [f"{host['limited']:,} × 429"] if host["limited"] else []
        yield _cut("  ".join(parts), width)
        if host["waits"]:
            doing = "is down, tried again in" if host["paused"] else "waits"
            yield _cut(f"{name} {doing} {host['waits']:.0f} s: {plain(host['waits_because'])}", width)
    if len(busiest) > _HOSTS:
        yield f"and {_count(len(busiest) - _HOSTS, 'more host')}"


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} × {plain(reason)}" for reason, count in counts.most_common(_REASONS))


def _short(number: float) -> str:
    """A large number in few characters."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def _cut(line: str, width: int = WIDTH) -> str:
    return line if len(line) <= width else line[: width - 1] + "…"
