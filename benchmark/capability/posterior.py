"""Fitting a model of the family: a posterior sample that knows its models, and predicts any combination of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import polars as pl
from scipy.special import expit

from liescope.benchmark.capability.backend import Array, Sample, Sampler, Settings, choose_sampler, load_pymc, mixing
from liescope.benchmark.capability.diagnostics import Diagnostics, bfmi
from liescope.benchmark.capability.identification import Index, check_identified
from liescope.benchmark.capability.model import Shape, build, code_rows, data, logits, parameters, shape_of
from liescope.benchmark.capability.slips import Slips, slips_of, win_chances
from liescope.benchmark.capability.variants import PAPER, Variant
from liescope.benchmark.counting.counts import PLAYERS, tally
from liescope.common.errors import NotConverged, UnknownName, UsageError


@dataclass(frozen=True, slots=True)
class Posterior:
    """A sample that has converged, or has nearly (`faults`).

    rows: what was fitted, counts with the columns of the shifts; names: by parameter, what it is a vector of, in order
    (the models that held the role: m mafioso, d detective, v and b villager; the levels of a shift); draws: by
    parameter, shape (chains, draws, names). slips: of a model with the term votes.
    """

    rows: pl.DataFrame
    names: dict[str, tuple[str, ...]]
    draws: dict[str, Array]
    diagnostics: Diagnostics
    settings: Settings
    sampler: str
    variant: Variant = PAPER
    slips: Slips | None = None

    @property
    def cells(self) -> pl.DataFrame:
        """The counts that were fitted, by combination."""
        return tally(self.rows)

    @property
    def faults(self) -> tuple[str, ...]:
        """What keeps the sample from having converged; empty if it has."""
        return self.diagnostics.faults()

    def flat(self, most: int | None = None) -> dict[str, Array]:
        """Draws of all chains, shape (draws, names), by parameter. most: as many, evenly spread."""
        whole = {name: draws.reshape(-1, draws.shape[-1]) for name, draws in self.draws.items()}
        count = len(whole["m"])
        if most is None or most >= count:
            return whole
        chosen = np.linspace(0, count - 1, most).astype(np.int64)
        return {name: draws[chosen] for name, draws in whole.items()}

    def logits(self, rows: pl.DataFrame, most: int | None = None) -> Array:
        """The logit of each row in each draw, shape (draws, rows): of the mafia's win, or, with the term votes, of the
        villager's vote for the detective. rows: mafioso, detective, villager, and the columns of the shifts. Raises
        UnknownName for a model without a score in its role.
        """
        for name, column in zip(("m", "d", "v"), PLAYERS, strict=True):
            for model in set(rows[column]) - set(self.names[name]):
                raise UnknownName(f"{column} of this fit", model, self.names[name])
        return logits(rows, self.names, self.flat(most))

    def chances(self, rows: pl.DataFrame, most: int | None = None) -> Array:
        """The chance that mafia wins, shape (draws, rows)."""
        p = np.asarray(expit(self.logits(rows, most)), dtype=np.float64)
        return p if self.slips is None else win_chances(rows, p, self.slips)

    def rho(self, most: int | None = None) -> Array:
        """The correlation of two games of one combination in each draw, shape (draws, 1); 0 for binomial counts.

        With the term votes it is that of the villager's votes, and is taken for wins too, which scatter less where the
        others slip: predictions are then a little too wide.
        """
        draws = self.flat(most)
        return draws["rho"] if "rho" in draws else np.zeros((len(draws["m"]), 1))


@lru_cache(maxsize=16)
def _compiled(shape: Shape, sampler: str) -> Sampler:
    """The sampler of a shape, compiled once in a process: that takes longer than most samples."""
    return Sampler(lambda: build(shape), parameters(shape.variant), sampler)


@dataclass(slots=True)
class Fitter:
    """A model compiled for rows, to be sampled once or many times with other counts in the same rows."""

    rows: pl.DataFrame
    variant: Variant
    settings: Settings
    _names: dict[str, tuple[str, ...]] = field(init=False)
    _index: dict[str, Index] = field(init=False)
    _sampler: Sampler = field(init=False)
    _compiling: float = field(init=False)

    def __post_init__(self) -> None:
        """Raises MissingExtra without PyMC, or without the sampler that the settings name."""
        load_pymc()
        begin = time.perf_counter()
        self._names, self._index = code_rows(self.rows, self.variant)
        self._sampler = _compiled(shape_of(self._names, self.variant), choose_sampler(self.settings.sampler))
        self._compiling = time.perf_counter() - begin

    def sample(self, rows: pl.DataFrame | None = None, seed: int | None = None) -> Posterior:
        """Sample, with `rows` in place of the rows that it was made for: the same combinations in the same order, other
        counts (0 of 0 games for one that is held out). The sample may not have converged.
        """
        used = self.rows if rows is None else rows
        begin = time.perf_counter()
        drawn = self._sampler.sample(self.settings, data(_fitted(used, self.variant), self._index), seed)
        seconds = time.perf_counter() - begin + self._compiling
        return Posterior(
            used,
            self._names,
            dict(drawn.values),
            self._diagnose(drawn, seconds),
            self.settings,
            drawn.sampler,
            self.variant,
            slips_of(used, self._draws(drawn), self.settings.seed) if "votes" in self.variant.terms else None,
        )

    def _diagnose(self, drawn: Sample, seconds: float) -> Diagnostics:
        fixed = {name for name, names in self._names.items() if len(names) < 2 and name not in ("d", "rho")}
        mixed = mixing({name: draws for name, draws in drawn.values.items() if name not in fixed})
        return Diagnostics(
            mixed.r_hat_max,
            mixed.ess_bulk_min,
            mixed.ess_tail_min,
            bfmi(drawn.energy),
            drawn.divergences,
            self.settings.draws,
            self.settings.chains,
            seconds,
        )

    def _draws(self, drawn: Sample) -> int:
        chains, draws, _ = drawn.values["m"].shape
        return int(chains * draws)


def fit(rows: pl.DataFrame, settings: Settings | None = None, variant: Variant = PAPER) -> Posterior:
    """Sample a model of the family. rows: counts (`liescope.benchmark.counting.counts.Counts`) of at least two models,
    as `liescope.benchmark.counting.rows.rows_for` gives them for the variant.

    Raises UsageError if the counts cannot determine the parameters, MissingExtra without PyMC, and NotConverged,
    with the numbers and what to try, where the diagnostics are far from what a result needs.
    """
    settings = settings or Settings()
    if min(settings.draws, settings.tune) < 1 or settings.chains < 2:
        raise UsageError("a fit needs at least 1 draw, 1 step of tuning and 2 chains; r-hat compares chains")
    check_identified(rows, variant)
    posterior = Fitter(rows, variant, settings).sample()
    if posterior.faults and not posterior.diagnostics.near:
        raise NotConverged(
            f"the sampler has not converged, so there is no result: {'; '.join(posterior.faults)}. "
            f"{sample_longer(settings)}; if that does not help, there are too few games for so many models"
        )
    return posterior


def sample_longer(settings: Settings) -> str:
    """What to try where a sample has not converged."""
    return (
        f"Sample longer (--draws {max(2000, 4 * settings.draws)} --tune {max(2000, 2 * settings.tune)}), with smaller "
        "steps if any diverged (--target-accept 0.99)"
    )


def _fitted(rows: pl.DataFrame, variant: Variant) -> pl.DataFrame:
    """The rows with the counts that the formula is fitted to in the columns mafia_wins and games."""
    if "votes" not in variant.terms:
        return rows
    return rows.with_columns(mafia_wins=pl.col("votes_for_detective"), games=pl.col("villager_votes"))
