"""How far a run has got: the counts of its process, as `status.json` holds them, and live on standard error.

The display is a bar and a few lines on a terminal, an occasional line on a pipe. Everything fits in 80 columns; longer
lines are cut.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, InstanceOf, NonNegativeFloat, NonNegativeInt, TypeAdapter
from rich.console import Console
from rich.live import Live
from rich.text import Text

from liescope.common.errors import LiescopeError
from liescope.common.reading import LARGEST_TEXT, read_json
from liescope.common.stores import Address, address_of, local
from liescope.common.text import cut, number_of, plain, unit_of
from liescope.games.core import EventKind, Phase
from liescope.games.record import GameRecord, Status
from liescope.generate.players.player_protocol import Activity, EndpointFacts
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import write_whole

STATE_FILE = "status.json"


class HostState(BaseModel):
    """One endpoint's host; the fields are those of `HostActivity`."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False, from_attributes=True)

    under_way: NonNegativeInt
    limit: NonNegativeInt | None
    answers: NonNegativeInt
    per_second: NonNegativeFloat
    tokens: NonNegativeInt
    cached_tokens: NonNegativeInt
    cost: NonNegativeFloat
    limited: NonNegativeInt
    retries: Counter[str]
    waits: NonNegativeFloat
    waits_because: str
    paused: bool
    notes: tuple[str, ...] = ()


class RunProgress(BaseModel):
    """How far a run has got, as its process counts it and `status.json` holds it.

    command: "play", "label" or "fork"; at: when this was written, seconds since 1970 (UTC); seconds: since the process
    began; ended: whether it has ended; stopped: why it ended early, or "". done, failed, winners, failures (by reason),
    fallbacks (by model), tokens and cost cover the whole run; silent: games done with a seat, of a model, none of whose
    replies could be used, which count as won by nobody; before: the games that had ended earlier; playing: games
    under way; calls: replies since this process began; from_cache: how many of the replies were in the cache; unrated:
    measurements that could not be obtained since then.

    The remaining fields stay in the process. endpoints: what is known about them, set only at the end. activity: what
    goes on at each host. rated: whether games are asked about after they were played, in which case only those replies
    count. stop: why the run ended early.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    command: str = ""
    at: NonNegativeFloat = 0.0
    seconds: NonNegativeFloat = 0.0
    ended: bool = False
    stopped: str = ""
    currency: str = "USD"
    planned: NonNegativeInt
    done: NonNegativeInt = 0
    failed: NonNegativeInt = 0
    before: NonNegativeInt = 0
    playing: NonNegativeInt = 0
    calls: NonNegativeInt = 0
    from_cache: NonNegativeInt = 0
    unrated: NonNegativeInt = 0
    silent: NonNegativeInt = 0
    tokens: NonNegativeInt = 0
    cost: NonNegativeFloat = 0.0
    winners: Counter[str] = Field(default_factory=Counter)
    failures: Counter[str] = Field(default_factory=Counter)
    fallbacks: Counter[str] = Field(default_factory=Counter)
    hosts: dict[str, HostState] = Field(default_factory=dict)
    endpoints: tuple[EndpointFacts, ...] = Field(default=(), exclude=True)
    activity: InstanceOf[Activity] = Field(default_factory=Activity, exclude=True)
    rated: bool = Field(default=False, exclude=True)
    stop: InstanceOf[LiescopeError] | None = Field(default=None, exclude=True)

    def add(self, game: GameRecord) -> None:
        """Count a game that ended."""
        if game.status is Status.DONE and game.outcome is not None:
            self.done += 1
            if "silent" in game.meta:
                self.silent += 1
            else:
                self.winners[game.outcome.winner] += 1
        else:
            self.failed += 1
            self.failures[game.failure] += 1
        self.fallbacks.update(_replaced(game, self.rated))

    def take_back(self, game: GameRecord) -> None:
        """Undo the counting of a failed game that is being retried."""
        self.failed -= 1
        self.failures = self.failures - Counter([game.failure])
        self.fallbacks = self.fallbacks - _replaced(game, self.rated)

    @property
    def left(self) -> float | None:
        """Estimated seconds until all games have ended, from those that did since the start; None before the first."""
        ended = self.done + self.failed
        if ended <= self.before or ended >= self.planned:
            return None
        return self.seconds / (ended - self.before) * (self.planned - ended)

    def stand(self, seconds: float, ended: bool = False) -> None:
        """Update the figures of the process and its hosts."""
        self.at, self.seconds, self.ended = time.time(), seconds, ended
        self.stopped = "" if self.stop is None else str(self.stop)
        self.hosts = {name: HostState.model_validate(host) for name, host in self.activity.hosts.items()}

    def write(self, folder: Path) -> None:
        """Replace the state in a run's folder; without space for it the run goes on."""
        with suppress(OSError):
            write_whole(folder / STATE_FILE, self.model_dump_json(indent=1) + "\n")


