"""The capability model: logit p = v_k (m_i - d_j), the chance that mafioso i wins against detective j and villager k.

Mini-Mafia paper, Eq. 2. m is how well a model deceives, d how well it discloses, v how strongly it responds, as the
villager, to the gap between them; v may be negative.

The model has two symmetries: m and d shifted by one number, and v scaled against m and d, leave every p unchanged. The
paper samples all 3I parameters with priors N(0, 2) (Eq. 7) and rescales afterwards; its sampler then wanders along two
directions that the data do not constrain. Here both are fixed before sampling:

    m ~ ZeroSumNormal(2)          so the sum of m is 0
    d ~ Normal(0, 2)
    v = 1 + ZeroSumNormal(2)      so the mean of v is 1, and single v may be negative

Why these priors: the paper's fix no scale for m, d and v separately, only for products, so no prior on the rescaled
parameters is equivalent. We keep their family and width on the rescaled parameters themselves, where published
scores lie within -0.7 and 1.2 (m, d) and 0.3 and 3.0 (v): weak on that scale. On the paper's 140 cells the posterior
means of both agree within a quarter of a published standard deviation. Its printed standard deviations are larger: they
come from dividing all draws by one number, the mean of v over the posterior, which leaves the uncertainty of the scale
in; here each draw has mean v of exactly 1.

Flipping every sign is a solution too, with mean v of -1: fixing the mean at 1 assumes that a table listens, on average,
to the better speaker. Scores compare within one fit; across fits the scale differs.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit

from liescope.benchmark.capability.backend import Array, Settings, load_pymc, mixing, sample
from liescope.benchmark.capability.identification import PARAMETERS, Index, check_identified, code
from liescope.common.errors import NotConverged, UsageError

PRIOR_SD = 2.0
R_HAT_MOST = 1.01
ESS_LEAST = 400
BFMI_LEAST = 0.3


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """How far a sample can be trusted; worst over all parameters and chains. seconds: compiling and sampling."""

    r_hat_max: float
    ess_bulk_min: float
    ess_tail_min: float
    bfmi_min: float
    divergences: int
    draws: int
    chains: int
    seconds: float

    def faults(self) -> tuple[str, ...]:
        """The failed diagnostics with their numbers; empty for a usable sample. NaN fails."""
        checks = [
            (self.r_hat_max <= R_HAT_MOST, f"r-hat is {self.r_hat_max:.3f} (at most {R_HAT_MOST})"),
            (self.ess_bulk_min >= ESS_LEAST, f"bulk ESS is {self.ess_bulk_min:.0f} (at least {ESS_LEAST})"),
            (self.ess_tail_min >= ESS_LEAST, f"tail ESS is {self.ess_tail_min:.0f} (at least {ESS_LEAST})"),
            (self.bfmi_min >= BFMI_LEAST, f"BFMI is {self.bfmi_min:.2f} (at least {BFMI_LEAST})"),
            (self.divergences == 0, f"{self.divergences} transitions diverged (none may)"),
        ]
        return tuple(words for good, words in checks if not good)


@dataclass(frozen=True, slots=True)
class Posterior:
    """A converged sample. names: by parameter, the models that held its role (m mafioso, d detective, v villager),
    in order; draws: by parameter, shape (chains, draws, models). cells: the counts that were fitted.
    """

    cells: pl.DataFrame
    names: dict[str, tuple[str, ...]]
    draws: dict[str, Array]
    diagnostics: Diagnostics
    settings: Settings
    sampler: str


def fit(cells: pl.DataFrame, settings: Settings | None = None) -> Posterior:
    """Sample the capability model. cells: counts (`liescope.benchmark.counting.counts.Counts`) of at least two models.

    Raises UsageError if the counts cannot determine the parameters, MissingExtra without PyMC, and NotConverged,
    with the numbers and what to try, where the diagnostics fail.
    """
    settings = settings or Settings()
    if min(settings.draws, settings.tune) < 1 or settings.chains < 2:
        raise UsageError("a fit needs at least 1 draw, 1 step of tuning and 2 chains; r-hat compares chains")
    check_identified(cells)
    names, index = code(cells)
    begin = time.perf_counter()
    drawn = sample(lambda: build(cells, names, index), PARAMETERS, settings)
    seconds = time.perf_counter() - begin
    free = {name: draws for name, draws in drawn.values.items() if name == "d" or len(names[name]) > 1}
    mixed = mixing(free)
    diagnostics = Diagnostics(
        mixed.r_hat_max,
        mixed.ess_bulk_min,
        mixed.ess_tail_min,
        _bfmi(drawn.energy),
        drawn.divergences,
        settings.draws,
        settings.chains,
        seconds,
    )
    if faults := diagnostics.faults():
        raise NotConverged(
            f"the sampler has not converged, so there is no result: {'; '.join(faults)}. Sample longer "
            f"(--draws {max(2000, 4 * settings.draws)} --tune {max(2000, 2 * settings.tune)}), with smaller steps if "
            "any diverged (--target-accept 0.99); if that does not help, there are too few games for so many models"
        )
    return Posterior(cells, names, dict(drawn.values), diagnostics, settings, drawn.sampler)


def build(cells: pl.DataFrame, names: dict[str, tuple[str, ...]], index: dict[str, Index]) -> Any:
    """The PyMC model, with variables m, d and v. Raises MissingExtra without PyMC."""
    pm = load_pymc()

    import pytensor.tensor as pt

    def zero_sum(name: str, size: int) -> Any:
        return pm.ZeroSumNormal(name, sigma=PRIOR_SD, shape=size) if size > 1 else pt.zeros(size)

    with pm.Model() as model:
        m = pm.Deterministic("m", zero_sum("m_centred", len(names["m"])))
        d = pm.Normal("d", 0.0, PRIOR_SD, shape=len(names["d"]))
        v = pm.Deterministic("v", 1.0 + zero_sum("v_centred", len(names["v"])))
        gap = m[index["m"]] - d[index["d"]]
        pm.Binomial(
            "wins", n=cells["games"].to_numpy(), logit_p=v[index["v"]] * gap, observed=cells["mafia_wins"].to_numpy()
        )
    return model


def win_probability(m: Array, d: Array, v: Array) -> Array:
    """The chance that mafia wins (Eq. 2), element by element; arrays that broadcast together."""
    return np.asarray(expit(v * (m - d)), dtype=np.float64)


def normalise(m: Array, d: Array, v: Array) -> tuple[Array, Array, Array]:
    """The equivalent parameters with mean m of 0 and mean v of 1 (Eq. 6 and text); models on the last axis.

    Leaves every win probability unchanged. The mean of v must not be 0.
    """
    scale, shift = v.mean(axis=-1, keepdims=True), m.mean(axis=-1, keepdims=True)
    return (m - shift) * scale, (d - shift) * scale, v / scale


def _bfmi(energy: Array) -> float:
    """Bayesian fraction of missing information, the worst chain; energy: shape (chains, draws)."""
    spread = energy.var(axis=1)
    if energy.shape[1] < 2 or not spread.all():
        return math.nan
    return float((np.square(np.diff(energy, axis=1)).mean(axis=1) / spread).min())
