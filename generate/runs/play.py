"""`liescope.play`, and running any job from beginning to end with a live display.

Ctrl-C, SIGTERM or SIGHUP: requests under way may finish; a Ctrl-C after that ends the run at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from liescope.common.console import end_by, heeded, let_go_of_terminal
from liescope.common.errors import Interrupted
from liescope.common.settings import takes
from liescope.games.game_registry import find_game
from liescope.generate.players.player_protocol import Halt
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Job, Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import PlanSettings, plan_games, templates_for
from liescope.generate.runs.run_folder import RunConfig
from liescope.generate.runs.run_progress import RunProgress, live_display
from liescope.generate.runs.runner import run

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, repr=False)
class RunResult:
    """A run after `play` or `label`.

    folder: the run's folder; about: what was asked for, beginning with the run and the game; tally: counts for the
    whole run, its tokens, cost and failures; seconds: how long this call took; currency: the currency of the cost.
    """

    folder: Path
    about: Mapping[str, Any]
    tally: RunProgress
    seconds: float
    currency: str = "USD"

    @property
    def complete(self) -> bool:
        """Whether every planned game was played to the end."""
        return self.tally.done == self.tally.planned

    @cached_property
    def games(self) -> pl.DataFrame:
        """One row for each game that has ended: game_id, cell, status ("done" or "failed"), winner, failure, days."""
        import polars as pl

        texts = ("game_id", "cell", "status", "winner", "failure")
        schema = pl.Schema({**dict.fromkeys(texts, pl.String()), "days": pl.Int64()})
        with Journal.open(self.folder) as journal:
            ended = [(game, game.outcome) for game in journal.records()]
        rows = [
            (game.game_id, game.cell, game.status.value, end and end.winner, game.failure, end and end.days)
            for game, end in ended
        ]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def to_json(self) -> dict[str, Any]:
        """The summary as plain JSON data, as `--json` prints it."""
        tally = self.tally
        return dict(self.about) | {
            "games": {"planned": tally.planned, "done": tally.done, "failed": tally.failed, "before": tally.before},
            "winners": dict(sorted(tally.winners.items())),
            "calls": tally.calls,
            "from_cache": tally.from_cache,
            "tokens": tally.tokens,
            "cost": tally.cost,
            "currency": self.currency,
            "cached_tokens": sum(host.cached_tokens for host in tally.activity.hosts.values()),
            "saved": sum(host.saved for host in tally.activity.hosts.values()),
            "retries": dict(tally.activity.retries.most_common()),
            "unrated": tally.unrated,
            "silent": tally.silent,
            "notes": [note for host in tally.activity.hosts.values() for note in host.notes],
            "endpoints": [asdict(facts) | {"served_models": list(facts.served_models)} for facts in tally.endpoints],
            "seconds": round(self.seconds, 3),
            "fallbacks": dict(tally.fallbacks.most_common()),
            "failures": dict(tally.failures.most_common()),
            "stopped": None if tally.stop is None else str(tally.stop),
        }

    def __repr__(self) -> str:
        tally = self.tally
        failed = f", {tally.failed} failed" if tally.failed else ""
        return f"<RunResult {self.folder}: {tally.done} of {tally.planned} games of {self.about['game']} done{failed}>"


_STATE_EVERY = 2.0  # seconds between updates of the state in the run's folder


def run_job(
    job: Job, out: Path, limits: Limits, about: Mapping[str, Any], config: RunConfig, progress: bool
) -> RunResult:
    """Do the job in a run folder and write the config there. progress: show it on standard error.

    Also works inside a running event loop, as in a notebook.
    """
    started = time.monotonic()
    written = float("-inf")
    latest: RunProgress | None = None

    def last(tally: RunProgress) -> None:
        tally.stand(time.monotonic() - started, ended=True)
        tally.write(out)

    with live_display(config.command, progress) as show:

        def watch(tally: RunProgress) -> None:
            nonlocal written, latest
            latest = tally
            config.write(out)
            tally.command, tally.currency = config.command, limits.currency
            tally.stand(time.monotonic() - started)
            show(tally)
            if tally.seconds - written >= _STATE_EVERY:
                written = tally.seconds
                tally.write(out)

        def work(halt: Halt) -> Coroutine[Any, Any, RunProgress]:
            return run(job, out, limits, limits.retry_failed, watch, halt)

        try:
            tally = finish(work, progress)
        except (KeyboardInterrupt, SystemExit, Interrupted) as error:
            if latest is not None:  # cut off before it could report its end
                latest.stop = error if isinstance(error, Interrupted) else Interrupted("interrupted")
                last(latest)
            _say_how_to_resume(out, progress)
            raise end_by(error.number) if isinstance(error, Interrupted) else error from None
        last(tally)
    if isinstance(tally.stop, Interrupted):
        _say_how_to_resume(out, progress)
        raise end_by(tally.stop.number)
    return RunResult(out, about, tally, time.monotonic() - started, limits.currency)


def _say_how_to_resume(out: Path, wanted: bool) -> None:
    if wanted and out.exists():
        sys.stderr.write(f"\nstopped; run the same command again to go on with {out}\n")


class PlaySettings(PlanSettings, Limits):
    """What `play` takes, beside the options of the game."""


@takes(PlaySettings, others="options")
def play(game: str, *, out: str | os.PathLike[str], progress: bool = False, **settings: Any) -> RunResult:
    """Play games into a run folder, or resume the run in it.

    A run resumes with the version of its prompts that it started with, whatever the limits. See
    `liescope.generate.runs.plan_games` for who meets whom, `liescope.generate.players.reply_cache` for the cache.

    Parameters
    ----------
    game : str
        A name in `liescope.games.game_registry.GAMES`.
    out : str or path
        The run's folder.
    progress : bool
        Show a live display on standard error.
    **settings
    **options
        The game's own options, for example rounds=8 or assess=True (`PlayableGame.options`).

    Returns
    -------
    RunResult
        Whatever stopped the run early (a spent budget, a series of failures) is in its `tally.stop`.

    Raises
    ------
    UsageError
        For settings that do not fit together.
    PlanChanged
        If the folder holds a run with a different plan.
    EndpointRefused, EndpointSilent
        For a model that cannot be asked at the start.
    """
    played, folder = find_game(game), Path(out)
    own, options = PlaySettings.with_rest(settings)
    templates = templates_for(own.prompts, game, folder)
    plan = plan_games(played, own, options, templates)
    config = RunConfig("play", {"game": game, **own.model_dump(), **_listed(options)})
    about = {"run": str(folder), "game": plan.game, "plan": plan.hash[:8], "cells": len(plan.cells)}
    return run_job(Playing(plan, folder, templates), folder, own, about, config, progress)


def _listed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The game's options in the form of the command: names as one string, no limit as 0."""
    plain = {name: ",".join(value) if isinstance(value, list | tuple) else value for name, value in options.items()}
    return {name: 0 if name == "message_limit" and value is None else value for name, value in plain.items()}


