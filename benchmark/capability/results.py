"""The figures of a fit: scores, predictions, draws and JSON; the uncertainty left, and who may be called first; how
well the model fits; and comparisons between fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.capability.backend import Array, smoothed_weights
from liescope.benchmark.capability.counts import DECEIVER, PLAYERS, VOTER, schema, tally
from liescope.benchmark.capability.model import PARAMETERS, ROLES
from liescope.benchmark.capability.posterior import Posterior
from liescope.common.statistics import newcombe

MUCH = 0.5  # a page warns from this share on


def uncertainty_left(posterior: Posterior) -> dict[str, float]:
    """By parameter (m, d, v, b), the share of the variance between players that is uncertainty, 0 to 1. The expected
    variance between players is the variance of their mean scores plus the mean posterior variance of a player's
    difference from the mean of all; the share is the second over the sum: 0 if games determine the parameter exactly, 1
    if they do not tell who is above whom. Without parameters that only one player has.
    """
    left = {}
    for name, draws in posterior.flat().items():
        if name in ROLES and draws.shape[1] > 1:
            apart = draws - draws.mean(axis=1, keepdims=True)
            left[name] = float(apart.var(axis=0).mean() / np.square(apart).mean())
    return left


def left_sentence(posterior: Posterior) -> str:
    """A sentence on the shares and what they mean for the scores; "" if there are none."""
    left = uncertainty_left(posterior)
    if not left:
        return ""
    shares = ", ".join(f"{name} {share:.0%}" for name, share in left.items())
    scale = (
        "Scores are drawn together by about as much: players may lie further apart than their scores."
        if posterior.variant.dispersed
        else "The priors of this model have a fixed width. Where the design has few backgrounds, it can set the scale: "
        "players may lie less far apart than their scores."
    )
    return (
        f"Of the variance between players, as much is uncertainty that these games leave: {shares}. At 0% they tell "
        f"the players apart exactly, at 100% not at all. {scale}"
    )


def warning(left: Mapping[str, float]) -> str:
    """A warning about parameters that games leave open, "" if there are none."""
    much = {name: share for name, share in left.items() if share >= MUCH}
    if not much:
        return ""
    shares = ", ".join(f"{name} ({share:.0%})" for name, share in much.items())
    return (
        f"THESE GAMES TELL LITTLE about the players' {shares}: so much of the variance between players is uncertainty "
        "that is left. Their order is in good part chance."
    )


Counted = npt.NDArray[np.int64]
MASS = 0.95  # bounds of every interval: the 2.5% and the 97.5% quantile
TAILS = ((1 - MASS) / 2, (1 + MASS) / 2)


def scores(posterior: Posterior) -> pl.DataFrame:
    """One row a model, highest m first: model, then m, m_sd, m_lo, m_hi, m_games and the same of d, v, and of the
    voter's offset b where the model has one.

    They are posterior means, lo and hi bound the central 95% interval, games counts the games in that role. All but
    games are null if a model never held the role, if the games do not determine its score (`Posterior.unidentified`),
    or if the fitted model has no such parameter.
    """
    models = pl.DataFrame({"model": sorted({model for name in PARAMETERS for model in posterior.names[name]})})
    for name, role in ROLES.items():
        if name not in PARAMETERS and name not in posterior.draws:
            continue
        held = posterior.cells.group_by(pl.col(role).alias("model")).agg(pl.col("games").sum().alias(f"{name}_games"))
        found = held.join(_summary(name, posterior), on="model", how="left", validate="1:1")
        columns = ["model", name, *(f"{name}_{end}" for end in ("sd", "lo", "hi", "games"))]
        models = models.join(found.select(columns), on="model", how="left", validate="1:1")
    return models.with_columns(pl.col("^._games$").fill_null(0)).sort(
        "m", "model", descending=[True, False], nulls_last=True
    )


def _summary(name: str, posterior: Posterior) -> pl.DataFrame:
    """model and the mean, sd, lo and hi of one parameter; no rows where the fitted model lacks it."""
    schema = {"model": pl.String, name: pl.Float64, **{f"{name}_{end}": pl.Float64 for end in ("sd", "lo", "hi")}}
    if name not in posterior.draws:
        return pl.DataFrame(schema=schema)
    draws = posterior.flat()[name]
    lo, hi = np.quantile(draws, TAILS, axis=0)
    values = posterior.names[name], draws.mean(axis=0), draws.std(axis=0, ddof=1), lo, hi
    untold = posterior.unidentified().get(name, ())
    return pl.DataFrame(dict(zip(schema, values, strict=True)), schema).filter(~pl.col("model").is_in(untold))


DRAWN_GAMES = 2000  # draws used to predict; more would cost time and not change the second decimal
AT_ONCE = 500  # combinations; with 2,000 draws an array of them takes 8 MB


def predictions(posterior: Posterior) -> pl.DataFrame:
    """The combinations with their predictions: the columns of the counts, observed (the mafia's win rate),
    predicted (its posterior mean), lo and hi (central 95% interval of the win rate of as many new games), inside.
    """
    random = np.random.default_rng(posterior.settings.seed)
    rho = posterior.rho(DRAWN_GAMES)
    found = []
    for part, starts in blocks(posterior.rows):
        chances, games, cells = posterior.chances(part, DRAWN_GAMES), part["games"].to_numpy(), tally(part)
        totals = cells["games"].to_numpy()
        # `reduceat` sums the rows from each start to the next: one combination.
        rates = np.add.reduceat(replicate(random, games, chances, rho), starts, axis=1) / totals
        lo, hi = np.quantile(rates, TAILS, axis=0)
        mean = np.add.reduceat(chances.mean(axis=0) * games, starts) / totals
        observed = pl.col("mafia_wins") / pl.col("games")
        found.append(cells.with_columns(observed=observed, predicted=mean, lo=lo, hi=hi))
    return pl.concat(found).with_columns(inside=pl.col("observed").is_between("lo", "hi"))


def blocks(rows: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, Counted]]:
    """The rows, sorted by combination, some at a time, so that no array of draws holds them all; and at which row of
    the block each of its combinations begins.
    """
    rows = rows.sort(PLAYERS)
    starts = rows.select(pl.struct(PLAYERS).is_first_distinct().arg_true()).to_series().to_numpy().astype(np.int64)
    for begin, end in pairwise([*starts[::AT_ONCE], rows.height]):
        yield rows[int(begin) : int(end)], starts[(starts >= begin) & (starts < end)] - begin


def replicate(random: np.random.Generator, games: Counted, chances: Array, rho: Array) -> Counted:
    """Wins of as many new games, shape (draws, rows). chances: same shape; rho: shape (draws, 1), 0 for binomial."""
    if rho.any():
        chances = random.beta(*_beta(chances, rho))
    return random.binomial(games, chances)


def _beta(chances: Array, rho: Array) -> tuple[Array, Array]:
    """(a, b) of the Beta distribution of a combination's chance, bounded away from 0, where it is undefined."""
    p, strength = np.clip(chances, 1e-9, 1 - 1e-9), (1 - rho) / np.maximum(rho, 1e-9)
    return p * strength, (1 - p) * strength


def tidy_draws(posterior: Posterior) -> pl.DataFrame:
    """Every draw: chain, draw, parameter, model (for a shift, its level), value."""
    frames = []
    for name, models in posterior.names.items():
        draws = posterior.draws.get(name)
        if draws is None:
            continue
        chain, draw, model = (axis.ravel() for axis in np.indices(draws.shape, dtype=np.int32))
        frames.append(
            pl.DataFrame(
                {"chain": chain, "draw": draw, "model": np.array(models)[model], "value": draws.ravel()}
            ).select("chain", "draw", pl.lit(name).alias("parameter"), "model", "value")
        )
    return pl.concat(frames)


def labelled(frames: Mapping[str, pl.DataFrame], several: bool) -> pl.DataFrame:
    """The frames of conditions as one, with the column condition in front; columns that a frame lacks are null in its
    rows. several: if False, the only frame unchanged.
    """
    if not several:
        return next(iter(frames.values()), pl.DataFrame())
    parts = [frame.select(pl.lit(name).alias("condition"), pl.all()) for name, frame in frames.items()]
    return pl.concat(parts, how="diagonal") if parts else pl.DataFrame()


def to_json(table: pl.DataFrame, posterior: Posterior) -> dict[str, Any]:
    """The fixed JSON of `fit --json`; table: `scores(posterior)`. A role that a model never held is null."""
    models = [
        {
            "model": row["model"],
            **{
                name: None
                if row[name] is None
                else {"mean": row[name], "sd": row[f"{name}_sd"], "lo": row[f"{name}_lo"], "hi": row[f"{name}_hi"]}
                for name in (*PARAMETERS, "b")
                if name in row
            },
        }
        for row in table.iter_rows(named=True)
    ]
    found = posterior.diagnostics
    diagnostics = {
        "r_hat_max": found.r_hat_max,
        "ess_bulk_min": found.ess_bulk_min,
        "divergences": found.divergences,
        "draws": found.draws,
        "chains": found.chains,
        "seconds": found.seconds,
        "faults": list(posterior.faults),
    }
    left = uncertainty_left(posterior)
    return {"variant": posterior.variant.name, "models": models, "left": left, "diagnostics": diagnostics}


SURE = 0.95
_NAMED = 5  # the most names given of those in the running


def chances_of_first(draws: Array) -> Array:
    """Each one's chance of being highest, shared among equals: shape (names,). draws: shape (draws, names)."""
    top = draws == draws.max(axis=1, keepdims=True)
    return np.asarray((top / top.sum(axis=1, keepdims=True)).mean(axis=0))


def settled(chances: Array) -> int | None:
    """The index of the one that may be called the best, None if there is none."""
    place = int(chances.argmax())
    return place if chances[place] >= SURE else None


def in_the_running(names: Sequence[str], chances: Array) -> str:
    """The likeliest to be first, as many as together have 95% of the probability: "a 60%, b 30% and c 7%"."""
    order = np.argsort(-chances, kind="stable")
    several = order[: int(np.searchsorted(np.cumsum(chances[order]), SURE - 1e-9)) + 1]  # rounding adds none
    parts = [f"{names[at]} {percent(float(chances[at]))}" for at in several[:_NAMED]]
    if others := list(several[_NAMED:]):
        share = percent(float(chances[others].sum()))
        parts.append(f"{len(others)} {'other' if len(others) == 1 else 'others, together'} {share}")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def percent(chance: float) -> str:
    """A probability in words; never certain, since it comes from draws."""
    if chance > 0.99:
        return "more than 99%"
    return f"{chance:.0%}" if chance >= 0.01 else "less than 1%"


FEW_DRAWS = 1000
K_MOST = 0.7  # Pareto k above which an observation's leave-one-out score is not to be trusted
MISFIT = 0.05  # posterior p below which a report warns


@dataclass(frozen=True, slots=True)
class Goodness:
    """How well one fit matches its counts.

    chi2: Pearson's X² of the combinations, with the fitted model's variance, averaged over the posterior;
    chi2_replicated: the same for data simulated from the model; p: the posterior predictive p-value, the share of draws
    in which replicated data fit no better (near 0: the model misses something). dispersion: chi2 / chi2_replicated, 1
    for a model that fits. inside: share of combinations inside their 95% interval. elpd, elpd_se: the expected log
    probability of left-out combinations, by PSIS-LOO, and its standard error; unsure: how many have a Pareto k above
    0.7, which would need a refit without them. combinations, games: their numbers. separated: sentences about models
    that won or lost every game in a role, whose score only the prior keeps finite.
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

    def sentences(self) -> tuple[str, ...]:
        """Sentences for every report."""
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
    """How well a fit matches the counts it was made from."""
    random = np.random.default_rng(posterior.settings.seed)
    rho = posterior.rho(FEW_DRAWS)
    seen, replicated = np.zeros(len(rho)), np.zeros(len(rho))
    for part, starts in blocks(posterior.rows):
        chances, games, wins = (
            posterior.chances(part, FEW_DRAWS),
            part["games"].to_numpy(),
            part["mafia_wins"].to_numpy(),
        )
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
    rho = posterior.rho(FEW_DRAWS)
    pointwise, k = [], []
    for part, starts in blocks(posterior.rows):
        wins, games = part["mafia_wins"].to_numpy(), part["games"].to_numpy()
        each = log_probability(wins, games, posterior.chances(part, FEW_DRAWS), rho)
        likelihood = np.add.reduceat(each, starts, axis=1).T
        weights, found = smoothed_weights(-likelihood)
        pointwise.append(np.logaddexp.reduce(weights + likelihood, axis=1))
        k.append(found)
    return np.concatenate(pointwise), np.concatenate(k)


def log_probability(wins: Array, games: Array, chances: Array, rho: Array) -> Array:
    """The log probability of each row's wins in each draw, shape (draws, rows). rho: as for `replicate`."""
    from scipy.stats import betabinom, binom

    if rho.any():
        return np.asarray(betabinom.logpmf(wins, games, *_beta(chances, rho)), dtype=np.float64)
    return np.asarray(binom.logpmf(wins, games, np.clip(chances, 1e-9, 1 - 1e-9)), dtype=np.float64)


def separated(cells: pl.DataFrame, offset: bool) -> tuple[str, ...]:
    """A sentence for models whose side won every game that they played in one role, and one for those that lost every
    game. offset: whether voters have one, which such games leave undetermined; without it, nothing is said about
    voters, whose v only scales gaps that other games measure, too.
    """
    said = []
    for role in PLAYERS if offset else PLAYERS[:2]:
        sums = cells.group_by(role).agg(pl.col("mafia_wins", "games").sum()).sort(role)
        what = "offset" if role == VOTER else "score"
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


DIFFERENCES = schema("text one other model parameter", "number difference lo hi")
WIN_RATES = schema(
    f"text one other {' '.join(PLAYERS)}",
    "number rate_one",
    "count games_one",
    "number rate_other",
    "count games_other",
    "number difference lo hi",
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

    Every fit has its own zero and unit (mean m is 0, mean v is 1), so a difference shows how a model's place among
    these models changes; only win rates show whether all of them change together.
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
    """The draws in random order. Two samples with one seed move in parallel; paired in order, their differences would
    vary too little.
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
