"""`liescope.label`: have a judge rate games after they have ended."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from liescope.common.errors import UsageError
from liescope.games.judging import JudgeSpec
from liescope.generate.runs.config import RunConfig
from liescope.generate.runs.judging import JudgingJob
from liescope.generate.runs.limits import LimitOptions, limits_of
from liescope.generate.runs.result import RunResult
from liescope.generate.runs.shards.engine import open_engine
from liescope.generate.runs.summary import run_job


def label(
    run: str | os.PathLike[str],
    judge: str | None = None,
    *,
    claims_by: str | None = None,
    out: str | os.PathLike[str] | None = None,
    share: float = 1.0,
    roles: bool = False,
    lessons: bool = False,
    prompts: str = "full",
    concurrency: int = 256,
    timeout: float = 120.0,
    hedge: bool = True,
    give_up_after: str | float = "30m",
    max_tokens: int | None = None,
    max_cost: float | None = None,
    price: Sequence[str] = (),
    currency: str = "USD",
    allow_key: Sequence[str] = (),
    preflight: bool = True,
    cache: str | os.PathLike[str] | None = None,
    log: str | os.PathLike[str] | None = None,
    batch: bool = False,
    retry_failed: bool = False,
    workers: int | None = None,
    engine: str = "local",
    progress: bool = False,
) -> RunResult:
    """Rate a run's finished games: a judge takes each seat in turn and sees what the seat saw at that moment. Or have a
    model list the claims in their statements, seeing nothing but the statement and the names.

    The judged games become a separate run; the run they come from is only read. judge: a player's spec string;
    claims_by: instead of a judge, the model that lists claims, "openai:MODEL". out: the folder of the judged games, by
    default RUN-by-JUDGE or RUN-claims-by-MODEL. share: of the statements, the share to rate, 0 to 1. roles:
    name every player's role, from each seat that survived to the end. lessons: tag the lessons that learners drew. The
    other options are those of `play`.

    Raises UsageError for a run without finished games and if the judge is asked for nothing, PlanChanged if the folder
    holds a different run.
    """
    source = Path(run)
    folder, asked, spec = judging_of(source, judge, claims_by, out, share, roles, lessons)
    job = JudgingJob.of(source, asked, spec, prompts, folder)
    where = open_engine(engine, workers)
    limited: LimitOptions = {
        "concurrency": concurrency,
        "timeout": timeout,
        "hedge": hedge,
        "give_up_after": give_up_after,
        "max_tokens": max_tokens,
        "max_cost": max_cost,
        "price": price,
        "currency": currency,
        "allow_key": allow_key,
        "preflight": preflight,
        "cache": cache,
        "log": log,
        "batch": batch,
    }
    limits = limits_of(prompts=prompts, **limited)
    config = RunConfig(
        "label",
        {
            "run": source,
            "judge": judge,
            **({} if claims_by is None else {"claims_by": claims_by}),
            "share": share,
            "roles": roles,
            "lessons": lessons,
            "prompts": prompts,
            **limited,
            "workers": workers,
            "engine": engine,
        },
    )
    about = {"run": str(folder), "game": job.game, "judged": str(source), "judge": asked}
    return run_job(job, folder, limits, retry_failed, about, config, progress, where)


def judging_of(
    source: Path,
    judge: str | None,
    claims_by: str | None,
    out: str | os.PathLike[str] | None,
    share: float,
    roles: bool,
    lessons: bool,
) -> tuple[Path, str, JudgeSpec]:
    """The folder of the judged games, who is asked, and for what. Raises UsageError for options that do not fit."""
    if (judge is None) == (claims_by is None):
        raise UsageError("give either --judge, to rate the games, or --claims-by, to have a model list their claims")
    if claims_by is not None and not claims_by.startswith("openai:"):
        raise UsageError(f"claims are listed by a chat model such as openai:gpt-4.1-mini; {claims_by!r} is none")
    spec = JudgeSpec(share, roles, lessons) if claims_by is None else JudgeSpec(0.0, claims=True)
    asked = judge or claims_by or ""
    folder = Path(out) if out is not None else default_folder(source, asked, "by" if judge else "claims-by")
    if folder.resolve() == source.resolve():
        raise UsageError("the judged games need a folder of their own; choose another --out")
    return folder, asked, spec


def default_folder(run: Path, judge: str, link: str = "by") -> Path:
    """The folder next to the run, named after the judge without the address of an endpoint."""
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", judge.partition("@")[0]).strip("-")
    return run.with_name(f"{run.resolve().name}-{link}-{slug}")