def _replaced(game: GameRecord, rated: bool) -> Counter[str]:
    """The number of unusable replies by model: from the players or, in a rated game, from whoever was asked for the
    ratings. An explained vote is one reply, though it becomes a vote and a silence.
    """
    models, replies = {seat.name: seat.model for seat in game.seats}, {}
    for event in game.events:
        if event.fallback and event.actor and ("judge" in event.data) == rated:
            silent_vote = event.phase is Phase.VOTING and event.kind is EventKind.SILENCE
            kind = EventKind.VOTE if silent_vote else event.kind
            at = event.actor, event.day, event.phase, event.round, event.about, kind
            replies[at] = event.data.get("judge")
    return Counter(rater or models[actor] for (actor, *_), rater in replies.items())


_STATE = TypeAdapter(RunProgress)


def read_state(folder: Path) -> RunProgress | None:
    """The last state written into a run's folder; None if there is none. Raises BadData for a damaged file."""
    file = folder / STATE_FILE
    return read_json(file, _STATE, LARGEST_TEXT, "delete it, the run loses nothing") if file.exists() else None


WIDTH = 80
PIPE_EVERY = 15.0  # seconds between two lines on a pipe
_REASONS = 3
_HOSTS, _NAME = 6, 28  # hosts shown, and letters of a host's name
_BAR = 20

Show = Callable[[RunProgress], None]


@contextmanager
def live_display(doing: str, wanted: bool) -> Iterator[Show]:
    """A function that shows the state of a run; it does nothing if no display is wanted.

    Nothing is shown before the first call, so an error found at the start is only one line.
    """
    if not wanted:
        yield lambda _state: None
        return
    console = Console(stderr=True)
    live = Live(console=console, refresh_per_second=8) if console.is_terminal else None
    last: RunProgress | None = None
    due = PIPE_EVERY

    def show(state: RunProgress) -> None:
        nonlocal last, due
        last = state
        if live is not None:
            live.update(Text("\n".join(_frame(doing, state, _BAR)), no_wrap=True, overflow="ellipsis"))
            live.start()
        elif state.seconds >= due:
            due = state.seconds + PIPE_EVERY
            _write(_frame(doing, state))

    try:
        yield show
    finally:
        if live is not None:
            live.stop()
        elif last is not None:  # the last state is always in the log file
            _write(_frame(doing, last))


def _frame(doing: str, state: RunProgress, wide: int = 0) -> list[str]:
    """The display of a run, below a bar of this width."""
    ended = state.done + state.failed
    full = wide * ended // max(state.planned, 1)
    bar = f" {'━' * full}{'╌' * (wide - full)}" if wide else ""
    head = f"{doing}{bar} {ended}/{state.planned} games  {clock(state)}"
    return [head, *(f"  {line}" for line in state_lines(state))]


def _write(lines: Sequence[str]) -> None:
    sys.stderr.writelines(f"{cut(line, WIDTH)}\n" for line in lines)
    sys.stderr.flush()


def clock(state: RunProgress) -> str:
    """The elapsed time, and an estimate of the time left."""
    left = "" if state.left is None else f", about {span(state.left)} left"
    return f"{span(state.seconds)}{left}"


def state_lines(state: RunProgress) -> Iterator[str]:
    """Lines about a run that goes on: what is under way, its cost so far, each host, and what it is waiting for."""
    under_way = sum(host.under_way for host in state.hosts.values())
    parts = [f"{number_of(state.playing, 'game')}, {number_of(under_way, 'request')} under way"]
    parts.append(f"{number_of(state.calls, 'reply', 'replies')}, {state.calls / max(state.seconds, 1e-6):,.1f}/s")
    parts += [f"{state.from_cache:,} of them from the cache"] if state.from_cache else []
    parts += [f"{state.failed:,} failed"] if state.failed else []
    yield "  ".join(parts)
    yield "  ".join([f"{state.tokens:,} tokens", *_spent(state)])
    yield from _hosts(state.hosts, live=True)
    yield from _trouble(state)


def _spent(state: RunProgress) -> Iterator[str]:
    """What a run has cost besides tokens, and what it failed to get."""
    if state.cost:
        yield f"{state.cost:,.{2 if state.cost >= 1 else 4}f} {state.currency}"
    if state.unrated:
        yield f"{state.unrated:,} ratings missing"


def _trouble(state: RunProgress) -> Iterator[str]:
    if retries := sum((host.retries for host in state.hosts.values()), Counter[str]()):
        yield cut(f"sent again: {_counts(retries)}", WIDTH - 2)
    if state.fallbacks:
        yield cut(f"fallbacks: {_counts(state.fallbacks)}", WIDTH - 2)
    for host in state.hosts.values():
        yield from (cut(plain(note), WIDTH - 2) for note in host.notes)


