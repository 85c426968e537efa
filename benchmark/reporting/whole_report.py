"""`report`: the whole benchmark of a set of games on one page, with every table and the data to compute them again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal, Unpack

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from liescope.benchmark.analysing import read_and_analyse
from liescope.benchmark.benchmark_settings import FitSettings, ReportSettings
from liescope.benchmark.capability.count_sources import is_file, load_conditions
from liescope.benchmark.capability.counts import PLAYERS, Counts
from liescope.benchmark.fitting import FitResult, fit_counts
from liescope.benchmark.reporting.gathering import Gathered, page, parts
from liescope.common.console import progress as progress_bars
from liescope.common.errors import BadData, LiescopeError, UsageError
from liescope.common.reading import read_bytes
from liescope.common.report.contents import Report, ToldResult
from liescope.common.report.files import check_report_folder, csv_text, write
from liescope.common.settings import resolve, takes


@dataclass(frozen=True, slots=True, repr=False)
class ReportResult(ToldResult):
    """What a report holds.

    told: the page, with every table by its name: the fit's, the other methods' and the analyses'. counts: the games by
    (condition and) roles. fit: the capability model, None where it could not be fitted. data: what report.json holds.
    report: the page's file, None if none was requested.
    """

    counts: pl.DataFrame
    fit: FitResult | None
    data: Mapping[str, Any]
    report: Path | None = None

    @property
    def missing(self) -> Mapping[str, str]:
        """What these games cannot show, with the reason."""
        return self.told.missing

    def __repr__(self) -> str:
        return f"<ReportResult: {len(self.tables)} tables, {len(self.missing)} things cannot be shown>"


@takes(ReportSettings)
def report(
    sources: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[ReportSettings],
) -> ReportResult:
    """Everything that games say about their players: capabilities, other methods, behaviour, settings, what is missing.

    Games left out (`without`, `drawn_votes`) are left out of the fit and of the other methods on counts; the analyses
    have all games. A part that cannot be computed (PyMC is not installed, the sampler has not converged, too few games
    or models, another game than Mini-Mafia) is left out, and its place says why.

    Parameters
    ----------
    sources : path, or several
        Runs, corpora (folders, or USER/NAME on the Hub) and CSV files of counts; of files there are only counts, so
        nothing is said about behaviour.
    out : str or path, optional
        A folder for report.html, report.json, counts.csv and a CSV file for every table.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    UsageError
        If no game is finished, if one would count twice or if `out` cannot be written.
    BadData
        For a source that cannot be read.
    """
    own = resolve(ReportSettings, settings)

    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    folder = None if out is None else Path(out)
    if folder is not None:
        check_report_folder(folder, own["overwrite"])
    games, found = None, None
    with progress_bars(progress) as bar:
        if of_games := [source for source in named if not is_file(Path(source))]:
            games, found = read_and_analyse(of_games, own["pool_conditions"], bar, draw=folder is not None)
    chosen = {"without": list(own["without"]), "drawn_votes": own["drawn_votes"]}
    sampling: dict[str, Any] = {name: own[name] for name in ("model", "compare", "draws", "tune", "seed")}
    counted, unfit = _counted(named, own, must=games is None)
    conditions, fitted = counted, None
    if own["drawn_votes"] != "keep":
        conditions = {name: replace(one, cells=one.undrawn) for name, one in counted.items() if one.undrawn.height}
        unfit = unfit or ("" if conditions else "every game contains a drawn vote")
    if conditions:
        try:
            fitted = fit_counts(counted, resolve(FitSettings, {**chosen, **sampling}), progress=progress)
        except LiescopeError as error:
            unfit = str(error)
    gathered = Gathered(conditions, fitted, unfit, games, found)
    told = parts(gathered)
    names = [str(source) for source in named]
    shown = page(own["title"], gathered, told, names)
    data = to_json(shown, gathered, names, {**chosen, "pool_conditions": own["pool_conditions"], **sampling})
    if folder is not None:
        counts = {} if gathered.counts.is_empty() else {"counts.csv": csv_text(gathered.counts)}
        write(replace(shown, files={"report.json": data, **counts}), folder, tables_in="tables", short=False)
    return ReportResult(shown, gathered.counts, fitted, data, None if folder is None else folder / "report.html")


def _counted(
    sources: Sequence[str | os.PathLike[str]], own: ReportSettings, must: bool
) -> tuple[Mapping[str, Counts], str]:
    """The counts of each condition; where no game can be counted, none and the reason. must: raise the reason."""
    try:
        return load_conditions(sources, own["without"], own["pool_conditions"], independent=own["independent"]), ""
    except UsageError as error:
        if must:
            raise
        return {}, str(error)


FORMAT = 1
LARGEST = 64 * 2**20  # bytes of a report.json that is read

Number = Annotated[float, Field(allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
Count = Annotated[int, Field(ge=0, le=10**12)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class EstimateData(_Part):
    """A score: posterior mean, and its central 95% interval."""

    mean: Number
    lo: Number
    hi: Number


class ScoredModel(_Part):
    """The scores of one model; None where it never held the role."""

    model: Name
    m: EstimateData | None
    d: EstimateData | None
    v: EstimateData | None


class DiagnosticsData(_Part):
    """faults: diagnostics that a nearly converged sample failed."""

    faults: list[str] = []


class FitData(_Part):
    """The fit of one condition. left: by parameter, the share of the variance between players that is uncertainty."""

    condition: str = ""
    models: list[ScoredModel]
    left: dict[str, Number] = {}
    diagnostics: DiagnosticsData = DiagnosticsData()


_ROLES = dict(zip(("deceiver", "discloser", "judge"), PLAYERS, strict=True))
"""What report.json calls who deceives, discloses and judges: the roles of the game."""


class CombinationData(_Part):
    """The games of one combination of players under one condition."""

    model_config = ConfigDict(alias_generator=lambda name: _ROLES.get(name, name))

    condition: str = ""
    deceiver: Name
    discloser: Name
    judge: Name
    mafia_wins: Count
    games: Annotated[int, Field(ge=1, le=10**12)]

    @model_validator(mode="after")
    def _possible(self) -> CombinationData:
        if self.mafia_wins > self.games:
            raise ValueError(f"{self.mafia_wins} mafia wins in {self.games} games is impossible")
        return self


class Games(_Part):
    """How many games were read, and which: ids are the first 12 digits of the SHA-256 of each game's name."""

    finished: Count
    failed: Count
    ids: list[Annotated[str, Field(pattern="^[0-9a-f]{12}$")]]


