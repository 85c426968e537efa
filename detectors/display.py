"""Results for an 80-column terminal; a report has the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from liescope.common.report.contents import Report
from liescope.common.report.plain_text import terminal, terminal_table, wrapped
from liescope.common.text import OF_GAMES, Units, number_of, plain
from liescope.detectors.detector import ROLE
from liescope.detectors.study.evaluation_report import in_short, place_words
from liescope.detectors.study.metrics import HEADLINE
from liescope.detectors.study.scores import scripted_warning
from liescope.detectors.training import TrainResult


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
