"""What `play` and `label` share: a job done with a live display, and the printed summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from liescope.common.console import emit
from liescope.common.errors import Interrupted, UsageError
from liescope.common.pages import hang
from liescope.common.signals import end_by
from liescope.common.text import plain
from liescope.generate.players.shared import Halt
from liescope.generate.runs.config import RunConfig
from liescope.generate.runs.interrupt import finish
from liescope.generate.runs.job import Job
from liescope.generate.runs.limits import Limits
from liescope.generate.runs.live import live_display
from liescope.generate.runs.opening import BATCHES
from liescope.generate.runs.progress import RunProgress
from liescope.generate.runs.result import RunResult
from liescope.generate.runs.run_state import RunState, state_of
from liescope.generate.runs.runner import run
from liescope.generate.runs.shards.crew import run_sharded
from liescope.generate.runs.shards.engine import Engine

_STATE_EVERY = 2.0  # seconds between two states in the run's folder


def run_job(
    job: Job,
    out: Path,
    limits: Limits,
    retry_failed: bool,
    about: Mapping[str, Any],
    config: RunConfig,
    progress: bool,
    engine: Engine | None = None,
) -> RunResult:
    """Do the job in a run folder and write the config there. progress: show it on standard error; engine: where workers
    play, None for this process alone.

    Also works inside a running event loop, as in a notebook.
    """
    if engine is not None and limits.batch:
        raise UsageError("batches are made by one process; leave --workers out")
    if not limits.batch:
        _check_batches(out)
    started = time.monotonic()
    written = float("-inf")
    latest: RunProgress | None = None

    def state(tally: RunProgress, ended: bool = False) -> RunState:
        return state_of(tally, config.command, time.monotonic() - started, limits.currency, ended)

    with live_display(config.command, progress) as show:

        def watch(tally: RunProgress) -> None:
            nonlocal written, latest
            latest = tally
            config.write(out)
            now = state(tally)
            show(now)
            if now.seconds - written >= _STATE_EVERY:
                written = now.seconds
                now.write(out)

        def work(halt: Halt) -> Coroutine[Any, Any, RunProgress]:
            if engine is None:
                return run(job, out, limits, retry_failed, watch, halt)
            return run_sharded(job, out, limits, engine, retry_failed, watch, halt)

        try:
            tally = finish(work, progress)
        except (KeyboardInterrupt, SystemExit, Interrupted) as error:
            if latest is not None:  # cut off before it could report its end
                latest.stop = error if isinstance(error, Interrupted) else Interrupted("interrupted")
                state(latest, ended=True).write(out)
            _say_how_to_resume(out, progress)
            raise end_by(error.number) if isinstance(error, Interrupted) else error from None
        state(tally, ended=True).write(out)
    if isinstance(tally.stop, Interrupted):
        _say_how_to_resume(out, progress)
        raise end_by(tally.stop.number)
    return RunResult(out, about, tally, time.monotonic() - started, limits.currency)


def _check_batches(out: Path) -> None:
    """Raises UsageError if batches of the run have not ended: asking for the same would be paid twice."""
    folder = out / BATCHES
    if not folder.exists():
        return
    from liescope.generate.players.openai.batches.store import any_under_way

    if any_under_way(folder):
        raise UsageError(
            f"{out} has batches under way, which are paid for: add --batch to go on with them, or delete {folder} to "
            "ask again"
        )


def _say_how_to_resume(out: Path, wanted: bool) -> None:
    if wanted and out.exists():
        typer.echo(f"\nstopped; run the same command again to go on with {out}", err=True)


def summarise(result: RunResult, as_json: bool) -> None:
    """Print the state of the run, then raise whatever stopped it."""
    tally = result.tally
    if as_json:
        emit(result.to_json())
    else:
        _print(result.to_json())
    sys.stdout.flush()
    if tally.stop is not None:
        raise tally.stop
    if tally.failed:
        reason = tally.failures.most_common(1)[0][0]
        raise UsageError(
            f"the run is incomplete: {tally.failed} of {tally.planned} games failed, most of them because of "
            f"{plain(reason)}; solve that, then run the same command with --retry-failed"
        )


def _print(summary: dict[str, Any]) -> None:
    games = summary["games"]
    earlier = f", {games['before']} of them earlier" if games["before"] else ""
    game = "game" if games["planned"] == 1 else "games"
    _say(f"{games['done']} of {games['planned']} {game} of {summary['game']} done{earlier}; {games['failed']} failed.")
    _say(f"Wins: {', '.join(f'{team} {count}' for team, count in summary['winners'].items()) or 'none'}.")
    cost = f", {summary['cost']:.4f} {summary['currency']}" if summary["cost"] else ""
    _say(f"{summary['calls']:,} replies in {summary['seconds']:.1f} s; {summary['tokens']:,} tokens in all{cost}.")
    if summary["from_cache"]:
        _say(f"{summary['from_cache']} of the replies were in the cache and cost nothing.")
    if summary["cached_tokens"]:
        saved = f" and saved {summary['saved']:.4f} {summary['currency']}" if summary["saved"] else ""
        _say(f"{summary['cached_tokens']:,} tokens of prompts were in the endpoints' caches{saved}.")
    if summary["retries"]:
        retries = ", ".join(f"{count} × {plain(reason)}" for reason, count in summary["retries"].items())
        _say(f"Requests that had to be sent again: {retries}.")
    if summary["unrated"]:
        _say(f"Assessments that could not be had (null, with the reason): {summary['unrated']}.")
    for facts in summary["endpoints"]:
        if facts["json"] is not None:
            takes = "takes no JSON schemas" if facts["json"] == "none" else f"takes JSON ({facts['json']})"
            _say(f"{plain(facts['model'])} at {plain(facts['host'])} {takes}.")
    _print_kinds(summary["kinds"])
    if summary["fallbacks"]:
        counts = ", ".join(f"{plain(model)} {count}" for model, count in summary["fallbacks"].items())
        _say(f"Fallbacks (unusable replies that the rules had to replace): {counts}.")
    for reason, count in list(summary["failures"].items())[:5]:
        _say(f"Failed {count} times: {plain(reason)}")
    _say(f"The run is in {summary['run']}; look at it with:")
    typer.echo(f"liescope show {summary['run']}")


def _say(line: str) -> None:
    """Print a sentence, wrapped at words to the terminal's width."""
    for part in hang(Text(line), Console(highlight=False)):
        typer.echo(part.plain)


def _print_kinds(kinds: dict[str, dict[str, float | None]]) -> None:
    """At most 80 columns: the kinds have at most 20."""
    if not kinds:
        return
    counted = any(row["prompt_tokens_per_game"] is not None for row in kinds.values())
    head = ["calls", *(["prompt tokens", "cached", "completion"] if counted else [])]
    typer.echo(f"{'per game, by kind':20}" + "".join(f"{name:>15}" for name in head))
    total = [0.0] * len(head)
    for kind, row in kinds.items():
        values = list(row.values())[: len(head)]
        total = [sum_ + (value or 0.0) for sum_, value in zip(total, values, strict=True)]
        typer.echo(f"{kind:20}" + "".join(f"{'–' if value is None else f'{value:,.1f}':>15}" for value in values))
    typer.echo(f"{'all':20}" + "".join(f"{value:>15,.1f}" for value in total))
