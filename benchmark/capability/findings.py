"""What a fit found, in three sentences: who deceives best, who is believed most, who responds most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from liescope.benchmark.capability.results import TAILS
from liescope.common.report_page import with_interval

if TYPE_CHECKING:
    from liescope.benchmark.capability.posterior import Posterior
    from liescope.benchmark.fitting import ConditionFit

SURE = 0.95  # share of the draws from which on an order counts as settled
_LEADS = {
    "m": ("deceives best as the mafioso", "deceive best as the mafioso"),
    "d": ("is believed most as the detective", "be believed most as the detective"),
    "v": (
        "follows the better speaker most reliably as the villager",
        "follow the better speaker most reliably as the villager",
    ),
}


def findings(fits: Sequence[ConditionFit]) -> tuple[str, str, str]:
    """The model with the highest m, d and v of each condition, and how sure that is: the share of the posterior's draws
    in which it is the highest.
    """
    m, d, v = (_sentence(name, fits) for name in _LEADS)
    return m, d, v


def _sentence(parameter: str, fits: Sequence[ConditionFit]) -> str:
    said = [(f"with {fit.condition}, " if fit.condition else "") + _lead(parameter, fit.posterior) for fit in fits]
    text = "; ".join(said)
    return f"{text[:1].upper() if fits[0].condition else text[:1]}{text[1:]}."


def _lead(parameter: str, posterior: Posterior) -> str:
    if parameter not in posterior.draws:
        return f"the fitted model gives {parameter} no meaning of its own ({posterior.variant.formula})"
    names = posterior.names[parameter]
    draws = posterior.draws[parameter].reshape(-1, len(names))
    means = draws.mean(axis=0)
    best = int(means.argmax())
    lo, hi = np.quantile(draws[:, best], TAILS)
    score = f"{parameter} {with_interval(float(means[best]), lo, hi)}"
    is_best, be_best = _LEADS[parameter]
    if len(names) == 1:
        return f"{names[best]} alone was at this place, {score}"
    share = float((draws.argmax(axis=1) == best).mean())
    second = names[int(np.argsort(means)[-2])]
    settled = f"{names[best]} {is_best}" if share >= SURE else f"{names[best]} seems to {be_best}"
    ahead = "more than 99%" if share > 0.99 else f"{share:.0%}"
    return f"{settled}, {score}: ahead of all others in {ahead} of the draws; next is {second}"
