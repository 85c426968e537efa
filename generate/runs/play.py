"""`liescope.play` and `liescope.label`: a job done from beginning to end, with a live display.

Ctrl-C, SIGTERM or SIGHUP: requests under way may finish; a Ctrl-C after that ends the run at once.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Coroutine, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from liescope.common.console import end_by
from liescope.common.errors import Interrupted, UsageError
from liescope.common.settings import Option, OptionsModel, takes
from liescope.data_cards.tables import ClaimRow
from liescope.games.core import EventKind
from liescope.games.game_registry import find_game
from liescope.games.rated_game import RatingSpec
from liescope.generate.players.player_protocol import Halt
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Job, Playing, RatingJob
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.open_run import finish
from liescope.generate.runs.plan_games import PlanSettings, Prompts, plan_games, templates_for
from liescope.generate.runs.run_folder import RunConfig
from liescope.generate.runs.run_progress import RunProgress, live_display
from liescope.generate.runs.runner import run
from liescope.labeling.label import label_game
from liescope.labeling.ledger import BY_MODEL, RULES, claim_rows, statement_id
from liescope.labeling.model_claims import ClaimAgreement, claim_agreement, model_claims

if TYPE_CHECKING:
    import polars as pl

    from liescope.common.report.contents import Report


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
            "cached_tokens": sum(host.cached for host in tally.activity.hosts.values()),
            "saved": sum(host.saved for host in tally.activity.hosts.values()),
            "retries": dict(tally.activity.retries.most_common()),
            "unrated": tally.unrated,
            "endpoints": [asdict(facts) | {"served_models": list(facts.served_models)} for facts in tally.endpoints],
            "kinds": _kinds(tally),
            "seconds": round(self.seconds, 3),
            "fallbacks": dict(tally.fallbacks.most_common()),
            "failures": dict(tally.failures.most_common()),
            "stopped": None if tally.stop is None else str(tally.stop),
        }

    def __repr__(self) -> str:
        tally = self.tally
        failed = f", {tally.failed} failed" if tally.failed else ""
        return f"<RunResult {self.folder}: {tally.done} of {tally.planned} games of {self.about['game']} done{failed}>"


def _kinds(tally: RunProgress) -> dict[str, dict[str, float | None]]:
    """Calls and tokens per game, by kind of ask, over the games that ended; nothing while none has."""
    games, kinds = tally.done + tally.failed, dict[str, dict[str, float | None]]()
    for kind in tally.kinds if games else ():
        counts = {"calls": kind.replies, "prompt_tokens": kind.prompt_tokens, "cached_tokens": kind.cached_tokens}
        counts["completion_tokens"] = kind.completion_tokens
        kinds[kind.kind] = {f"{name}_per_game": None if n is None else n / games for name, n in counts.items()}
    return kinds


_STATE_EVERY = 2.0  # seconds between two states in the run's folder


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

    A run resumes with the version of its prompts that it started with, whatever the limits. With `preview`, the first
    games of the plan are played; without it the same run goes on. See `liescope.generate.runs.plan_games` for who meets
    whom, `liescope.generate.players.reply_cache` for the cache.

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
    job = Playing(plan, folder, templates, own.preview)
    return run_job(job, folder, own, about, config, progress)


def _listed(options: Mapping[str, Any]) -> dict[str, Any]:
    """The game's options as the command takes them: names as one string, no limit as 0."""
    plain = {name: ",".join(value) if isinstance(value, list | tuple) else value for name, value in options.items()}
    return {name: 0 if name == "message_limit" and value is None else value for name, value in plain.items()}


class RatingSettings(OptionsModel):
    """What is rated, with which questions."""

    share: float = Field(default=1.0, ge=0, le=1, description="Share of the statements to rate, 0 for none.")
    roles: bool = Field(default=False, description="Name everybody's role, from each seat that lived to the end.")
    lessons: bool = Field(default=False, description="Tag the lessons that jesters drew.")
    beliefs: bool = Field(
        default=False,
        description="Ask the speakers themselves, afresh, whether they believe the claims that they made.",
    )
    prompts: Prompts = "full"
    part: Annotated[str | None, Option(metavar="K/N")] = Field(
        default=None, description="Ask only about the K-th of N shares of the games."
    )


class LabelSettings(RatingSettings, Limits):
    """What `label` takes."""