class TableData(_Part):
    """A table: its columns, and rows with a value for each."""

    columns: list[str]
    rows: list[list[Any]]

    @model_validator(mode="after")
    def _whole(self) -> TableData:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("a row has not one value for each column")
        return self


class ReportData(_Part):
    """What report.json holds, as far as it is read again."""

    liescope_report: Literal[1]
    title: Name
    findings: list[str]
    notes: list[str]
    sources: list[str]
    words: list[str]
    versions: dict[str, str]
    games: Games
    counts: list[CombinationData]
    fits: list[FitData]
    tables: dict[Annotated[str, Field(pattern="^[a-z0-9_]{1,80}$")], TableData]
    missing: dict[str, str]

    @property
    def cells(self) -> pl.DataFrame:
        """The counts: condition, and the columns of `counting.counts.SCHEMA`."""
        kinds = {"condition": pl.String, **dict.fromkeys(PLAYERS, pl.String)}
        schema = {**kinds, "mafia_wins": pl.Int64, "games": pl.Int64}
        return pl.DataFrame([cell.model_dump(by_alias=True) for cell in self.counts], schema)


def read_report(path: Path) -> ReportData:
    """The report.json of a report. Raises BadData, naming the file and the place in it, where it cannot be one."""
    try:
        return ReportData.model_validate_json(read_bytes(path, LARGEST))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BadData(f"{path} is no report of `liescope report`: {where}: {first['msg']}; make it again") from None


def to_json(told: Report, gathered: Gathered, sources: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The content of report.json, which `ReportData` reads. settings: the options of the report."""
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
            "ids": _ids(games.frames.games["game_id"].to_list()) if games else [],
        },
        "counts": gathered.counts.to_dicts(),
        "fits": [] if fit is None else fit.get("conditions", [fit]),
    }


def _ids(names: Sequence[str]) -> list[str]:
    return sorted(hashlib.sha256(name.encode()).hexdigest()[:12] for name in names)
