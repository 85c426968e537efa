"""What an audit returns: its plan, every figure, and the sentences."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.statistics import DRAWS
from liescope.detectors.audit.findings import PLAIN, SEVERITIES, AuditRow, Finding

SHUFFLES = 20

ROWS = {
    **dict.fromkeys(("check", "name", "scheme", "metric"), pl.String),
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    **dict.fromkeys(("statements", "games"), pl.Int64),
    "prevalence": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """How an audit was made. split: as in SCHEMES; shuffles: of the labels; draws: resamples of games; marks: the
    file of people's marks, "" for none.
    """

    target: str = "role"
    split: str = "both"
    shuffles: int = SHUFFLES
    draws: int = DRAWS
    seed: int = 0
    marks: str = ""


@dataclass(frozen=True, repr=False)
class AuditResult:
    """What an audit found. rows: every figure; findings: sentences, worst first; sources: where the words come from;
    files: what was written.
    """

    corpus: str
    plan: AuditPlan
    statements: int
    games: int
    prevalence: float
    rows: tuple[AuditRow, ...]
    findings: tuple[Finding, ...]
    sources: tuple[str, ...]
    files: tuple[Path, ...] = ()

    @property
    def table(self) -> pl.DataFrame:
        """Every figure: check, name, scheme, metric, value, lo, hi, statements, games, prevalence."""
        return pl.DataFrame([row.to_json() for row in self.rows], schema=ROWS)

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings that are not plain."""
        return tuple(found for found in self.findings if found.severity != PLAIN)

    def to_json(self) -> dict[str, Any]:
        """What `liescope audit --json` prints."""
        return {
            "corpus": self.corpus,
            **asdict(self.plan),
            **{"statements": self.statements, "games": self.games, "prevalence": self.prevalence},
            "sources": list(self.sources),
            "findings": [found.to_json() for found in self.findings],
            "rows": [row.to_json() for row in self.rows],
        }

    def __repr__(self) -> str:
        counted = [sum(found.severity == severity for found in self.findings) for severity in SEVERITIES]
        kinds = ", ".join(f"{n} {severity}" for n, severity in zip(counted, SEVERITIES, strict=True))
        return f"<AuditResult {self.corpus}, {self.plan.target}: {kinds}>"