@takes(LabelSettings)
def label(
    run: str | os.PathLike[str],
    judge: str | None = None,
    *,
    claims_by: str | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> RunResult:
    """Rate a run's finished games: a rater takes each seat in turn and sees what the seat saw at that moment. Or have a
    model list the claims in their statements, seeing nothing but the statement and the names. Or ask the players
    themselves (`beliefs`), from what each knew before a statement, whether they believe the claims that they made.

    The rated games become a separate run; the run they come from is only read.

    Parameters
    ----------
    run : str or path
        The folder of the run.
    judge : str, optional
        Who rates: a player's spec string.
    claims_by : str, optional
        Instead of a rater, the model that lists claims, "openai:MODEL".
    out : str or path, optional
        The folder of the rated games, by default RUN-by-JUDGE, RUN-claims-by-MODEL or RUN-beliefs.
    progress : bool
        Show a live display on standard error.
    **settings

    Returns
    -------
    RunResult
        The run of the rated games; of claims, `claims_report` says how far they agree with the rules.

    Raises
    ------
    UsageError
        For a run without finished games, and if the rater is asked for nothing.
    PlanChanged
        If the folder holds a different run.
    """
    source, own = Path(run), LabelSettings.of(settings)
    folder, asked, spec = rating_of(source, judge, claims_by, out, own)
    job = RatingJob.of(source, asked, spec, own.prompts, folder, own.part)
    options = {"run": source, "judge": judge, "claims_by": claims_by, **own.model_dump()}
    about = {"run": str(folder), "game": job.plan.game, "judged": str(source), "judge": asked}
    return run_job(job, folder, own, about, RunConfig("label", options), progress)


def rating_of(
    source: Path,
    judge: str | None,
    claims_by: str | None,
    out: str | os.PathLike[str] | None,
    settings: RatingSettings,
) -> tuple[Path, str, RatingSpec]:
    """The folder of the rated games, who is asked, and for what. Raises UsageError for options that do not fit."""
    if [judge is not None, claims_by is not None, settings.beliefs].count(True) != 1:
        raise UsageError(
            "give exactly one of --judge (rate the games), --claims-by (have a model list their claims) and --beliefs "
            "(ask the speakers what they believe)"
        )
    if claims_by is not None and not claims_by.startswith("openai:"):
        raise UsageError(f"--claims-by must be a chat model such as openai:gpt-4.1-mini, got {claims_by!r}")
    rated = RatingSpec(settings.share, settings.roles, settings.lessons)
    spec = rated if judge else RatingSpec(0.0, claims=claims_by is not None, beliefs=settings.beliefs)
    asked = judge or claims_by or ""
    folder = Path(out) if out is not None else default_folder(source, asked, _LINKS[spec.beliefs, spec.claims])
    if folder.resolve() == source.resolve():
        raise UsageError("the rated games need a folder of their own; choose another --out")
    return folder, asked, spec


_LINKS = {(False, False): "by", (False, True): "claims-by", (True, False): "beliefs"}


def default_folder(run: Path, rater: str, link: str = "by") -> Path:
    """The folder next to the run, named after the rater, if there is one, without the address of an endpoint."""
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", rater.partition("@")[0]).strip("-")
    return run.with_name("-".join(filter(None, (run.resolve().name, link, slug))))


# What `liescope label` prints of a run


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

    @property
    def report(self) -> Report:
        """How far the model and the rules agree, as it is printed."""
        from liescope.common.report.contents import Column, Report, Section, Table

        shares = (Column(name, format=".3f") for name in ("precision", "recall", "kappa"))
        columns = (Column("kind", "against the rules"), Column("rules"), Column("model"), Column("both"), *shares)
        rows = [
            (row.kind or "all", row.first, row.second, row.both, row.precision, row.recall, row.kappa)
            for row in self.agreement
        ]
        read = f"Claims found by {self.model} in {self.statements} statements ({self.unread} replies unreadable)."
        lost = [f"Left out: {count} ({reason})." for reason, count in self.dropped.items()]
        table = Table(columns, rows)
        section = Section("claims", "Claims of the model against those of the rules", table=table, printed=True)
        return Report(findings=(read,), notes=tuple(lost), sections=(section,))


def claims_report(run: str | os.PathLike[str]) -> tuple[ClaimsReport, ...]:
    """The report of each model that found claims in a run (`liescope label RUN --claims-by MODEL`)."""
    read, unread = defaultdict[str, list[str]](list), Counter[str]()
    dropped, claims = defaultdict[str, Counter[str]](Counter), list[ClaimRow]()
    with Journal.open(Path(run)) as journal:
        for game in journal.records():
            for event in game.events:
                if event.kind is EventKind.CLAIMS_FOUND:
                    model = event.data.get("judge", "")
                    unread[model] += bool(event.fallback)
                    read[model] += [] if event.fallback else [statement_id(game.game_id, event.about or 0)]
            for model, lost in model_claims(game).dropped.items():
                dropped[model].update(lost)
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


_BELIEVES = {True: "believes false", False: "believes true", None: "cannot know"}
_UNREAD, _BOTH, _ALIKE = "unread", "with label_claim", "and alike"


@dataclass(frozen=True, slots=True)
class BeliefsReport:
    """models: for each, how many of its statements it was asked about (asked), what it believes of their claims, how
    many replies could not be read, how many have a `label_claim` too, and in how many of these both labels are alike.
    """

    models: Mapping[str, Mapping[str, int]]

    @property
    def report(self) -> Report:
        """What the speakers believe, beside the log, as it is printed."""
        from liescope.common.report.contents import Column, Report, Section, Table

        if not self.models:
            return Report(findings=("Nobody was asked: no statement has a claim that could be read.",), sections=())
        names = ("asked", *_BELIEVES.values(), _UNREAD, _BOTH, _ALIKE)
        rows = [(model, *(counts.get(name, 0) for name in names)) for model, counts in self.models.items()]
        both, alike = (sum(counts.get(name, 0) for counts in self.models.values()) for name in (_BOTH, _ALIKE))
        said = f"Of {both:,} statements with both labels, label_belief and label_claim are the same in {alike:,}."
        table = Table([Column(name) for name in ("model", *names)], rows)
        section = Section("beliefs", "What speakers believe of their own claims", table=table, printed=True)
        return Report(findings=(said,), sections=(section,))


def beliefs_report(run: str | os.PathLike[str]) -> BeliefsReport:
    """How far what speakers believe agrees with the log, in a run of `liescope label RUN --beliefs`."""
    found = defaultdict[str, Counter[str]](Counter)
    with Journal.open(Path(run)) as journal:
        for game in journal.records():
            asked = {statement_id(game.game_id, e.about or 0): e for e in game.events if e.kind is EventKind.BELIEFS}
            for row in label_game(game).statements if asked else ():
                if (event := asked.get(row.statement_id)) is None:
                    continue
                counts = found[row.speaker_model]
                counts.update(("asked", _UNREAD if event.fallback else _BELIEVES[row.label_belief]))
                if row.label_belief is not None and row.label_claim is not None:
                    counts.update((_BOTH, *([_ALIKE] if row.label_belief == row.label_claim else [])))
    return BeliefsReport(dict(sorted(found.items())))
