"""A job as plain data, from which a worker makes it again, and errors as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from liescope.common import errors
from liescope.common.errors import LiescopeError, RunPaused, UsageError
from liescope.games.judging import JudgeSpec
from liescope.generate.players.prompts.render import template_sources
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.fork_plan import ForkPlan
from liescope.generate.runs.forking import Forking
from liescope.generate.runs.job import Job
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.judging import JudgingJob
from liescope.generate.runs.limits import Limits
from liescope.generate.runs.moment import read_moment
from liescope.generate.runs.plan import Plan
from liescope.generate.runs.playing import Playing
from liescope.generate.runs.shards.absorb import Piece
from liescope.generate.runs.shards.leases import Chain

_LIMITS = TypeAdapter(Limits)
SUPPLIED = "supplied"  # the run in a shard's folder that holds the games to judge
_OWN_PROMPTS = "prompts"  # the folder of a shard with the templates that came with its job


def describe_job(job: Job[Any]) -> dict[str, Any]:
    """Raises UsageError for a job that only this process can do."""
    if isinstance(job, Playing):
        return {"play": job.plan()}
    if isinstance(job, JudgingJob):
        return {"label": job.described()}
    if isinstance(job, Forking):
        return {"fork": job.plan(), "moment": job.moment.text}
    raise UsageError("this run cannot be shared by workers; leave --workers out")


def make_job(data: dict[str, Any], shard: Path, prompts: str) -> Job[Any]:
    """The job again, in a shard's folder."""
    if "play" in data:
        return Playing(Plan.model_validate(data["play"]), shard)
    if "fork" in data:
        return Forking(ForkPlan.model_validate(data["fork"]), read_moment(data["moment"], shard))
    told = data["label"]
    return JudgingJob(shard / SUPPLIED, told["judge"], JudgeSpec(**told["spec"]), prompts, told["files"])


def supplies(job: Job[Any], chains: Sequence[Chain]) -> list[Piece]:
    """What a worker needs of other runs for some chains, since it may be on another machine."""
    return [job.supplies(number for chain in chains for number in chain)] if isinstance(job, JudgingJob) else []


def supply(data: dict[str, Any], shard: Path, pieces: Sequence[Piece]) -> None:
    """Keep supplies where `make_job` finds them. data: the job."""
    if not pieces:
        return
    folder = shard / SUPPLIED
    begun = (folder / PLAN_FILE).exists()
    journal = (
        Journal.open(folder, write=True, checked=True) if begun else Journal.create(folder, data["label"]["played"])
    )
    with journal:
        journal.absorb("", pieces)


def describe_limits(limits: Limits, game: str) -> dict[str, Any]:
    """The limits of a worker, with a folder's prompt templates in full; its players were prepared here."""
    data: dict[str, Any] = _LIMITS.dump_python(limits, mode="json")
    own = Path(limits.prompts).is_dir()
    return {**data, "preflight": False, "templates": template_sources(limits.prompts, game) if own else None}


def make_limits(data: dict[str, Any], shard: Path) -> Limits:
    """The limits again; templates are written into the shard's folder."""
    templates = data.pop("templates")
    limits: Limits = _LIMITS.validate_python(data)
    if templates is None:
        return limits
    folder = shard / _OWN_PROMPTS
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in templates.items():
        (folder / Path(name).name).write_text(source, encoding="utf-8")
    return replace(limits, prompts=str(folder))


def describe_error(error: LiescopeError) -> list[str]:
    return [type(error).__name__, str(error)]


def make_error(data: list[str]) -> LiescopeError:
    """The error again; one that takes more than a message becomes a plain UsageError."""
    kind, words = data
    found = getattr(errors, kind, None)
    if isinstance(found, type) and issubclass(found, LiescopeError) and "__init__" not in vars(found):
        return found(words)
    return UsageError(words)


def make_pause(data: list[str]) -> RunPaused:
    """The reason why a run is ending."""
    error = make_error(data)
    return error if isinstance(error, RunPaused) else RunPaused(str(error))