# Ending early

DRAIN = 10.0  # seconds that requests under way have to finish after Ctrl-C
SHORT_DRAIN = 8.0  # and after another signal: docker stop kills 10 s after SIGTERM

T = TypeVar("T")


def finish(make: Callable[[Halt], Coroutine[Any, Any, T]], say: bool) -> T:
    """Run the coroutine from `make` to its end; it stops early when its Halt is set. say: inform the user on standard
    error.

    Also works inside a running event loop, as in a notebook. Raises what `end_by` gives if it was cut off:
    KeyboardInterrupt, or SystemExit.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(make, say)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_run, make, say).result()


def _run(make: Callable[[Halt], Coroutine[Any, Any, T]], say: bool) -> T:
    halt = Halt()
    try:
        return asyncio.run(_interruptible(make, halt, say))
    except asyncio.CancelledError:
        raise end_by(halt.error.number if isinstance(halt.error, Interrupted) else signal.SIGINT) from None


async def _interruptible(make: Callable[[Halt], Coroutine[Any, Any, T]], halt: Halt, say: bool) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def asked(number: signal.Signals) -> None:
        if number == signal.SIGHUP:
            let_go_of_terminal()
        if halt.error is not None:
            # unlike Ctrl-C, other signals often come twice: from the shell and from whatever ended it
            if number == signal.SIGINT:
                task.cancel()
            return
        stop = Interrupted("interrupted")
        stop.number = int(number)
        halt.set(stop)
        loop.call_later(DRAIN if number == signal.SIGINT else SHORT_DRAIN, task.cancel)
        if say:
            why, again = ("", " again") if number == signal.SIGINT else (f" ({number.name})", "")
            sys.stderr.write(f"\nstopping{why}: waiting for the requests under way; Ctrl-C{again} to stop at once\n")
            sys.stderr.flush()

    if threading.current_thread() is threading.main_thread():
        for number in heeded():
            loop.add_signal_handler(number, asked, number)
    return await make(halt)
