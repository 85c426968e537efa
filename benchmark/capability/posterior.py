"""Fitting a model of the family: a posterior sample that can predict any combination of its models."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from scipy.special import expit

from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability.backend import Array, load, mixing, sample
from liescope.benchmark.capability.counts import schema, tally
from liescope.benchmark.capability.forms import DECEIVER, DISCLOSER, PLAYERS, VOTER, RoleForm
from liescope.benchmark.capability.model import PAPER, SLIPS, Variant, check_identified, logits
from liescope.common.errors import NotConverged, UnknownName
from liescope.common.statistics import laplace


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """The worst values over all parameters. seconds: how long sampling took."""

    r_hat_max: float
    ess_bulk_min: float
    ess_tail_min: float
    bfmi_min: float
    divergences: int
    draws: int
    chains: int
    seconds: float

    def faults(
        self, r_hat: float = 1.01, ess: float = 400, bfmi: float = 0.3, divergences: float = 0
    ) -> tuple[str, ...]:
        """The diagnostics beyond these limits with their numbers; empty for a usable sample. NaN fails."""
        checks = [
            (self.r_hat_max <= r_hat, f"r-hat is {self.r_hat_max:.3f} (at most {r_hat})"),
            (self.ess_bulk_min >= ess, f"bulk ESS is {self.ess_bulk_min:.0f} (at least {ess})"),
            (self.ess_tail_min >= ess, f"tail ESS is {self.ess_tail_min:.0f} (at least {ess})"),
            (self.bfmi_min >= bfmi, f"BFMI is {self.bfmi_min:.2f} (at least {bfmi})"),
            (self.divergences <= divergences, f"{self.divergences} transitions diverged (none may)"),
        ]
        return tuple(words for good, words in checks if not good)

    @property
    def near(self) -> bool:
        """Whether the sample, if it has faults, is near enough to be shown with a warning."""
        return not self.faults(1.05, 100, 0.15, 0.01 * self.draws * self.chains)


def bfmi(energy: Array) -> float:
    """Bayesian fraction of missing information, the worst chain; energy: shape (chains, draws)."""
    spread = energy.var(axis=1)
    if energy.shape[1] < 2 or not spread.all():
        return math.nan
    return float((np.square(np.diff(energy, axis=1)).mean(axis=1) / spread).min())


RATES = schema("text role model", "number slip slip_lo slip_hi drawn drawn_lo drawn_hi", "count votes")


def slip_rates(rows: pl.DataFrame) -> pl.DataFrame:
    """How often each model votes for the voter as deceiver or discloser (slip, of its readable votes), and how often
    the rules drew its vote (drawn), with central 95% intervals, by Laplace's rule: a frame of RATES. rows: from
    `rows_for`, with slips.
    """
    found: list[tuple[object, ...]] = []
    for role in PLAYERS:
        slips = pl.lit(None, pl.Int64) if role == VOTER else pl.col(f"{role}_slips").sum()
        counts = rows.group_by(pl.col(role).alias("model")).agg(
            pl.col(f"{role}_votes").sum().alias("read"), pl.col(f"{role}_drawn").sum().alias("drawn"), slips=slips
        )
        for model, read, drawn, slipped in counts.sort("model").iter_rows():
            slip = (None,) * 3 if slipped is None else laplace(slipped, read)
            found.append((role, model, *slip, *laplace(drawn, read + drawn), read + drawn))
    return pl.DataFrame(found, RATES, orient="row")


def win_chances(rows: pl.DataFrame, for_discloser: Array, rates: pl.DataFrame) -> Array:
    """The chance that mafia wins, shape (draws, rows), from the voter's readable votes for the discloser, same
    shape. rates: `slip_rates`, of which the means are taken.

    A drawn vote goes to either other player with chance 1/2. The player with most votes is arrested, ties broken by
    lot; the town wins if that is the deceiver.
    """

    def aims(role: str, other: Array | None = None) -> Array:
        """The chance of a vote that is no slip; for the voter, of one for the deceiver."""
        of = {model: rest for model, *rest in rates.filter(role=role).select("model", "slip", "drawn").iter_rows()}
        slip, drawn = np.array([of[model] for model in rows[role]], dtype=np.float64).T
        return np.asarray((1 - drawn) * (1 - (slip if other is None else other)) + drawn / 2)

    deceiver, discloser, voter = aims(DECEIVER), aims(DISCLOSER), aims(VOTER, for_discloser)
    one, both = deceiver * (1 - discloser) * voter / 3, deceiver * discloser * voter
    return np.asarray(1 - both - one - (1 - deceiver) * discloser * (voter + (1 - voter) / 3))


LEAST_LEARNED = 0.2  # share of a score's prior variance; if less is learned, it is not reported
RIVAL_LEAST = 0.01  # share of the probability from which a second mode is told
KNOWN_SD = 0.2  # a score this precise is reported, however little the models differ


@dataclass(frozen=True, slots=True)
class Posterior:
    """A sample that has converged, or has nearly (`faults`).

    rows: what was fitted, counts with the columns of the shifts; names: by parameter, its entries in order
    (the models that held its role; the levels of a shift); draws: by
    parameter, shape (chains, draws, names). sds: draws of the spread of a parameter's values (the sd of their prior),
    by parameter, shape (chains, draws); empty where that is fixed. rival: the share of the probability that a second
    mode has, which the draws may lack (`liescope.benchmark.capability.density.Density`).
    """

    rows: pl.DataFrame
    names: dict[str, tuple[str, ...]]
    draws: dict[str, Array]
    diagnostics: Diagnostics
    settings: SamplerOptions
    variant: Variant = PAPER
    sds: dict[str, Array] = field(default_factory=dict)
    rival: float = 0.0

    @property
    def form(self) -> RoleForm:
        return self.variant.form

    @property
    def cells(self) -> pl.DataFrame:
        """The counts that were fitted, by combination."""
        return tally(self.rows)

    @property
    def faults(self) -> tuple[str, ...]:
        """The failed diagnostics; empty if the sample has converged."""
        return self.diagnostics.faults()

    def learned(self) -> dict[str, Array]:
        """The share of each score's prior variance that the games removed: 0 if they say nothing about this model, near
        1 if they fix it. By parameter (m, d, v, b), shape (names,); a parameter with one name has no share. The prior
        variance is the spread between models, as learned from all of them.
        """
        shares = {}
        for name, draws in self.flat().items():
            if name not in self.form.roles or draws.shape[1] < 2:
                continue
            sd = self.sds.get(name, self.variant.prior_sd(name))
            prior = float(np.square(sd).mean()) * (1 - 1 / draws.shape[1])
            apart = draws - draws.mean(axis=1, keepdims=True)
            shares[name] = np.asarray(1 - apart.var(axis=0) / prior)
        return shares

    def unidentified(self) -> dict[str, tuple[str, ...]]:
        """Scores that must not be reported as if the games showed them: by parameter, the models whose score is less
        than a fifth learned (`learned`) and not known to within a fifth of a logit. Empty if there are none.
        """
        found, flat = {}, self.flat()
        for name, shares in self.learned().items():
            untold = (shares < LEAST_LEARNED) & (flat[name].std(axis=0) > KNOWN_SD)
            if models := tuple(model for model, one in zip(self.names[name], untold, strict=True) if one):
                found[name] = models
        return found

    def cautions(self) -> tuple[str, ...]:
        """Sentences that must stand beside the scores: what makes intervals too narrow, which scores are open."""
        said = []
        if self.rival >= RIVAL_LEAST:
            said.append(
                "THE SIGNS ARE IN DOUBT: a second solution, in which others of these models are ahead, has roughly "
                f"{self.rival:.0%} of the probability, and the draws may lack it. More games with other "
                f"{self.form.players[-1]}s would tell."
            )
        if self.variant.dispersed and self.variant.shifts:
            said.append(
                f"The intervals of scores are too narrow: games of one combination with another "
                f"{' or '.join(self.variant.shifts)} are counted as if they scattered apart from each other. Take "
                "scores and their intervals from the model without that term, and from this one what the term is worth."
            )
        for name, models in self.unidentified().items():
            every = len(models) == len(self.names[name])
            of = f"the {VOTER}'s offset" if name == "b" else self.form.as_role(name)
            whose = "any model" if every else ", ".join(models)
            said.append(
                f"These games do not tell {name} ({of}) of {whose}: it is known hardly better than before "
                "any game, so no number is given. More games in that role, with other players, would tell."
            )
        return tuple(said)

    def flat(self) -> dict[str, Array]:
        """Draws of all chains, shape (draws, names), by parameter."""
        return {name: draws.reshape(-1, draws.shape[-1]) for name, draws in self.draws.items()}

    def thinned(self, most: int) -> Posterior:
        """The same with at most so many draws, evenly spread, in one chain."""
        whole = self.flat()
        count = len(whole["m"])
        chosen = np.linspace(0, count - 1, min(most, count)).astype(np.int64)
        return replace(self, draws={name: values[None, chosen] for name, values in whole.items()})

    def logits(self, rows: pl.DataFrame) -> Array:
        """The logit of each row in each draw, shape (draws, rows): of a success (`RoleForm.event`), or, with slips, of
        the voter's vote for the discloser. rows: the columns of the players and of the shifts. Raises
        UnknownName for a model without a score in its role.
        """
        for name in self.form.parameters:
            for model in set(rows[self.form.roles[name]]) - set(self.names[name]):
                raise UnknownName(f"{self.form.roles[name]} of this fit", model, self.names[name])
        return logits(rows, self.names, self.flat())

    def chances(self, rows: pl.DataFrame) -> Array:
        """The chance of a success (`RoleForm.event`), shape (draws, rows)."""
        p = np.asarray(expit(self.logits(rows)), dtype=np.float64)
        return win_chances(rows, p, slip_rates(self.rows)) if SLIPS in self.variant.terms else p

    def rho(self) -> Array:
        """The correlation of two games of one combination in each draw, shape (draws, 1); 0 for binomial counts.

        With slips it is that of the voter's votes, and is used for wins too, which scatter less when others slip:
        predictions are then a little too wide.
        """
        draws = self.flat()
        return draws["rho"] if "rho" in draws else np.zeros((len(draws["m"]), 1))


def sampled(rows: pl.DataFrame, variant: Variant, settings: SamplerOptions) -> Posterior:
    """A sample of a model, which may not have converged. Raises MissingExtra without the packages that it needs."""
    load("numba", "arviz", *({"pymc"} & {settings.sampler}))  # before anything is compiled: errors come at once
    begin = time.perf_counter()
    # numba takes a second to import
    from liescope.benchmark.capability.density import Density
    from liescope.benchmark.capability.hamiltonian import hmc

    fitted = {"mafia_wins": "votes_for_discloser", "games": f"{VOTER}_votes"} if SLIPS in variant.terms else {}
    density = Density(rows.with_columns(**fitted), variant)
    drawn = (hmc if settings.sampler == "hmc" else sample)(density, settings)
    draws, sds = density.parameters(drawn.points), density.sds(drawn.points)
    free = variant.vectors[1], "rho"
    moving = {name: values for name, values in draws.items() if values.shape[-1] > 1 or name in free}
    diagnostics = Diagnostics(
        *mixing(moving | {f"sd of {name}": values[..., None] for name, values in sds.items()}),
        bfmi(drawn.energy),
        int(drawn.diverging.sum()),
        settings.draws,
        settings.chains,
        time.perf_counter() - begin,
    )
    return Posterior(rows, density.names, draws, diagnostics, settings, variant, sds, density.rival)


def fit(rows: pl.DataFrame, settings: SamplerOptions | None = None, variant: Variant = PAPER) -> Posterior:
    """Sample a model of the family. rows: counts (`liescope.benchmark.capability.counts.Counts`) of at least two
    models, as `liescope.benchmark.capability.model.rows_for` gives them for its terms.

    Raises UsageError if the counts cannot determine the parameters, MissingExtra without a sampler, and NotConverged,
    with the numbers and what to try, if the diagnostics are far from acceptable.
    """
    settings = settings or SamplerOptions()
    check_identified(rows, variant)
    posterior = sampled(rows, variant, settings)
    if posterior.faults and not posterior.diagnostics.near:
        raise NotConverged(
            f"the sampler has not converged, so there is no result: {'; '.join(posterior.faults)}. "
            f"{sample_longer(settings)}; if that does not help, these games leave some scores open: play "
            "more combinations (--design background or full)"
        )
    return posterior


def sample_longer(settings: SamplerOptions) -> str:
    """Advice for a sample that has not converged."""
    return (
        f"Sample longer (--draws {max(2000, 4 * settings.draws)} --tune {max(2000, 2 * settings.tune)}), with smaller "
        "steps if any diverged (--target-accept 0.99)"
    )
