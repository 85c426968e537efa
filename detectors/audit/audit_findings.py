"""What an audit says: rows of figures, and sentences for those that passed a rule.

An audit makes dozens of comparisons, and the lower end of one 95% interval in forty lies above the truth by chance. So
a figure must pass its margin by three standard errors to be an alarm.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from liescope.common.statistics import DRAWS, PROPORTION, Estimate, Floats, Scale, estimate, resampled
from liescope.common.text import Units

SERIOUS, NOTABLE, PLAIN = "serious", "notable", "plain"
SEVERITIES = {
    SERIOUS: "large enough to pass for a detector, or to make one look better than it is",
    NOTABLE: "to be reported beside every figure on this corpus",
    PLAIN: "no alarm, for comparison",
}
"""The severities and what each asks of the reader, worst first."""

CHANCE = 0.5
ERRORS = 3
"""The standard errors, over games, by which a figure must pass its margin."""
MARGIN = 0.02
"""How far an AUROC must certainly lie above chance, or a share above nothing, to be worth an alarm."""
DIFFERENCE = 0.01
"""How large a difference of two AUROCs must certainly be."""
ASSOCIATED = 0.1
"""The Cramér's V that an association must certainly exceed."""
LARGE = 0.15
"""An AUROC that is certainly this far above chance is serious."""
LARGE_DIFFERENCE = 0.05
"""A difference of AUROCs that certainly exceeds this is serious."""
LARGE_SHARE = 0.3
"""A share that certainly exceeds this is serious."""
LARGE_ASSOCIATION = 0.3
"""A Cramér's V that certainly exceeds this is serious."""


@dataclass(frozen=True, slots=True)
class AuditRow:
    """One figure. check: the part of the audit; name: what was looked at; scheme: out-of-fold, train-test, or empty.

    lo, hi: its 95% interval over games (for `auroc_of_shuffles`, the lowest and highest); None where not defined.
    """

    check: str
    name: str
    scheme: str
    metric: str
    value: float | None
    lo: float | None
    hi: float | None
    statements: int
    games: int
    prevalence: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, and how much it matters. check, name: of the row that it rests on."""

    check: str
    name: str
    severity: str
    sentence: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure over the rows of `game_weights`. span: the values that it can have."""

    draws: Floats
    statements: int
    games: int
    prevalence: float | None = None
    span: Scale = PROPORTION

    def __sub__(self, other: Figure) -> Figure:
        """The difference, paired: both were resampled alike."""
        return Figure(self.draws - other.draws, self.statements, self.games, self.prevalence, (-1.0, 1.0))

    @property
    def value(self) -> float:
        return float(self.draws[0])

    @property
    def certain(self) -> float:
        """The value less three standard errors; minus infinity if it is not defined, so that it passes no rule."""
        drawn = resampled(self.draws)
        return self.value - ERRORS * float(drawn.std()) if len(drawn) > 1 and np.isfinite(self.value) else -np.inf

    def estimate(self) -> Estimate:
        """The value with its interval."""
        return estimate(self.draws, self.games, self.span)

    def row(self, check: str, name: str, scheme: str, metric: str) -> AuditRow:
        counted = (self.statements, self.games, self.prevalence)
        return AuditRow(check, name, scheme, metric, *self.estimate(), *counted)

    def __format__(self, form: str) -> str:
        """The value with its interval, as in "0.61 (0.60 to 0.62)"; the form is that of a number."""
        value, lo, hi = self.estimate()
        if value is None:
            return "not defined"
        return format(value, form) if lo is None or hi is None else f"{value:{form}} ({lo:{form}} to {hi:{form}})"


def graded(beyond: float, margin: float, large: float) -> str:
    """The severity of something that certainly lies `beyond` chance."""
    return SERIOUS if beyond > large else NOTABLE if beyond > margin else PLAIN


SHUFFLES = 20

ROWS = {
    **dict.fromkeys(("check", "name", "scheme", "metric"), pl.String),
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    **dict.fromkeys(("statements", "games"), pl.Int64),
    "prevalence": pl.Float64,
}


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """How an audit was made. split: as in SCHEMES; shuffles: of the labels; draws: resamples of games."""

    target: str = "role"
    split: str = "both"
    shuffles: int = SHUFFLES
    draws: int = DRAWS
    seed: int = 0


@dataclass(frozen=True, repr=False)
class AuditResult:
    """What an audit found. units: what the corpus calls its statements and games; rows: every figure; findings:
    sentences, worst first; sources: where the words come from; files: what was written.
    """

    corpus: str
    plan: AuditPlan
    units: Units
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
