"""The methods of a report that need counts alone, each as a function of the counts of every condition and their fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.counting.counts import Counts
from liescope.benchmark.fitting import FitResult
from liescope.benchmark.parts import Part, by_condition

Method = Callable[[Mapping[str, Counts], FitResult | None], Part]


def backgrounds(conditions: Mapping[str, Counts], fit: FitResult | None) -> Part:
    """Scores against fixed backgrounds, and their agreement with the capability model."""
    from liescope.benchmark.background.part import part_of_conditions

    return part_of_conditions({name: counts.cells for name, counts in conditions.items()}, _posteriors(fit))


def ratings(conditions: Mapping[str, Counts], fit: FitResult | None) -> Part:
    """Ratings of the games of each condition, and where methods disagree."""
    from liescope.benchmark.ratings.part import part

    posteriors = _posteriors(fit)
    return by_condition({name: part(counts.cells, posteriors.get(name)) for name, counts in conditions.items()})


def _posteriors(fit: FitResult | None) -> dict[str, Posterior]:
    return {one.condition: one.posterior for one in fit.fits} if fit else {}
