"""A finished audit."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.report.contents import Report, with_interval
from liescope.common.text import Units, number_of
from liescope.detectors.study.alarms import PLAIN, SEVERITIES, Examined
from liescope.detectors.study.audited import AuditPlan
from liescope.detectors.study.controls import scorer_words
from liescope.detectors.study.figures import Figure, Finding, figure_table, study_json
from liescope.detectors.study.leaks import COPIES, SHUFFLES
from liescope.detectors.study.scores import scripted_warning
from liescope.detectors.study.shortcuts import SCORERS, SHORTCUTS

FEW = 30
"""Below so many games little can be found."""


@dataclass(frozen=True, repr=False)
class AuditResult:
    """What an audit found. units: what the corpus calls its statements and games; parts: what each check found;
    sources: where the words come from; told, files: the report, and its files, if one was written.
    """

    corpus: str
    plan: AuditPlan
    units: Units
    statements: int
    games: int
    prevalence: float
    parts: tuple[Examined, ...]
    sources: tuple[str, ...]
    told: Report | None = None
    files: tuple[Path, ...] = ()

    @property
    def rows(self) -> tuple[Figure, ...]:
        return tuple(figure for part in self.parts for figure in part.figures)

    @property
    def table(self) -> pl.DataFrame:
        """Every figure: scorer, target, where, metric, value, lo, hi, statements, games, prevalence, against, why."""
        return figure_table(self.rows)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The worst first; where none is an alarm, that first. What makes all figures doubtful leads its like."""
        order, doubtful = list(SEVERITIES), (SHUFFLES, COPIES)
        found = sorted(
            ((found.severity, part.name not in doubtful, found) for part in self.parts for found in part.findings),
            key=lambda one: (order.index(one[0]), one[0] == PLAIN or one[1]),
        )
        alarm = bool(found) and found[0][0] != PLAIN
        return (*(() if alarm else (self._no_alarm(),)), *(one for *_, one in found))

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings that are not plain."""
        return tuple(found for found in self.findings if found.severity != PLAIN)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(filter(None, [scripted_warning(self.sources)]))

    def _no_alarm(self) -> Finding:
        scored = next((part.figures for part in self.parts if part.name == SCORERS), ())
        here = [one for one in scored if one.where == scored[0].where and one.value is not None]
        blind = [one for one in here if one.scorer.partition(":")[2] in SHORTCUTS]
        words, best = "No alarm: no figure passes its limit", max(blind, key=lambda one: one.value or 0.0, default=None)
        if best is not None:
            knows = scorer_words(best.scorer).removeprefix("control: ")
            reached = with_interval(best.value, best.lo, best.hi, 3)
            words += f", and what does not read the statement reaches AUROC {reached} at most ({knows})"
        few = f" With {number_of(self.games, self.units.games[:-1])}, only large effects can be found."
        return Finding(f"{self.units.say(words)}.{few if self.games < FEW else ''}", (best,) if best else (), PLAIN)

    def to_json(self) -> dict[str, Any]:
        """What `liescope audit --json` prints."""
        counted = {"statements": self.statements, "games": self.games, "prevalence": self.prevalence}
        facts = {"corpus": self.corpus, **asdict(self.plan), **counted, "sources": list(self.sources)}
        return study_json(self.findings, self.rows, self.notes, **facts)

    def __str__(self) -> str:
        """The findings in words, the worst first."""
        return "\n".join(f"{found.severity}: {found.words}" for found in self.findings)

    def __repr__(self) -> str:
        counted = [sum(found.severity == severity for found in self.findings) for severity in SEVERITIES]
        kinds = ", ".join(f"{n} {severity}" for n, severity in zip(counted, SEVERITIES, strict=True))
        return f"<AuditResult {self.corpus}, {self.plan.target}: {kinds}>"
