"""`report`: everything that games say about their players on one page, every table, and all data. The chapters follow
the order of the Mini-Mafia paper's sections. For several runs it is a leaderboard: their games are counted together,
and all players are on one scale.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any

import polars as pl

from liescope.benchmark.analyses.analysis_registry import SUBJECTS
from liescope.benchmark.analyses.findings import notes as notes_on_games
from liescope.benchmark.analyses.frames import GameSet, settings
from liescope.benchmark.analyses.standings import TITLE, answers, rows_of_counts, rows_of_games
from liescope.benchmark.analysing import read_and_analyse
from liescope.benchmark.background.background_report import part_of_conditions
from liescope.benchmark.benchmark_settings import FitSettings, ReportSettings
from liescope.benchmark.capability.count_sources import is_file, load_conditions
from liescope.benchmark.capability.counts import Counts
from liescope.benchmark.capability.fit_report import fit_page
from liescope.benchmark.capability.forms import THREE_ROLES, form_of
from liescope.benchmark.capability.posterior import sample_longer
from liescope.benchmark.capability.results import labelled
from liescope.benchmark.fitting import FitResult, fit_counts
from liescope.common.console import progress as progress_bars
from liescope.common.errors import LiescopeError, UsageError
from liescope.common.report.contents import MISSING, Report, Section, ToldResult
from liescope.common.report.files import check_report_folder, csv_text, write
from liescope.common.settings import several, takes
from liescope.common.stores import stored


@dataclass(frozen=True, slots=True, repr=False)
class ReportResult(ToldResult):
    """What a report holds.

    told: the page, with every table by its name: the fit's, the backgrounds' and the analyses'. counts: the games by
    (condition and) roles. fit: the capability model, None where it could not be fitted. data: what report.json holds.
    report: the page's file, None if none was requested.
    """

    counts: pl.DataFrame
    fit: FitResult | None
    data: Mapping[str, Any]
    report: Path | None = None

    @property
    def missing(self) -> Mapping[str, str]:
        """The things that are not shown, with the reason for each."""
        return self.told.missing

    def __repr__(self) -> str:
        return f"<ReportResult: {len(self.tables)} tables, {len(self.missing)} things cannot be shown>"


@takes(ReportSettings)
@stored
def report(
    sources: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> ReportResult:
    """Everything that games say about their players: capabilities, backgrounds, behaviour, settings, what is missing.

    Games of several sources are counted together where they were played alike, so that all players have a place on one
    scale. Games left out (`without`, `drawn_votes`) are left out of the fit and the backgrounds; the analyses use all
    games but those that a model was silent in (`count_silent`). A part that cannot be computed (PyMC is not installed,
    the sampler has not converged, too few games or models, a game without its roles) is left out, with the reason
    in its place. Without a capability model, players are compared where they held the same role beside the same
    players.

    Parameters
    ----------
    sources : path, or several
        Runs, corpora (folders, or USER/NAME on the Hub) and CSV files of counts; files hold only counts, so nothing is
        said about their behaviour.
    out : str or path, optional
        A folder for report.html, report.json, counts.csv and a CSV file for every table.
    **settings

    Raises
    ------
    UsageError
        If no game is finished, if one would count twice or if `out` cannot be written.
    BadData
        For a source that cannot be read.
    """
    own = ReportSettings.of(settings)
    named = list(several(sources))
    folder = check_report_folder(out, own.overwrite)
    games, found = None, None
    with progress_bars(progress) as bar:
        if of_games := [source for source in named if not is_file(Path(source))]:
            games, found = read_and_analyse(of_games, own, bar, draw=folder is not None)
    chosen = {"without": list(own.without), "drawn_votes": own.drawn_votes, "count_silent": own.count_silent}
    sampling: dict[str, Any] = {name: getattr(own, name) for name in ("model", "draws", "tune", "seed")}
    counted: Mapping[str, Counts] = {}
    unfit, fitted = "", None
    try:
        counted = load_conditions(named, own.without, own.pool_conditions, own.independent, own.count_silent)
    except UsageError as error:  # no game can be counted; others may be analysed
        if games is None:
            raise
        unfit = str(error)
    conditions = counted
    if own.drawn_votes != "keep":
        conditions = {name: one.undrawn for name, one in counted.items() if one.undrawn.games}
        unfit = unfit or ("" if conditions else "every game contains a drawn vote")
    if conditions:
        try:
            fitted = fit_counts(counted, FitSettings.of({**chosen, **sampling}), progress=progress)
            if faults := [fault for one in fitted.fits for fault in one.posterior.faults]:
                longer = sample_longer(fitted.fits[0].posterior.settings)
                fitted, unfit = None, f"the sampler has not fully converged, {'; '.join(faults)}. {longer}"
        except LiescopeError as error:
            unfit = str(error)
    gathered = Gathered(conditions, fitted, unfit, games, found)
    told = parts(gathered)
    names = [str(source) for source in named]
    shown = page(own.title, told, names)
    data = to_json(shown, gathered, names, {**chosen, "pool_conditions": own.pool_conditions, **sampling})
    if folder is not None:
        counts = {} if gathered.counts.is_empty() else {"counts.csv": csv_text(gathered.counts)}
        write(replace(shown, files={"report.json": data, **counts}), folder, tables_in="tables", short=False)
    return ReportResult(shown, gathered.counts, fitted, data, None if folder is None else folder / "report.html")


CAPABILITIES = "Who deceives, who detects, who discloses"
BACKGROUNDS = "Against fixed backgrounds"
SETTINGS = "Games and settings"

_REST = "Who wins, and who is voted out"
CHAPTERS = {
    CAPABILITIES: (),
    BACKGROUNDS: (),
    "Votes, names and the last word": ("accuracy", "names", "last word"),
    "What players disclose, claim and leave unsaid": (
        *("disclosure", "counter accusation", "first claim"),
        *("lengths", "bidding", "fingerprint", "silence"),
    ),
    "Does the lie work": ("forks", "deception", "suspicion", "calibration", "detection", "predictors", "raters"),
    _REST: (),
    SETTINGS: ("configuration",),
}
"""The chapters with the subjects of their analyses; those that none names stand in `_REST`."""

_SCORES = "Scores of the models"
_ONLY_TWO = "in contests a deceiver meets a judge, and no other role has a player to be compared beside"
_NO_GAMES = "counts alone say who won, not what was said or done"


@dataclass(frozen=True, slots=True)
class Gathered:
    """The material of a report.

    conditions: the counts of each condition, empty where no game can be counted. fit: the fit, None without one; unfit:
    why not. games: the games, None for counts alone; told: what their analyses found.
    """

    conditions: Mapping[str, Counts]
    fit: FitResult | None
    unfit: str
    games: GameSet | None
    told: Report | None

    @property
    def of_roles(self) -> dict[str, pl.DataFrame]:
        """The counts by condition of games with three roles."""
        return {name: part.cells for name, part in self.conditions.items() if part.form is THREE_ROLES}

    @property
    def of_contests(self) -> bool:
        """Whether contests were counted, not games."""
        return bool(self.conditions) and not self.of_roles

    @property
    def counts(self) -> pl.DataFrame:
        """The counts, with the column condition where there are several."""
        return labelled({name: part.cells for name, part in self.conditions.items()}, len(self.conditions) > 1)


def parts(gathered: Gathered) -> list[tuple[str, Report]]:
    """The parts of the report with the title of their chapter, in order."""
    own = {CAPABILITIES: _capabilities, BACKGROUNDS: _backgrounds, SETTINGS: _settings}
    found = []
    for chapter in CHAPTERS:
        if chapter in own:
            found.append((chapter, own[chapter](gathered)))
        if gathered.told:
            found.append((chapter, _analyses(chapter, gathered.told)))
    return found


def _capabilities(gathered: Gathered) -> Report:
    """The report's answer: from the capability model, else from the games alone."""
    if gathered.fit is not None:
        told = fit_page(gathered.fit)
        return replace(
            told,
            sections=tuple(replace(one, file=_file(one.file)) for one in told.sections),
            tables={_file(name): table for name, table in told.tables.items()},
            missing={f"{_SCORES}: {name}": reason for name, reason in told.missing.items()},
        )
    cells, games, told = gathered.of_roles, gathered.games, Report()
    if not gathered.of_contests:
        told = answers(rows_of_counts(cells) if cells or games is None else rows_of_games(games.frames))
    findings = told.findings
    if not told.tables and gathered.told and not gathered.of_contests:
        findings += gathered.told.findings[:1]  # who won
    elif not told.tables:
        form = form_of(gathered.counts)
        of, won = (int(gathered.counts[name].sum()) for name in (form.of, form.won))
        findings += (f"{form.total.capitalize()} {won / of:.1%} of {of} {form.of}.",)
    return replace(told, findings=findings, missing={_SCORES: gathered.unfit})


