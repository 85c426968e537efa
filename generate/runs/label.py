"""`liescope.label`: have a judge rate games after they have ended."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, TypedDict, Unpack

from liescope.common.errors import UsageError
from liescope.common.settings import Setting, like, resolve, saved, takes
from liescope.common.text import plain
from liescope.data_cards.tables import ClaimRow
from liescope.games.core import EventKind
from liescope.games.judging import JudgeSpec
from liescope.generate.runs.config import RunConfig
from liescope.generate.runs.job import JudgingJob
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.limits import RunSettings, limits_of
from liescope.generate.runs.planning import PlanSettings
from liescope.generate.runs.result import RunResult
from liescope.generate.runs.run_job import run_job
from liescope.generate.runs.shards.engine import open_engine
from liescope.labeling.agreement import ClaimAgreement, claim_agreement
from liescope.labeling.ledger import BY_MODEL, RULES, claim_rows, statement_id
from liescope.labeling.model_claims import model_claims


class RatingSettings(TypedDict, total=False):
    """What is rated, with which questions."""

    share: Annotated[float, Setting("Share of the statements to rate, 0 for none.", 1.0, at_least=0, at_most=1)]
    roles: Annotated[bool, Setting("Name everybody's role, from each seat that lived to the end.", False)]
    lessons: Annotated[bool, Setting("Tag the lessons that jesters drew.", False)]
    prompts: Annotated[str, like(PlanSettings, "prompts")]


class LabelSettings(RatingSettings, RunSettings, total=False):
    """What `label` takes."""


@takes(LabelSettings)
def label(
    run: str | os.PathLike[str],
    judge: str | None = None,
    *,
    claims_by: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[LabelSettings],
) -> RunResult:
    """Rate a run's finished games: a judge takes each seat in turn and sees what the seat saw at that moment. Or have a
    model list the claims in their statements, seeing nothing but the statement and the names.

    The judged games become a separate run; the run they come from is only read.

    Parameters
    ----------
    run : str or path
        The folder of the run.
    judge : str, optional
        A player's spec string.
    claims_by : str, optional
        Instead of a judge, the model that lists claims, "openai:MODEL".
    out : str or path, optional
        The folder of the judged games, by default RUN-by-JUDGE or RUN-claims-by-MODEL.
    progress : bool
        Show a live display on standard error.
    **settings

    Raises
    ------
    UsageError
        For a run without finished games, and if the judge is asked for nothing.
    PlanChanged
        If the folder holds a different run.
    """
    source, own = Path(run), resolve(LabelSettings, settings)
    folder, asked, spec = judging_of(source, judge, claims_by, out, own)
    job = JudgingJob.of(source, asked, spec, own["prompts"], folder)
    where, limits = open_engine(own["engine"], own["workers"]), limits_of(own)
    options = {"run": source, "judge": judge, "claims_by": claims_by, **saved(LabelSettings, own)}
    about = {"run": str(folder), "game": job.game, "judged": str(source), "judge": asked}
    return run_job(job, folder, limits, own["retry_failed"], about, RunConfig("label", options), progress, where)


def judging_of(
    source: Path,
    judge: str | None,
    claims_by: str | None,
    out: str | os.PathLike[str] | None,
    settings: RatingSettings,
) -> tuple[Path, str, JudgeSpec]:
    """The folder of the judged games, who is asked, and for what. Raises UsageError for options that do not fit."""
    if (judge is None) == (claims_by is None):
        raise UsageError("give either --judge, to rate the games, or --claims-by, to have a model list their claims")
    if claims_by is not None and not claims_by.startswith("openai:"):
        raise UsageError(f"--claims-by must be a chat model such as openai:gpt-4.1-mini, got {claims_by!r}")
    rated = JudgeSpec(settings["share"], settings["roles"], settings["lessons"])
    spec = rated if claims_by is None else JudgeSpec(0.0, claims=True)
    asked = judge or claims_by or ""
    folder = Path(out) if out is not None else default_folder(source, asked, "by" if judge else "claims-by")
    if folder.resolve() == source.resolve():
        raise UsageError("the judged games need a folder of their own; choose another --out")
    return folder, asked, spec


def default_folder(run: Path, judge: str, link: str = "by") -> Path:
    """The folder next to the run, named after the judge without the address of an endpoint."""
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", judge.partition("@")[0]).strip("-")
    return run.with_name(f"{run.resolve().name}-{link}-{slug}")


@dataclass(frozen=True, slots=True)
class ClaimsReport:
    """One model. statements: asked about, with a readable reply; unread: replies that could not be read; dropped:
    claims left out, by reason; agreement: with the rules, whose claims are the first origin.
    """

    model: str
    statements: int
    unread: int
    dropped: Mapping[str, int]
    agreement: tuple[ClaimAgreement, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        rows = [{**asdict(row), "precision": row.precision, "recall": row.recall} for row in self.agreement]
        return {**asdict(self), "agreement": rows}

    def lines(self) -> Iterator[str]:
        """At most 80 columns each."""
        yield f"Claims found by {plain(self.model)} in {self.statements} statements ({self.unread} replies unreadable)."
        for reason, count in self.dropped.items():
            yield f"Left out: {count} ({reason})."
        yield f"{'against the rules':18}{'rules':>8}{'model':>8}{'both':>8}{'precision':>11}{'recall':>8}{'kappa':>8}"
        for row in self.agreement:
            shares = f"{_share(row.precision):>11}{_share(row.recall):>8}{_share(row.kappa):>8}"
            yield f"{plain(row.kind or 'all')[:17]:18}{row.first:>8}{row.second:>8}{row.both:>8}{shares}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def claims_report(run: str | os.PathLike[str]) -> tuple[ClaimsReport, ...]:
    """The report of each model that found claims in a run (`liescope label RUN --claims-by MODEL`)."""
    read: dict[str, list[str]] = {}
    unread: Counter[str] = Counter()
    dropped: dict[str, Counter[str]] = {}
    claims: list[ClaimRow] = []
    with Journal.open(Path(run)) as journal:
        for game in journal.records():
            for event in game.events:
                if event.kind is EventKind.CLAIMS_FOUND:
                    model = event.data.get("judge", "")
                    unread[model] += bool(event.fallback)
                    found = read.setdefault(model, [])
                    found += [] if event.fallback else [statement_id(game.game_id, event.about or 0)]
            for model, lost in model_claims(game).dropped.items():
                dropped.setdefault(model, Counter()).update(lost)
            claims += claim_rows(game)
    return tuple(
        ClaimsReport(
            model,
            len(statements),
            unread[model],
            dict(dropped[model].most_common()),
            claim_agreement(claims, statements, RULES, f"{BY_MODEL}{model}"),
        )
        for model, statements in read.items()
    )
