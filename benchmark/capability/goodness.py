"""Goodness of fit: does the model scatter as the games do, how well would it predict a combination it has not seen, and
which scores have no finite estimate of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from liescope.benchmark.capability.backend import Array, smoothed_weights
from liescope.benchmark.capability.counts import DECEIVER, JUDGE, PLAYERS
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.results import TAILS, blocks, predictions, replicate, scores
from liescope.benchmark.capability.variants import PARAMETERS
from liescope.common.statistics import newcombe

DRAWS = 1000
K_MOST = 0.7  # Pareto k above which an observation's leave-one-out score is not to be trusted
MISFIT = 0.05  # posterior p below which a report warns


@dataclass(frozen=True, slots=True)
class Goodness:
    """Of one fit.

    chi2: Pearson's X² of the combinations, with the variance that the fitted model gives them, mean over the posterior;
    chi2_replicated: the same of data that the model makes; p: the posterior predictive p-value, the share of draws in
    which replicated data fit no better (near 0: the model misses something). dispersion: chi2 / chi2_replicated, 1 for
    a model that fits. inside: share of combinations inside their 95% interval. elpd, elpd_se: the expected log
    probability of a combination that was left out, by PSIS-LOO, and its standard error; unsure: how many have a Pareto
    k above 0.7, so that only refitting without them would tell. combinations, games: counted. separated: sentences
    about models that won or lost every game of a role, whose score is held by the prior alone.
    """

    chi2: float
    chi2_replicated: float
    p: float
    dispersion: float
    inside: float
    elpd: float
    elpd_se: float
    unsure: int
    combinations: int
    games: int
    separated: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Its fields, for JSON."""
        return {**asdict(self), "separated": list(self.separated)}

    def sentences(self) -> tuple[str, ...]:
        """What every report says."""
        fits = "" if self.p >= MISFIT else ", so the model misses something and its intervals are too narrow"
        unsure = f"; {self.unsure} of them by refitting only (Pareto k above {K_MOST})" if self.unsure else ""
        return (
            f"X² of the combinations is {self.chi2:.0f} where data made by the model give {self.chi2_replicated:.0f}: "
            f"dispersion {self.dispersion:.2f}, posterior p {self.p:.3f}{fits}.",
            f"A combination left out has an expected log probability of {self.elpd / self.combinations:.3f} (sum "
            f"{self.elpd:.1f}, standard error {self.elpd_se:.1f}, PSIS-LOO{unsure}).",
            *self.separated,
        )


def goodness(posterior: Posterior) -> Goodness:
    """How well a fit matches the counts it was made of."""
    random = np.random.default_rng(posterior.settings.seed)
    rho = posterior.rho(DRAWS)
    seen, replicated = np.zeros(len(rho)), np.zeros(len(rho))
    for part, starts in blocks(posterior.rows):
        chances, games, wins = posterior.chances(part, DRAWS), part["games"].to_numpy(), part["mafia_wins"].to_numpy()
        expected, spread = games * chances, games * chances * (1 - chances) * (1 + (games - 1) * rho)
        of = np.maximum(np.add.reduceat(spread, starts, axis=1), 1e-12)
        for total, counts in ((seen, wins), (replicated, replicate(random, games, chances, rho))):
            total += (np.square(np.add.reduceat(counts - expected, starts, axis=1)) / of).sum(axis=1)
    pointwise, k = left_out(posterior)
    cells = posterior.cells
    return Goodness(
        float(seen.mean()),
        float(replicated.mean()),
        float((replicated >= seen).mean()),
        float(seen.mean() / replicated.mean()),
        float(predictions(posterior)["inside"].to_numpy().mean()),
        float(pointwise.sum()),
        float(np.sqrt(len(pointwise) * pointwise.var(ddof=1))) if len(pointwise) > 1 else float("nan"),
        int((k > K_MOST).sum()),
        cells.height,
        int(cells["games"].sum()),
        separated(cells, posterior.variant.offset),
    )


def left_out(posterior: Posterior) -> tuple[Array, Array]:
    """(the log predictive probability of each combination had it been left out, by PSIS-LOO; its Pareto k), in the
    order of `posterior.cells`.
    """
    rho = posterior.rho(DRAWS)
    pointwise, k = [], []
    for part, starts in blocks(posterior.rows):
        wins, games = part["mafia_wins"].to_numpy(), part["games"].to_numpy()
        each = log_probability(wins, games, posterior.chances(part, DRAWS), rho)
        likelihood = np.add.reduceat(each, starts, axis=1).T
        weights, found = smoothed_weights(-likelihood)
        pointwise.append(np.logaddexp.reduce(weights + likelihood, axis=1))
        k.append(found)
    return np.concatenate(pointwise), np.concatenate(k)


def log_probability(wins: Array, games: Array, chances: Array, rho: Array) -> Array:
    """Of the wins of each row in each draw, shape (draws, rows). rho: shape (draws, 1), 0 for binomial counts."""
    from scipy.stats import betabinom, binom

    p = np.clip(chances, 1e-9, 1 - 1e-9)
    if not rho.any():
        return np.asarray(binom.logpmf(wins, games, p), dtype=np.float64)
    strength = (1 - rho) / np.maximum(rho, 1e-9)
    return np.asarray(betabinom.logpmf(wins, games, p * strength, (1 - p) * strength), dtype=np.float64)


