"""The reports that a leaderboard reads: strangers' folders, of which report.json is checked and nothing else opened."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.benchmark.reporting.data import LARGEST, Name, Number, ReportData
from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text
from liescope.detectors.evaluation.metrics import POOLED

REPORT_JSON = "report.json"
_OTHERS = ("report.html", "report.md")  # what other reports hold: fit, analyse, audit


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class WorstCell(_Part):
    """A line of the headline of `transfer`: the cell off the diagonal with the lowest figure. metric: which; reports of
    older versions have the pooled AUROC alone, and do not name it.
    """

    by: str
    protocol: str
    detector: Name
    kind: str
    metric: str = POOLED
    train: str | None
    test: str | None
    worst: Number | None
    worst_lo: Number | None
    worst_hi: Number | None
    mean: Number | None
    mean_lo: Number | None
    mean_hi: Number | None
    cells: int


class TransferData(_Part):
    """What is read of a report of `transfer`."""

    targets: dict[str, str]
    sources: list[str]
    headline: list[WorstCell]


class Metric(_Part):
    """A figure of `evaluate`."""

    detector: Name
    target: str
    split: str
    metric: str
    value: Number | None
    lo: Number | None
    hi: Number | None
    games: int
    against: str | None


class EvaluationData(_Part):
    """What is read of a report of `evaluate`."""

    corpus: str
    sources: list[str]
    models: dict[Name, dict[str, Any]] = Field(min_length=1)
    rows: list[Metric]


Data = ReportData | TransferData | EvaluationData
_KINDS: dict[str, type[ReportData | TransferData | EvaluationData]] = {
    "liescope_report": ReportData,
    "headline": TransferData,
    "thresholds_on": EvaluationData,
}
"""The key that tells a report of this kind, and its shape."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One report. name: of its folder, fit for an address and different from the others'; folder: as it was named;
    text: of its report.json.
    """

    name: str
    folder: str
    data: Data
    text: str


@dataclass(frozen=True, slots=True)
class Inputs:
    """entries: the reports with a place on a board; left_out: other reports by their folder, with the reason."""

    entries: tuple[Entry, ...]
    left_out: dict[str, str]

    def of(self, kind: type[Data]) -> list[Entry]:
        """The reports of one kind."""
        return [entry for entry in self.entries if isinstance(entry.data, kind)]


def open_reports(folders: Sequence[str | os.PathLike[str]]) -> Inputs:
    """The reports in these folders.

    Raises UsageError for a folder that is no report or is named twice, and if none has a place on a board; BadData for
    a report.json that cannot be one.
    """
    if len({Path(folder).resolve() for folder in folders}) < len(folders):
        raise UsageError("the same report is named twice; name each folder once")
    entries: list[Entry] = []
    left_out = {}
    for folder in map(Path, folders):
        found = _read(folder)
        if isinstance(found, str):
            left_out[str(folder)] = found
        else:
            data, text = found
            entries.append(Entry(_name(folder, [entry.name for entry in entries]), str(folder), data, text))
    if not entries:
        why = "; ".join(f"{folder}: {reason}" for folder, reason in left_out.items())
        raise UsageError(f"no report for a leaderboard ({why or 'none was named'}); make one with `liescope report`")
    return Inputs(tuple(entries), left_out)


def _read(folder: Path) -> tuple[Data, str] | str:
    """A report with the text of its report.json, or why it has no place on a board."""
    path = folder / REPORT_JSON
    if not path.is_file():
        if any((folder / name).is_file() for name in _OTHERS):
            return "a report of fit or analyse has no place of its own; `liescope report` puts both on one page"
        raise UsageError(f"{folder} is no report; name folders that `liescope report`, transfer or evaluate wrote")
    try:
        text = read_text(path, LARGEST)
        held = json.loads(text)
    except (ValueError, RecursionError):
        raise BadData(f"{path} is not JSON in UTF-8; make the report again") from None
    if not isinstance(held, dict):
        raise BadData(f"{path} is not a report; make it again")
    kind = next((shape for key, shape in _KINDS.items() if key in held), None)
    if kind is None:
        return "this kind of report has no board"
    try:
        return kind.model_validate_json(text), text
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise BadData(f"{path}: {where}: {first['msg']}; make the report again with this version") from None


def _name(folder: Path, taken: Sequence[str]) -> str:
    """A name for the files of a report: of its folder, in letters, digits, - and _."""
    stem = re.sub(r"[^A-Za-z0-9_]+", "-", folder.resolve().name).strip("-")[:60] or "report"
    tried = (stem, *(f"{stem}-{n}" for n in range(2, len(taken) + 3)))
    lower = {name.casefold() for name in taken}
    return next(name for name in tried if name.casefold() not in lower)
