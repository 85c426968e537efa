"""`liescope.status`: what a run is doing, read from another process while it goes on.

The process that works on a run writes its state into the run's folder every few seconds. Games that have ended are
counted in the journal itself, which is right even after a process was killed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liescope.common.text import plain
from liescope.games.record import Status
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.live import count, span, state_lines
from liescope.generate.runs.progress import RunState, read_state

SILENT = 15.0  # seconds without a new state after which the process is taken for dead


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run as it stands. planned, done, failed: games, from the journal; begun: games with replies that have not
    ended; state: what the last process to work on the run wrote, None if none did; age: seconds since then.
    """

    folder: Path
    planned: int
    done: int
    failed: int
    begun: int
    state: RunState | None
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
            "state": None if self.state is None else self.state.model_dump(mode="json"),
            "seconds_left": self.state.left if self.state is not None and self.running else None,
            "age": round(self.age, 1),
        }

    def lines(self) -> Iterator[str]:
        """For a terminal of 80 columns."""
        yield f"{plain(str(self.folder))}: {self._doing()}"
        failed = f", {self.failed:,} failed" if self.failed else ""
        yield f"{self.done:,} of {count(self.planned, 'game')} done{failed}, {self.begun:,} begun"
        if self.state is not None:
            yield from state_lines(self.state, live=self.running)
            for reason, times in list(self.state.failures.items())[:3]:
                yield f"failed {times:,} × {plain(reason)}"

    def _doing(self) -> str:
        state = self.state
        if state is None:
            return "no process has left its state here"
        if self.running:
            left = "" if state.left is None else f", about {span(state.left)} left"
            return f"{plain(state.command)} runs since {span(state.seconds)}{left}"
        if not state.ended:
            return f"{plain(state.command)} was cut off {span(self.age)} ago; the same command goes on"
        why = f": {plain(state.stopped)}" if state.stopped else ""
        return f"{plain(state.command)} ended {span(self.age)} ago{why}"


def status(run: str | os.PathLike[str]) -> RunStatus:
    """What a run is doing now, read from its folder while another process goes on with it, at no cost to that process.

    Raises BadData for a folder without a run, or one that is damaged.
    """
    folder = Path(run)
    state = read_state(folder)
    with Journal.open(folder, checked=True) as journal:
        counts = journal.counts()
        begun = len(journal.begun())
        planned = journal.planned() or (0 if state is None else state.planned)
    done, failed = (counts.get(one.value, 0) for one in (Status.DONE, Status.FAILED))
    age = 0.0 if state is None else max(time.time() - state.at, 0.0)
    return RunStatus(folder, max(planned, done + failed), done, failed, begun, state, age)
