"""report.json: what a report found, and from what; written here, and read again as a stranger's file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from liescope.benchmark.counting.counts import PLAYERS
from liescope.benchmark.reporting.gathering import Gathered
from liescope.common.errors import BadData
from liescope.common.reading import read_bytes
from liescope.common.report.contents import Report

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


class CombinationData(_Part):
    """The games of one combination of players under one condition."""

    condition: str = ""
    mafioso: Name
    detective: Name
    villager: Name
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
        """The counts: condition, mafioso, detective, villager, mafia_wins, games."""
        kinds = {"condition": pl.String, **dict.fromkeys(PLAYERS, pl.String)}
        schema = {**kinds, "mafia_wins": pl.Int64, "games": pl.Int64}
        return pl.DataFrame([cell.model_dump() for cell in self.counts], schema)


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
