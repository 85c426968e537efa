"""What `play` and `label` share on the command line: limits from options, progress, and the summarise at the end."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from liescope.common.console import emit, progress
from liescope.common.errors import UsageError
from liescope.common.text import plain
from liescope.generate.players.protocol import Price
from liescope.generate.runs.job import G, Job
from liescope.generate.runs.runner import Limits, RunProgress, run


def limits_of(
    concurrency: int,
    timeout: float,
    max_tokens: int | None,
    max_cost: float | None,
    price: Sequence[str] | None,
    prompts: str,
) -> Limits:
    """The limits that the options give. Raises UsageError for prices that are none, or that a budget lacks."""
    prices = dict(_price(words) for words in price or [])
    if max_cost is not None and not prices:
        raise UsageError("--max-cost needs the prices of the models: --price MODEL=PROMPT,COMPLETION")
    return Limits(concurrency, timeout, max_tokens, max_cost, prices, prompts)


def run_job(work: Job[G], out: Path, limits: Limits, retry_failed: bool, doing: str) -> tuple[RunProgress, float]:
    """Do the work with progress on standard error; returns the tally and the seconds it took."""
    started = time.monotonic()

    def watch(tally: RunProgress) -> None:
        pace = tally.calls / max(time.monotonic() - started, 1e-6)
        note = f"{pace:,.0f} calls/s  {tally.tokens:,} tokens"
        note += f"  cost {tally.cost:,.2f}" if tally.cost else ""
        note += f"  {tally.failed:,} failed" if tally.failed else ""
        display.update(task, completed=tally.done + tally.failed, note=note)

    try:
        with progress() as display:
            task = display.add_task(doing, total=len(work), note="")
            tally = asyncio.run(run(work, out, limits, retry_failed, watch))
    except KeyboardInterrupt:
        typer.echo(f"\nstopped; run the same command again to go on with {out}", err=True)
        raise
    return tally, time.monotonic() - started


def summarise(head: dict[str, Any], tally: RunProgress, seconds: float, as_json: bool) -> None:
    """Print how the run stands; then raise what stopped it. head: what the summary begins with; run and game in it."""
    summary = head | {
        "games": {"planned": tally.planned, "done": tally.done, "failed": tally.failed, "before": tally.before},
        "winners": dict(sorted(tally.winners.items())),
        "calls": tally.calls,
        "tokens": tally.tokens,
        "cost": tally.cost,
        "kinds": _kinds(tally),
        "seconds": round(seconds, 3),
        "fallbacks": dict(tally.fallbacks.most_common()),
        "failures": dict(tally.failures.most_common()),
        "stopped": None if tally.stop is None else str(tally.stop),
    }
    if as_json:
        emit(summary)
    else:
        _print(summary)
    sys.stdout.flush()
    if tally.stop is not None:
        raise tally.stop
    if tally.failed and not tally.done:
        raise UsageError(f"no game came to its end: {next(iter(tally.failures))}; mend that, then add --retry-failed")


def _kinds(tally: RunProgress) -> dict[str, dict[str, float | None]]:
    """Calls and tokens a game, by kind of ask, over the games that ended."""
    games = max(tally.done + tally.failed, 1)

    def each(count: int | None) -> float | None:
        return None if count is None else count / games

    return {
        kind.kind: {
            "calls_per_game": each(kind.replies),
            "prompt_tokens_per_game": each(kind.prompt_tokens),
            "cached_tokens_per_game": each(kind.cached_tokens),
            "completion_tokens_per_game": each(kind.completion_tokens),
        }
        for kind in tally.kinds
    }


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
