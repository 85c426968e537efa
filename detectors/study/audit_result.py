"""A finished audit, and its report: the worst findings, what each cheap scorer reaches, everything else folded."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.report.contents import Column, Estimate, Report, Section, Table
from liescope.common.text import Units
from liescope.detectors.study.audited import TEST
from liescope.detectors.study.controls import CONTROLS, scorer_words
from liescope.detectors.study.figures import PLAIN, SEVERITIES, Figure, Finding, figure_table, study_json
from liescope.detectors.study.metrics import words_of
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD, scripted_warning

_TOLD = 3
_PLACES = {OUT_OF_FOLD: "out of fold", TEST: "train to test"}
_HOW = (
    "Out of fold: folds by game over the whole corpus; train to test: the corpus's own split. 95% intervals are over "
    "whole games. A figure is an alarm only if it passes a limit by three standard errors."
)
_NOT_SHOWN = (
    "Only what stands here was looked for: no alarm is no proof that a detector would read for lies. A word may tell "
    "because of what it means: read where it stands. Figures over all games say little about one game where games "
    "differ in how many deceive."
)


@dataclass(frozen=True, repr=False)
class AuditResult:
    """What an audit found. target, split, seed: how it was made; units: what the corpus calls its statements and games;
    rows: every figure; findings: the worst first, and where none is an alarm, that first; sources: where the words come
    from; files: of the report, if one was written.
    """

    corpus: str
    target: str
    split: str
    seed: int
    units: Units
    statements: int
    games: int
    prevalence: float
    rows: tuple[Figure, ...]
    findings: tuple[Finding, ...]
    sources: tuple[str, ...]
    files: tuple[Path, ...] = ()

    @property
    def table(self) -> pl.DataFrame:
        """Every figure: scorer, target, where, metric, value, lo, hi, statements, games, prevalence, against, why."""
        return figure_table(self.rows)

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings that are not plain."""
        return tuple(found for found in self.findings if found.severity != PLAIN)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(filter(None, [scripted_warning(self.sources)]))

    def to_json(self) -> dict[str, Any]:
        """What `liescope audit --json` prints."""
        asked = ("corpus", "target", "split", "seed", "statements", "games", "prevalence")
        facts = {name: getattr(self, name) for name in asked}
        return study_json(self.findings, self.rows, self.notes, **facts, sources=list(self.sources))

    def __str__(self) -> str:
        """The findings in words, the worst first."""
        return "\n".join(f"{found.severity}: {found.words}" for found in self.findings)

    __repr__ = __str__

    @cached_property
    def told(self) -> Report:
        """The report."""
        counted = self.units.counted(self.statements, self.games, "labelled")
        return Report(
            f"What a detector could exploit in {self.corpus}",
            tuple(
                f"{found.severity.capitalize()}: {found.words}" if found.severity != PLAIN else found.words
                for found in self.findings[:_TOLD]
            ),
            notes=self.notes,
            meta=f"label_{self.target}: {counted}, {self.prevalence:.1%} deceptive. {self.units.say(_HOW)}",
            sections=tuple(section for section in self._sections() if section.table is None or section.table.rows()),
            tables={"report": self.table},
            files={"report.json": self.to_json()},
        )

    def _sections(self) -> list[Section]:
        say, scored = self.units.say, {(row.scorer, row.where): row for row in self.rows if _is_scorer(row)}
        places = [where for where in _PLACES if any(at == where for _, at in scored)]
        values = [
            (_name(scorer), *(_value(scored[scorer, where]) for where in places))
            for scorer in dict.fromkeys(scorer for scorer, _ in scored)
        ]
        others = [
            (
                _name(row.scorer),
                row.where if "=" in row.where else say(row.where),
                _value(row),
                words_of(row.metric, ""),
                row.statements,
                row.games,
            )
            for row in self.rows
            if not _is_scorer(row)
        ]
        rest = Table(("", "finding"), [(found.severity, found.words) for found in self.findings[_TOLD:]])
        best = Table(("it knows only", *(Column(_PLACES[where], format=".3f") for where in places)), values)
        columns = ("what", "where", Column("value (95%)", format=".3f"), "figure", "rows", self.units.games)
        grades = " ".join(f"{severity.capitalize()}: {meaning}." for severity, meaning in SEVERITIES.items())
        chance = "AUROC; 0.5 is chance. A detector that does no better may know no more."
        file = "report.csv"
        return [
            Section("findings", "What else was found", caption=grades, table=rest, printed=True),
            Section("scorers", "What cheap scorers reach", caption=chance, table=best, file=file, printed=True),
            Section("figures", "Every other figure", table=Table(columns, others), folded=True, file=file),
            Section("not-shown", "What this does not show", (say(_NOT_SHOWN),)),
        ]


def _is_scorer(row: Figure) -> bool:
    return row.where in _PLACES and row.scorer.removeprefix(CONTROL) in CONTROLS and not row.against


def _value(row: Figure) -> Estimate:
    return Estimate(row.value, row.lo, row.hi)


def _name(scorer: str) -> str:
    return scorer_words(scorer).removeprefix("control: ")