def _file(name: str) -> str:
    """The name, in a report's folder, of a file of a fit."""
    return f"capability_{name}" if name and not name.startswith("capability") else name


def _backgrounds(gathered: Gathered) -> Report:
    """Scores against fixed backgrounds, and their agreement with the capability model."""
    cells = gathered.of_roles
    posteriors = {one.condition: one.posterior for one in gathered.fit.fits} if gathered.fit else {}
    if gathered.of_contests:
        return Report(missing={"Standings, and scores against backgrounds": _ONLY_TWO})
    return part_of_conditions(cells, posteriors) if cells else Report()


def _analyses(chapter: str, told: Report) -> Report:
    """The findings of the analyses of one chapter."""
    rest = chapter == _REST
    subjects = CHAPTERS[chapter] if not rest else [name for names in CHAPTERS.values() for name in names]
    chosen = [analysis for subject in subjects for analysis in SUBJECTS[subject]]
    names, titles = {analysis.name for analysis in chosen}, {analysis.title for analysis in chosen}
    return Report(
        sections=tuple(section for section in told.sections if (section.name in names) != rest),
        tables={name: table for name, table in told.tables.items() if (name in names) != rest},
        missing={title: reason for title, reason in told.missing.items() if (title in titles) != rest},
    )


def _settings(gathered: Gathered) -> Report:
    games = gathered.games
    skipped = () if gathered.fit else (f"There are no capability scores: {gathered.unfit}",)
    if games is None or gathered.told is None:
        return Report(notes=skipped, missing={"What was said and done": _NO_GAMES})
    table = settings(games.runs)
    return Report(
        sections=(
            Section("games", "The games", gathered.told.findings[:1]),
            Section("settings", "Settings of the runs", table=table, file="settings.csv"),
        ),
        tables={"settings": table},
        notes=(*notes_on_games(games), *skipped),
    )


