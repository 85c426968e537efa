"""The result of evaluate, transfer, bench and audit: figures, sentences that rest on them, and one way to present
both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

import polars as pl

from liescope.common.report.contents import Report
from liescope.common.report.files import write
from liescope.detectors.study.figures import Figure, Finding, figure_table


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class StudyResult:
    """The result of every study. rows: every figure; notes: what could not be computed, and what was left out;
    told, files: the report, and its files, if one was written.
    """

    rows: tuple[Figure, ...]
    notes: tuple[str, ...] = ()
    told: Report | None = None
    files: tuple[Path, ...] = ()

    @property
    def findings(self) -> Sequence[Finding]:
        """Sentences, each with the rows that it rests on; the first answers."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, Any]:
        """What holds for all figures: what they are about and how they were made."""
        raise NotImplementedError

    @property
    def metrics(self) -> pl.DataFrame:
        """The figures as a frame: scorer, target, where, metric, value, lo, hi, statements, games, prevalence,
        against, why.
        """
        return figure_table(self.rows)

    def to_json(self) -> dict[str, Any]:
        """What the command prints with --json, and report.json holds."""
        told = {"findings": list(map(asdict, self.findings)), "figures": list(map(asdict, self.rows))}
        return {**self.facts, **told, "notes": [*self.notes]}

    def with_report(self, told: Report, out: Path) -> Self:
        """With its report, written to a folder."""
        return replace(self, told=told, files=tuple(write(told, out)))

    def __str__(self) -> str:
        """The findings in words; the first answers."""
        return "\n".join(found.words for found in self.findings)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.findings[0].words}>"
