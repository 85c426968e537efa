"""The command that rates games after they have ended: label."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from liescope.common.errors import UsageError
from liescope.games.judging import JudgeSpec
from liescope.generate.runs.judging import JudgingJob
from liescope.generate.runs.options import (
    AsJson,
    Concurrency,
    MaxCost,
    MaxTokens,
    PriceOption,
    PromptsOption,
    RetryFailed,
    Timeout,
)
from liescope.generate.runs.summary import limits_of, run_job, summarise

app = typer.Typer()


@app.command()
def label(
    run: Annotated[Path, typer.Argument(help="A run's folder; it is only read.", metavar="runs/NAME")],
    judge: Annotated[str, typer.Option(help="The player that judges, in every seat: openai:MODEL[@URL], scripted:….")],
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for the judged games. [default: RUN-by-JUDGE]", show_default=False),
    ] = None,
    share: Annotated[float, typer.Option(help="Share of the statements to rate, 0 for none.")] = 1.0,
    roles: Annotated[bool, typer.Option(help="Name everybody's role, from each seat that lived to the end.")] = False,
    lessons: Annotated[bool, typer.Option(help="Tag the lessons that jesters drew.")] = False,
    prompts: PromptsOption = "full",
    concurrency: Concurrency = 16,
    timeout: Timeout = 120.0,
    max_tokens: MaxTokens = None,
    max_cost: MaxCost = None,
    price: PriceOption = None,
    retry_failed: RetryFailed = False,
    as_json: AsJson = False,
) -> None:
    """Rate a run's games after the fact: a judge takes each seat in turn and sees what the seat saw at that moment.

    The judged games are a run of their own, for show, build and analyse. Stop it at any time; the same command goes on.

    Example: liescope label runs/first --judge scripted:steady --roles
    """
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", judge.partition("@")[0]).strip("-")
    folder = out or run.with_name(f"{run.resolve().name}-by-{slug}")
    if folder.resolve() == run.resolve():
        raise UsageError("the judged games need a folder of their own; choose another --out")
    limits = limits_of(concurrency, timeout, max_tokens, max_cost, price, prompts)
    work = JudgingJob(run, judge, JudgeSpec(share, roles, lessons), prompts)
    tally, seconds = run_job(work, folder, limits, retry_failed, "judging")
    summarise({"run": str(folder), "game": work.game, "judged": str(run), "judge": judge}, tally, seconds, as_json)
