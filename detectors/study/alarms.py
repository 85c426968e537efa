"""When a figure is an alarm, and what an audit's checks find.

An audit makes dozens of comparisons, and the lower end of one 95% interval in forty lies above the truth by chance. So
a figure must pass its limit by three standard errors to be an alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from liescope.common.statistics import CHANGE, PROPORTION, Floats, Scale, Spread, estimate
from liescope.detectors.study.figures import Figure, Finding

SERIOUS, NOTABLE, PLAIN = "serious", "notable", "plain"
SEVERITIES = {
    SERIOUS: "large enough to pass for a detector, or to make one look better than it is",
    NOTABLE: "to be reported beside every figure on this corpus",
    PLAIN: "no alarm, for comparison",
}
"""The severities and what each asks of the reader, worst first."""
CHANCE, ERRORS = 0.5, 3
Limits = tuple[float, float]
"""Beyond what something is notable, and beyond what serious."""
BEYOND_CHANCE: Limits = (0.02, 0.15)
GAIN: Limits = (0.01, 0.05)
COPIED: Limits = (0.02, 0.3)
UNEVEN: Limits = (0.05, 0.15)


def graded(certain: float, limits: Limits) -> str:
    """The severity of what is certainly so large."""
    notable, serious = limits
    return SERIOUS if certain > serious else NOTABLE if certain > notable else PLAIN


@dataclass(frozen=True, slots=True)
class Jackknifed:
    """A figure over the rows of `game_weights`. span: the values that it can have."""

    values: Floats
    statements: int
    games: int
    prevalence: float | None = None
    span: Scale = PROPORTION

    def __sub__(self, other: Jackknifed) -> Jackknifed:
        """The difference, paired: both leave the same games out."""
        return Jackknifed(self.values - other.values, self.statements, self.games, self.prevalence, CHANGE)

    @property
    def value(self) -> float:
        return float(self.values[0])

    @property
    def certain(self) -> float:
        """The value less three standard errors; minus infinity if it is not defined, so that it passes no limit."""
        spread = Spread.of(self.values, self.games)
        return -np.inf if spread is None else self.value - ERRORS * spread.error

    def figure(self, scorer: str, target: str, where: str, metric: str, against: str | None = None) -> Figure:
        found = estimate(self.values, self.games, self.span)
        return Figure(scorer, target, where, metric, *found, self.statements, self.games, self.prevalence, against)

    def __format__(self, form: str) -> str:
        """The value with its interval, as in "0.61 (0.60 to 0.62)"; the form is that of a number."""
        value, lo, hi = estimate(self.values, self.games, self.span)
        if value is None:
            return "not defined"
        return format(value, form) if lo is None or hi is None else f"{value:{form}} ({lo:{form}} to {hi:{form}})"


@dataclass(frozen=True, slots=True)
class Examined:
    """What one check found."""

    figures: Sequence[Figure] = ()
    findings: Sequence[Finding] = ()
