"""Results for an 80-column terminal; a report has the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

import polars as pl

from liescope.common.report.contents import Report
from liescope.common.report.plain_text import terminal, terminal_table, wrapped
from liescope.common.text import OF_GAMES, Units, number_of, plain
from liescope.detectors.detector import ROLE
from liescope.detectors.study.evaluation_report import in_short, place_words
from liescope.detectors.study.metrics import HEADLINE
from liescope.detectors.study.scores import scripted_warning
from liescope.detectors.training import TrainResult

_FLAGS = {"flag_at_1pct_fpr": "flagged at 1% FPR", "flag_at_5pct_fpr": "flagged at 5% FPR"}


def training_lines(result: TrainResult) -> Iterator[str]:
    """The detector's own figures, out of fold on train and on validation."""
    facts, confidence = result.file.training, result.file.confidence
    folds = "train is scored out of fold" if facts.folds else "without folds, so that train has no scores"
    alone = facts.statements == facts.games  # texts or conversations with a label each
    called = Units("statements", "groups") if alone or result.file.target == "gold" else OF_GAMES
    yield wrapped(
        f"{result.file.kind} trained on {called.counted(facts.statements, facts.games)}, "
        f"{facts.prevalence or 0:.1%} deceptive ({facts.without_label:,} have no {result.file.target} label); {folds}"
    )
    if facts.lost:
        yield wrapped(f"note: {facts.lost:,} statements are left out: their text was lost before publication")
    for where in dict.fromkeys(row.where for row in result.rows):
        here = [row for row in result.rows if row.where == where and row.metric in HEADLINE and row.against is None]
        yield wrapped(place_words(where))
        yield from terminal_table(in_short(result.rows, here, where, "" if alone else called.games))
    if result.file.target == ROLE and not alone:
        yield "players after the whole game: `liescope evaluate` ranks them"
    none = "none (not asked for, or it did not lower the log loss)"
    yield wrapped(f"calibration: {confidence.statements.words() if confidence.statements else none}")
    if confidence.labels:
        honest, lies = confidence.labels.games
        had = f"{number_of(honest, called.games[:-1])} with honest and {lies:,} with deceptive {called.statements}"
        yield wrapped(f"verdict limits from {had}")
    yield from (wrapped(f"note: {note}") for note in result.notes)
    if warning := scripted_warning(facts.sources):
        yield wrapped(warning)
    yield f"model: {plain(str(result.model))}"


class Written(Protocol):
    """A result of which a report was written."""

    @property
    def told(self) -> Report | None: ...
    @property
    def files(self) -> tuple[Path, ...]: ...


def report_lines(result: Written) -> Iterator[str]:
    """The report in short, and its files."""
    yield from terminal(result.told) if result.told else ()
    yield from (plain(str(path)) for path in result.files)


def score_lines(table: pl.DataFrame, width: int | None) -> Iterator[str]:
    """One line per statement: its score, the strictest threshold it exceeds, its verdict, its text; below one that is
    flagged and has no verdict, why. Without a width (for a pipe), columns are separated by tabs, the text is not cut,
    and the verdict says why it abstains.
    """
    for row in table.iter_rows(named=True):
        above = [words for column, words in _FLAGS.items() if row.get(column)]
        score = "–" if row["score"] is None else f"{row['score']:.3f}"
        flag = row["score_null"] or (above[0] if above else "not flagged")
        verdict, text = row["verdict"] or "–", " ".join(plain(row["text"]).split())
        why = row.get("abstains")
        if width is None:
            yield f"{score}\t{flag}\t{f'{verdict} ({why})' if why else verdict}\t{text}"
        else:
            yield _cut(f"{score:5}  {flag:17}  {verdict:9}  {text}", width)
            yield from reason_lines([f"abstains: {why}"] if why and above else (), width)
        yield from reason_lines(row.get("reasons") or (), width)


def reason_lines(reasons: Iterable[str], width: int | None) -> Iterator[str]:
    """Indented lines, below that of their score."""
    for reason in reasons:
        line = f"    {plain(reason)}"
        yield line if width is None else _cut(line, width)


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else f"{line[: width - 1]}…"