_READING = (
    "Intervals are of 95% and take the game as the unit unless a section says otherwise. A dash stands where a value "
    "is not defined. Every table is a CSV file in the folder tables, named beside its heading; report.json holds them "
    "all, with the counts and the settings."
)


def page(title: str, parts: Sequence[tuple[str, Report]], sources: Sequence[str]) -> Report:
    """The report page. parts: with the titles of their chapters; the first holds the answer."""
    (_, answer), *_ = parts
    sections = [
        replace(
            section,
            name=f"{at}-{section.name}",
            chapter=chapter,
            file=section.file and f"tables/{PurePath(section.file).name}",
        )
        for at, (chapter, part) in enumerate(parts, start=1)
        for section in part.sections
    ]
    missing = {title: reason for _, part in parts for title, reason in part.missing.items()}
    return Report(
        title or TITLE,
        answer.findings,
        answer.figure,
        answer.figure_alt,
        tuple(dict.fromkeys(note for _, part in parts for note in part.notes)),
        f"{_READING} Made from {', '.join(sources)} with Liescope {version('liescope')}.",
        (*sections, *([] if missing else [Section("missing", MISSING, ("Everything could be shown.",))])),
        missing,
        {name: table for _, part in parts for name, table in part.tables.items()},
    )


FORMAT = 1


def to_json(told: Report, gathered: Gathered, sources: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The content of report.json. settings: the options of the report."""
    games = gathered.games
    words = games.sources if games else frozenset().union(*(one.sources for one in gathered.conditions.values()))
    fit = gathered.fit.to_json() if gathered.fit else None
    return {
        "liescope_report": FORMAT,
        **told.to_json(),
        "sources": list(sources),
        "words": sorted(source.value for source in words),
        "versions": {"liescope": version("liescope"), "polars": version("polars")},
        "settings": dict(settings),
        "games": {
            "finished": games.frames.games.height if games else 0,
            "failed": sum(run.failed.total() for run in games.runs) if games else 0,
            "ids": sorted(hashlib.sha256(name.encode()).hexdigest()[:12] for name in games.frames.games["game_id"])
            if games
            else [],
        },
        "counts": gathered.counts.to_dicts(),
        "fits": [] if fit is None else fit.get("conditions", [fit]),
    }
