"""What detectors say of the statements that are looked at: read from a report of `evaluate`, or a file of scores."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.common.reading import read_text
from liescope.common.text import plain
from liescope.detectors.study.metrics import DECISION
from liescope.detectors.study.scores import CONTROL, SCORES
from liescope.generate.corpus.read import is_corpus
from liescope.generate.runs.run_folder import PLAN_FILE

REPORT, TABLE = "report.json", "scores.parquet"
_HALF = 0.5

Scores = Mapping[str, Mapping[str, float]]
"""What detectors say, as probabilities of deception: statement_id to detector to score."""


@dataclass(frozen=True, slots=True)
class ShownDetector:
    """A detector whose scores are shown. target: the label that it was trained on; threshold: a statement with a
    higher score counts as called deceptive.
    """

    name: str
    target: str
    threshold: float


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The scores of some detectors. corpus: the name of the corpus that they were computed on, "" if not known."""

    corpus: str
    detectors: tuple[ShownDetector, ...]
    scores: Scores


def read_scores(path: Path, detectors: Sequence[str] = ()) -> ScoreTable:
    """The scores of a report's folder, or of a file that `liescope score --out` wrote.

    detectors: those to show, by default all but the controls. Raises BadData if there are no scores or they are
    damaged, UnknownName for a detector that has none.
    """
    known = _of_report(path) if path.is_dir() else _of_file(path)
    names = {detector.name for detector in known.detectors}
    for name in detectors:
        if name not in names:
            raise UnknownName(f"detector in {path}:", name, names)
    wanted = set(detectors) or {name for name in names if not name.startswith(CONTROL)} or names
    return replace(known, detectors=tuple(detector for detector in known.detectors if detector.name in wanted))


def is_report(folder: Path) -> bool:
    """Whether a folder is a report of `evaluate`."""
    return (folder / REPORT).is_file() and (folder / TABLE).is_file()


def games_of_report(report: Path, name: str) -> str:
    """The run or corpus that a report names, looked for beside it and in this folder's `corpus` and `runs`.

    Raises UsageError if it is not there.
    """
    last, near = Path(name).name, report.resolve().parent
    for base in (Path(), near, near.parent):
        for folder in (base / last, base / "corpus" / last, base / "runs" / last):
            if last and ((folder / PLAN_FILE).is_file() or is_corpus(folder)):
                return str(folder)
    raise UsageError(
        f"{report} is about {plain(name)!r}, which is not in corpus/ or runs/; say where it is: "
        f"liescope view CORPUS --scores {report}"
    )


def _of_report(folder: Path) -> ScoreTable:
    file = folder / REPORT
    try:
        report = json.loads(read_text(file))
    except (BadData, OSError, ValueError, RecursionError) as error:
        raise BadData(f"{folder} is no report of `liescope evaluate`: {REPORT} cannot be read") from error
    if not isinstance(report, dict) or "models" not in report or not (folder / TABLE).is_file():
        raise BadData(f"{folder} is no report of `liescope evaluate`: it lacks its models or {TABLE}")
    table = _read(folder / TABLE)
    if table.schema != pl.Schema(SCORES):
        raise BadData(f"{folder / TABLE} has other columns than `evaluate` writes; evaluate again")
    cuts = _thresholds(report)
    pairs = table.select("scorer", "target").unique(maintain_order=True).rows()
    several = {name for name, _ in pairs if sum(name == other for other, _ in pairs) > 1}
    shown = {(name, target): f"{name} ({target})" if name in several else name for name, target in pairs}
    detectors = tuple(ShownDetector(shown[pair], pair[1], cuts.get(pair, _HALF)) for pair in pairs)
    named = pl.when(pl.col("scorer").is_in(several))
    both = pl.format("{} ({})", "scorer", "target")
    table = table.select("statement_id", named.then(both).otherwise(pl.col("scorer")).alias("scorer"), "score")
    return ScoreTable(str(report.get("corpus", "")), detectors, _by_statement(table))


def _thresholds(report: Mapping[str, Any]) -> dict[tuple[str, str], float]:
    """The score above which each detector decides, by its name and target."""
    found = {}
    for chosen in report.get("thresholds", ()):
        cut = chosen.get(DECISION) if isinstance(chosen, dict) else None
        if isinstance(cut, int | float):
            found[str(chosen.get("scorer")), str(chosen.get("target"))] = float(cut)
    return found


def _of_file(path: Path) -> ScoreTable:
    if not path.is_file():
        raise UsageError(f"{path} is neither a report's folder nor a file of scores; check the path of --scores")
    if path.suffix not in _READERS:
        raise UsageError(f"{path} has none of the endings {', '.join(_READERS)}; make it with: liescope score --out")
    table = _read(path)
    if not {"statement_id", "score"} <= set(table.columns):
        raise BadData(f"{path} lacks the columns statement_id and score; score rows that have a statement_id")
    try:
        table = table.select(
            pl.col("statement_id").cast(pl.String), scorer=pl.lit(path.stem), score=pl.col("score").cast(pl.Float64)
        ).drop_nulls()
    except pl.exceptions.PolarsError as error:
        raise BadData(f"{path} holds scores that are no numbers") from error
    return ScoreTable("", (ShownDetector(path.stem, "role", _HALF),), _by_statement(table))


_READERS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    ".parquet": pl.read_parquet,
    ".jsonl": pl.read_ndjson,
    ".csv": pl.read_csv,
}


def _by_statement(table: pl.DataFrame) -> Scores:
    found: dict[str, dict[str, float]] = {}
    for statement, detector, score in table.select("statement_id", "scorer", "score").iter_rows():
        found.setdefault(statement, {})[detector] = score
    return found


def _read(path: Path) -> pl.DataFrame:
    try:
        return _READERS[path.suffix](path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise BadData(f"{path} is damaged ({str(error).splitlines()[0][:100]}); make it again") from error
