"""How far a sample can be trusted, and when it cannot be used at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from liescope.benchmark.capability.backend import Array, Sample

R_HAT_MOST = 1.01
ESS_LEAST = 400
BFMI_LEAST = 0.3
R_HAT_NEAR = 1.05  # from here on there is no result
ESS_NEAR = 100
DIVERGENT_NEAR = 0.01  # of all transitions
HOPELESS = 20.0  # natural logarithm of how many times likelier the region of the best chain is


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Worst over all parameters and chains, of those that are used. seconds: of sampling. left_out: chains that
    stayed in a region of the parameters that is hopelessly less likely (`together`).
    """

    r_hat_max: float
    ess_bulk_min: float
    ess_tail_min: float
    bfmi_min: float
    divergences: int
    draws: int
    chains: int
    seconds: float
    left_out: int = 0

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

    def remarks(self) -> tuple[str, ...]:
        """What must be said of a sample that has no faults, too."""
        if not self.left_out:
            return ()
        chains = f"{self.left_out} of {self.left_out + self.chains} chains"
        return (
            f"{chains} stayed around other values, which are at least e^{HOPELESS:.0f} times less likely, and "
            f"{'is' if self.left_out == 1 else 'are'} left out.",
        )

    @property
    def near(self) -> bool:
        """Whether the sample, if it has faults, is near enough to be shown with a warning."""
        return (
            self.r_hat_max <= R_HAT_NEAR
            and min(self.ess_bulk_min, self.ess_tail_min) >= ESS_NEAR
            and self.bfmi_min >= BFMI_LEAST / 2
            and self.divergences <= DIVERGENT_NEAR * self.draws * self.chains
        )


def together(sample: Sample) -> tuple[Sample, int]:
    """(the chains of a sample that explored the region with the most probability; how many are left out).

    A chain that is caught in a local mode never leaves it, and would count for as much as each of the others. How much
    probability lies around a chain is told as if it were Gaussian: the mean log density there, and the logarithms of
    how far its points spread. A chain is left out where that is e^20 times less than around another; at least two stay,
    or all do.
    """
    spread = np.maximum(sample.points.std(axis=1), np.finfo(np.float64).tiny)
    mass = sample.heights.mean(axis=1) + np.log(spread).sum(axis=1)
    kept = mass >= mass.max() - HOPELESS
    if kept.all() or kept.sum() < 2:
        return sample, 0
    parts = {name: getattr(sample, name)[kept] for name in ("points", "heights", "energy", "diverging")}
    return replace(sample, **parts), int((~kept).sum())


def bfmi(energy: Array) -> float:
    """Bayesian fraction of missing information, the worst chain; energy: shape (chains, draws)."""
    spread = energy.var(axis=1)
    if energy.shape[1] < 2 or not spread.all():
        return math.nan
    return float((np.square(np.diff(energy, axis=1)).mean(axis=1) / spread).min())
