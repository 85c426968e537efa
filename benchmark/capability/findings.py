"""What a fit found, in three sentences: who deceives best, who is believed most, who responds most, where that is
settled; otherwise who is in the running, and how many games might settle it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from liescope.benchmark.capability.goodness import MISFIT
from liescope.benchmark.capability.laplace import effective
from liescope.benchmark.capability.results import TAILS
from liescope.benchmark.leads import SURE, chances_of_first, in_the_running, percent, settled
from liescope.common.report_page import with_interval

if TYPE_CHECKING:
    from liescope.benchmark.capability.backend import Array
    from liescope.benchmark.capability.posterior import Posterior
    from liescope.benchmark.fitting import ConditionFit

_LEADS = {
    "m": "deceives best as the mafioso",
    "d": "is believed most as the detective",
    "v": "follows the better speaker most reliably as the villager",
}
_ROLES = {"m": "the mafioso", "d": "the detective", "v": "the villager"}
_DOUBT = " (by a model that does not fit these games, whose intervals are too narrow)"
_MOST = 20  # times the games; beyond that no number is told


def findings(fits: Sequence[ConditionFit]) -> tuple[str, str, str]:
    """The model with the highest m, d and v of each condition if it is the highest in 95% of the posterior's draws;
    otherwise those still in the running.
    """
    m, d, v = (_sentence(name, fits) for name in _LEADS)
    return m, d, v


def _sentence(parameter: str, fits: Sequence[ConditionFit]) -> str:
    said = [(f"with {fit.condition}, " if fit.condition else "") + _lead(parameter, fit) for fit in fits]
    text = "; ".join(said)
    begins_with_name = not (fits[0].condition or text.startswith(("these games", "the fitted model")))
    return f"{text[:1] if begins_with_name else text[:1].upper()}{text[1:]}."


def _lead(parameter: str, fit: ConditionFit) -> str:
    posterior = fit.posterior
    if parameter not in posterior.draws:
        return f"the fitted model gives {parameter} no meaning of its own ({posterior.variant.formula})"
    names = posterior.names[parameter]
    if len(names) == 1:
        return f"{names[0]} alone was {_ROLES[parameter]}, so these games compare nobody there"
    if len(posterior.unidentified().get(parameter, ())) == len(names):
        return f"these games do not tell who {_LEADS[parameter]}: no {parameter} is known better than before any game"
    draws = posterior.draws[parameter].reshape(-1, len(names))
    chances = chances_of_first(draws)
    if (best := settled(chances)) is None:
        return (
            f"these games do not settle who {_LEADS[parameter]}: in the running, by the chance that {parameter} is "
            f"highest, are {in_the_running(names, chances)}; {_games(posterior, draws)}"
        )
    lo, hi = np.quantile(draws[:, best], TAILS)
    score = f"{parameter} {with_interval(float(draws[:, best].mean()), lo, hi)}"
    return (
        f"{names[best]} {_LEADS[parameter]}, {score}: ahead of all others in {percent(float(chances[best]))} of the "
        f"draws; next is {names[int(np.argsort(-chances)[1])]}{_DOUBT if fit.goodness.p < MISFIT else ''}"
    )


def _games(posterior: Posterior, draws: Array) -> str:
    """How many more games would settle who is first. draws: of the scores, shape (draws, models).

    The scores are taken to be their means. Their deviations fall with the root of the games, of which those of one
    combination count less the more there are, where counts are dispersed.
    """
    played, rho = posterior.cells["games"].to_numpy().astype(np.float64), float(posterior.rho().mean())
    means = draws.mean(axis=0)

    def chance(times: float) -> float:
        worth = effective(times * played, rho).sum() / effective(played, rho).sum()
        return float(chances_of_first(means + (draws - means) / np.sqrt(worth))[means.argmax()])

    if chance(_MOST) < SURE:
        return f"even {_MOST} times as many games like these would not settle it"
    more = (float(brentq(lambda times: chance(times) - SURE, 1, _MOST, xtol=0.01)) - 1) * played.sum()
    shown = max(1, round(more, 2 - len(str(int(more)))))
    return (
        f"about {shown:,.0f} more games like these should, if they differ as they seem to, and fewer if --suggest "
        "chooses them"
    )