def _hosts(hosts: Mapping[str, HostState], live: bool) -> Iterator[str]:
    """A line for each host, the busiest first, and one for each that is being waited for."""
    busiest = sorted(hosts.items(), key=lambda one: (-one[1].under_way, one[0]))
    for name, host in busiest[:_HOSTS]:
        shown = cut(plain(name), _NAME)
        limit = "" if host.limit is None else f"/{host.limit:,}"
        parts = [f"{host.under_way:,}{limit} under way", f"{host.per_second:,.1f}/s"] if live else []
        parts.append(f"{_short(host.tokens)} tokens")
        parts += [f"{_short(host.cached_tokens)} cached"] if host.cached_tokens else []
        parts += [f"{host.limited:,} × 429"] if host.limited else []
        yield cut(f"{shown}: {'  '.join(parts)}", WIDTH - 2)
        if host.waits and live:
            doing = "is down, tried again in" if host.paused else "waits"
            yield cut(f"{shown} {doing} {host.waits:.0f} s: {plain(host.waits_because)}", WIDTH - 2)
    if len(busiest) > _HOSTS:
        yield f"and {number_of(len(busiest) - _HOSTS, 'more host')}"


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} × {plain(reason)}" for reason, number in counts.most_common(_REASONS))


def span(seconds: float) -> str:
    """A time as h:mm:ss or m:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def _short(number: float) -> str:
    """A large number in few characters."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


SILENT = 15.0  # after so many seconds without a new state, the process is taken for dead


@dataclass(frozen=True, slots=True)
class RunStatus:
    """The state of a run. planned, done, failed: games, from the journal; begun: games with replies that have not
    ended; replies: of the whole run; tokens: spent on them, None where nothing counted any; imported: the format that
    its games came in, "" for those played here; state: what the last process to work on the run wrote, None if none
    did; age: seconds since then.
    """

    folder: Path
    planned: int
    done: int
    failed: int
    begun: int
    replies: int
    tokens: int | None
    imported: str
    state: RunProgress | None
    age: float

    @property
    def running(self) -> bool:
        """Whether a process seems to be working on the run."""
        return self.state is not None and not self.state.ended and self.age < SILENT

    def __repr__(self) -> str:
        doing = "running" if self.running else "not running"
        return f"<RunStatus {self.folder}: {self.done} of {self.planned} games done, {doing}>"

    def to_json(self) -> dict[str, Any]:
        return {
            "run": str(self.folder),
            "running": self.running,
            "games": {"planned": self.planned, "done": self.done, "failed": self.failed, "begun": self.begun},
            "replies": self.replies,
            "tokens": self.tokens,
            "state": None if self.state is None else self.state.model_dump(mode="json"),
            "seconds_left": self.state.left if self.state is not None and self.running else None,
            "age": round(self.age, 1),
        }

    def lines(self) -> Iterator[str]:
        """For a terminal of 80 columns."""
        yield f"{plain(str(self.folder))}: {self._doing()}"
        if self.imported:
            yield number_of(self.planned, unit_of([self.imported]))
            return
        parts = [f"{self.done:,} of {number_of(self.planned, 'game')} done"]
        parts += [f"{self.failed:,} failed"] if self.failed else []
        parts += [f"{self.begun:,} begun"] if self.begun or self.running else []
        yield ", ".join(parts)
        if self.state is None or not self.running:
            yield from self._at_rest()
        else:
            yield from state_lines(self.state)
        for reason, times in self.state.failures.most_common(_REASONS) if self.state else ():
            yield f"failed {times:,} × {plain(reason)}"

    def _at_rest(self) -> Iterator[str]:
        """The totals of the whole run, of which the last process may have done little."""
        yield number_of(self.replies, "reply", "replies")
        spent = [] if self.tokens is None else [f"{self.tokens:,} tokens"]
        spent += _spent(self.state) if self.state else []
        if spent:
            yield "  ".join(spent)
        if self.state is not None:
            yield from _hosts(self.state.hosts, live=False)
            yield from _trouble(self.state)

    def _doing(self) -> str:
        state = self.state
        if self.imported:
            return f"imported ({plain(self.imported)})"
        if state is None:
            return "no process has said anything of it"
        if self.running:
            left = "" if state.left is None else f", about {span(state.left)} left"
            return f"{plain(state.command)} has been running for {span(state.seconds)}{left}"
        if not state.ended:
            return f"{plain(state.command)} was cut off {span(self.age)} ago; run the same command to go on"
        why = f": {plain(state.stopped)}" if state.stopped else ""
        return f"{plain(state.command)} ended {span(self.age)} ago{why}"


def status(run: str | os.PathLike[str]) -> RunStatus:
    """What a run is doing now, read from its folder without disturbing the process at work on it.

    Raises BadData for a folder without a run, or one that is damaged.
    """
    folder = local(run)
    state = read_state(folder)
    with Journal.open(folder, checked=True) as journal:
        counts = journal.counts()
        begun = len(journal.begun())
        planned = journal.planned() or (0 if state is None else state.planned)
        replies, tokens = journal.totals()
        imported = str(journal.plan.get("import", ""))
    done, failed = (counts.get(one.value, 0) for one in (Status.DONE, Status.FAILED))
    age = 0.0 if state is None else max(time.time() - state.at, 0.0)
    planned = max(planned, done + failed)
    return RunStatus(
        Address(run) if address_of(run) else folder, planned, done, failed, begun, replies, tokens, imported, state, age
    )