def separated(cells: pl.DataFrame, offset: bool) -> tuple[str, ...]:
    """A sentence for the models whose side won every game that they played in one role, and one for those who lost.

    offset: whether judges have one, which such games leave open. Without it they say nothing of judges: v only
    turns a gap that other games measure, too.
    """
    said = []
    for role in PLAYERS if offset else PLAYERS[:2]:
        sums = cells.group_by(role).agg(pl.col("mafia_wins", "games").sum()).sort(role)
        what = "offset" if role == JUDGE else "score"
        for outcome, mafia in (("won", role == DECEIVER), ("lost", role != DECEIVER)):
            found = sums.filter(pl.col("mafia_wins") == (pl.col("games") if mafia else 0))
            if found.height == 1:
                ((model, _, games),) = found.iter_rows()
                told = f"{model} {outcome} all its {games} games as the {role}: its {what} there is"
            elif found.height:
                names = ", ".join(f"{model} ({games})" for model, _, games in found.iter_rows())
                told = (
                    f"{found.height} models {outcome} all their games as the {role}, {names}: their {what}s there are"
                )
            else:
                continue
            said.append(f"{told} bounded by the prior only (separation); more games against other players would tell.")
    return tuple(said)


_DIFFERENCE = dict.fromkeys(("difference", "lo", "hi"), pl.Float64())
DIFFERENCES = pl.Schema({**dict.fromkeys(("one", "other", "model", "parameter"), pl.String()), **_DIFFERENCE})
WIN_RATES = pl.Schema(
    {
        **dict.fromkeys(("one", "other", *PLAYERS), pl.String()),
        **{"rate_one": pl.Float64(), "games_one": pl.Int64(), "rate_other": pl.Float64(), "games_other": pl.Int64()},
        **_DIFFERENCE,
    }
)


def beside(kept: Posterior, left_out: Posterior) -> pl.DataFrame:
    """One row for each model and parameter: model, parameter, kept, kept_lo, kept_hi, left_out, left_out_lo,
    left_out_hi: posterior means and central 95% intervals, null if the model never held the role.
    """
    parts = []
    for name in PARAMETERS:
        one, other = (_scores(posterior, name, side) for side, posterior in (("kept", kept), ("left_out", left_out)))
        parts.append(one.join(other, on="model", how="left").with_columns(parameter=pl.lit(name)))
    table = pl.concat(parts).sort("model", "parameter")
    return table.select("model", "parameter", pl.all().exclude("model", "parameter"))


def _scores(posterior: Posterior, name: str, side: str) -> pl.DataFrame:
    """One parameter of the models that held its role: model, and mean, lo and hi under the name of the side."""
    ends = (pl.col(f"{name}_{end}").alias(f"{side}_{end}") for end in ("lo", "hi"))
    return scores(posterior).drop_nulls(name).select("model", pl.col(name).alias(side), *ends)


def against_each_other(posteriors: Mapping[str, Posterior]) -> pl.DataFrame:
    """The differences of m, d and v between every two conditions in which the same models hold a parameter's role:
    columns of DIFFERENCES, one minus other, posterior mean and central 95% interval of independent draws.

    Every fit has its own zero and unit (mean m is 0, mean v is 1), so a difference says how a model's place among these
    models changes; whether all of them change together is for the win rates to say.
    """
    rows = []
    for (one, first), (other, second) in combinations(posteriors.items(), 2):
        if any(first.names[name] != second.names[name] for name in ("m", "v")):
            continue
        for name in PARAMETERS:
            if first.names[name] != second.names[name] or not {name} <= first.draws.keys() & second.draws.keys():
                continue
            draws = [posterior.draws[name].reshape(-1, len(first.names[name])) for posterior in (first, second)]
            size = min(len(sample) for sample in draws)
            change = draws[0][:size] - _mixed(draws[1])[:size]
            lo, hi = np.quantile(change, TAILS, axis=0)
            for at, model in enumerate(first.names[name]):
                rows.append((one, other, model, name, float(change[:, at].mean()), float(lo[at]), float(hi[at])))
    return pl.DataFrame(rows, DIFFERENCES, orient="row")


def _mixed(draws: Array) -> Array:
    """The draws in random order. Two samples with one seed run in parallel; paired in order, their differences would be
    too small.
    """
    return draws[np.random.default_rng(0).permutation(len(draws))]


def win_rate_differences(cells: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """The mafia's win rate in one condition minus that in another, for each combination of players that both have:
    columns of WIN_RATES, Newcombe's 95% interval.
    """
    rows = []
    for (one, first), (other, second) in combinations(cells.items(), 2):
        for row in first.join(second, on=PLAYERS, suffix="_other").sort(PLAYERS).iter_rows(named=True):
            wins, games = row["mafia_wins"], row["games"]
            wins_other, games_other = row["mafia_wins_other"], row["games_other"]
            rates = wins / games, wins_other / games_other
            bounds = newcombe(wins, games, wins_other, games_other)
            names = (row[name] for name in PLAYERS)
            rows.append((one, other, *names, rates[0], games, rates[1], games_other, rates[0] - rates[1], *bounds))
    return pl.DataFrame(rows, WIN_RATES, orient="row")
