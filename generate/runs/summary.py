"""What `play` and `label` share: limits from options, a job done with progress, and the printed summary."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from liescope.common.console import emit, progress
from liescope.common.errors import UsageError
from liescope.common.text import plain
from liescope.generate.players.protocol import Price
from liescope.generate.runs.config import RunConfig
from liescope.generate.runs.job import G, Job
from liescope.generate.runs.result import RunResult
from liescope.generate.runs.runner import Limits, RunProgress, run


def limits_of(
    concurrency: int,
    timeout: float,
    max_tokens: int | None,
    max_cost: float | None,
    price: Sequence[str],
    prompts: str,
) -> Limits:
    """The limits that the options give. Raises UsageError for a price that cannot be read, and for a budget of money
    without prices.
    """
    prices = dict(_price(words) for words in price)
    if max_cost is not None and not prices:
        raise UsageError("--max-cost needs the prices of the models: --price MODEL=PROMPT,COMPLETION")
    return Limits(concurrency, timeout, max_tokens, max_cost, prices, prompts)


def run_job(
    job: Job[G],
    out: Path,
    limits: Limits,
    retry_failed: bool,
    about: Mapping[str, Any],
    config: RunConfig,
    progress: bool,
) -> RunResult:
    """Do the job in a run folder, beside which the config is written. progress: show it on standard error.

    Works inside a running event loop too, as in a notebook.
    """
    started = time.monotonic()
    with progress_bar(config.command, len(job), progress) as show:

        def watch(tally: RunProgress) -> None:
            config.write(out)
            show(tally, time.monotonic() - started)

        try:
            tally = _finish(run(job, out, limits, retry_failed, watch))
        except KeyboardInterrupt:
            if progress:
                typer.echo(f"\nstopped; run the same command again to go on with {out}", err=True)
            raise
    return RunResult(out, about, tally, time.monotonic() - started)


def _finish(work: Coroutine[Any, Any, RunProgress]) -> RunProgress:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@contextmanager
def progress_bar(doing: str, total: int, wanted: bool) -> Iterator[Callable[[RunProgress, float], None]]:
    """A function that shows how a run stands after so many seconds; it does nothing where none is wanted."""
    if not wanted:
        yield lambda _tally, _seconds: None
        return
    with progress() as display:
        task = display.add_task(doing, total=total, note="")

        def show(tally: RunProgress, seconds: float) -> None:
            note = f"{tally.calls / max(seconds, 1e-6):,.0f} calls/s  {tally.tokens:,} tokens"
            note += f"  cost {tally.cost:,.2f}" if tally.cost else ""
            note += f"  {tally.failed:,} failed" if tally.failed else ""
            display.update(task, completed=tally.done + tally.failed, note=note)

        yield show


def summarise(result: RunResult, as_json: bool) -> None:
    """Print how the run stands; then raise what stopped it."""
    tally = result.tally
    if as_json:
        emit(result.to_json())
    else:
        _print(result.to_json())
    sys.stdout.flush()
    if tally.stop is not None:
        raise tally.stop
    if tally.failed and not tally.done:
        raise UsageError(f"no game could be played: {next(iter(tally.failures))}; solve that, then add --retry-failed")


def _print(summary: dict[str, Any]) -> None:
    games = summary["games"]
    earlier = f", {games['before']} of them earlier" if games["before"] else ""
    game = "game" if games["planned"] == 1 else "games"
    typer.echo(
        f"{games['done']} of {games['planned']} {game} of {summary['game']} done{earlier}; {games['failed']} failed."
    )
    typer.echo(f"Wins: {', '.join(f'{team} {count}' for team, count in summary['winners'].items()) or 'none'}.")
    cost = f", cost {summary['cost']:.4f}" if summary["cost"] else ""
    typer.echo(f"{summary['calls']} replies in {summary['seconds']:.1f} s; {summary['tokens']} tokens in all{cost}.")
    _print_kinds(summary["kinds"])
    if summary["fallbacks"]:
        counts = ", ".join(f"{plain(model)} {count}" for model, count in summary["fallbacks"].items())
        typer.echo(f"Fallbacks (unusable replies that the rules had to replace): {counts}.")
    for reason, count in list(summary["failures"].items())[:5]:
        typer.echo(f"Failed {count} times: {plain(reason)}")
    typer.echo(f"The run is in {summary['run']}; look at it with: liescope show {summary['run']}")


def _print_kinds(kinds: dict[str, dict[str, float | None]]) -> None:
    if not kinds:
        return
    told = any(row["prompt_tokens_per_game"] is not None for row in kinds.values())
    head = ["calls", *(["prompt tokens", "cached", "completion tokens"] if told else [])]
    typer.echo(f"{'a game, by kind':18}" + "".join(f"{name:>18}" for name in head))
    total = [0.0] * len(head)
    for kind, row in kinds.items():
        values = list(row.values())[: len(head)]
        total = [sum_ + (value or 0.0) for sum_, value in zip(total, values, strict=True)]
        typer.echo(f"{kind:18}" + "".join(f"{'–' if value is None else f'{value:,.1f}':>18}" for value in values))
    typer.echo(f"{'together':18}" + "".join(f"{value:>18,.1f}" for value in total))


def _price(words: str) -> tuple[str, Price]:
    model, _, numbers = words.rpartition("=")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if not model or len(values) not in (2, 3) or min(values) < 0:
        raise UsageError(
            f"--price {words!r} cannot be read; write MODEL=PROMPT,COMPLETION or MODEL=PROMPT,COMPLETION,CACHED"
        )
    return model, Price(*values)
