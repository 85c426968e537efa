"""The figures of a fit: scores, the uncertainty left, predictions, draws, chances to be first, goodness of fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.capability.backend import TAILS, Array
from liescope.benchmark.capability.counts import tally
from liescope.benchmark.capability.forms import form_of
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.priors import before_any_game, moves

MUCH = 0.5  # a page warns from this share on
Counted = npt.NDArray[np.int64]


def summary(draws: Array) -> tuple[Any, Any, Any]:
    """(mean, lo, hi) of draws along their first axis; lo and hi bound the central 95% interval."""
    lo, hi = np.quantile(draws, TAILS, axis=0)
    return draws.mean(axis=0), lo, hi


def uncertainty_left(posterior: Posterior) -> dict[str, float]:
    """By parameter (m, d, v, b), the share of the variance between players that is uncertainty, 0 to 1. The expected
    variance between players is the variance of their mean scores plus the mean posterior variance of a player's
    difference from the mean of all; the share is the second over the sum: 0 if games determine the parameter exactly, 1
    if they do not tell who is above whom. Without parameters that only one player has.
    """
    left = {}
    for name, draws in posterior.flat().items():
        if name in posterior.form.roles and draws.shape[1] > 1:
            apart = draws - draws.mean(axis=1, keepdims=True)
            left[name] = float(apart.var(axis=0).mean() / np.square(apart).mean())
    return left


def scores(posterior: Posterior) -> pl.DataFrame:
    """One row a model, highest m first: model, then m, m_sd, m_lo, m_hi, m_games and the same of d, v, and of the
    voter's offset b where the model has one; of contests, of m and v, with m_contests.

    They are posterior means, lo and hi bound the central 95% interval, games counts the games in that role. All but
    games are null if a model never held the role, or if the games do not determine its score
    (`Posterior.unidentified`).
    """
    untold, flat, form, unit = posterior.unidentified(), posterior.flat(), posterior.form, posterior.form.of
    table = pl.DataFrame({"model": sorted({model for name in form.parameters for model in posterior.names[name]})})
    for name, role in form.roles.items():
        if name not in flat:
            continue
        mean, lo, hi = summary(flat[name])
        values = {name: mean, f"{name}_sd": flat[name].std(axis=0, ddof=1), f"{name}_lo": lo, f"{name}_hi": hi}
        found = pl.DataFrame({"model": posterior.names[name], **values}).filter(
            ~pl.col("model").is_in(untold.get(name, ()))
        )
        held = posterior.cells.group_by(pl.col(role).alias("model")).agg(pl.col(unit).sum().alias(f"{name}_{unit}"))
        for part in (found, held):
            table = table.join(part, on="model", how="left", validate="1:1")
    return table.with_columns(pl.col(f"^._{unit}$").fill_null(0)).sort(
        "m", "model", descending=[True, False], nulls_last=True
    )


DRAWN_GAMES = 2000  # draws used to predict; more would cost time and not change the second decimal
AT_ONCE = 250  # combinations; with 2,000 draws an array of them takes 4 MB


def predictions(posterior: Posterior) -> pl.DataFrame:
    """The combinations with their predictions: the columns of the counts, observed (the mafia's win rate),
    predicted (its posterior mean), lo and hi (central 95% interval of the win rate of as many new games), inside.
    """
    found = []
    for cells, expected, _, wins in replicas(posterior):
        games, rate = cells[posterior.form.of].to_numpy(), pl.col(posterior.form.won) / pl.col(posterior.form.of)
        lo, hi = np.quantile(wins / games, TAILS, axis=0)
        found.append(cells.with_columns(observed=rate, predicted=expected.mean(axis=0) / games, lo=lo, hi=hi))
    return pl.concat(found).with_columns(inside=pl.col("observed").is_between("lo", "hi"))


def replicas(posterior: Posterior) -> Iterator[tuple[pl.DataFrame, Array, Array, Counted]]:
    """Some combinations at a time: their counts, and for each draw the wins that it expects, their variance, and the
    wins of as many new games, each of shape (draws, combinations).
    """
    random, few = np.random.default_rng(posterior.settings.seed), posterior.thinned(DRAWN_GAMES)
    rho = few.rho()
    for part, starts in blocks(posterior.rows):
        chances, games = few.chances(part), part[posterior.form.of].to_numpy()
        variance = games * chances * (1 - chances) * (1 + (games - 1) * rho)
        made = games * chances, variance, replicate(random, games, chances, rho)
        # `reduceat` sums the rows from each start to the next: one combination.
        expected, variance, wins = (np.add.reduceat(each, starts, axis=1) for each in made)
        yield tally(part), expected, np.maximum(variance, 1e-12), wins


def blocks(rows: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, Counted]]:
    """The rows, sorted by combination, some at a time, so that no array of draws holds them all; and at which row of
    the block each of its combinations begins.
    """
    players = form_of(rows).players
    rows = rows.sort(players)
    starts = rows.select(pl.struct(players).is_first_distinct().arg_true()).to_series().to_numpy().astype(np.int64)
    for begin, end in pairwise([*starts[::AT_ONCE], rows.height]):
        yield rows[int(begin) : int(end)], starts[(starts >= begin) & (starts < end)] - begin


def replicate(random: np.random.Generator, games: Counted, chances: Array, rho: Array) -> Counted:
    """Wins of as many new games, shape (draws, rows). chances: same shape; rho: shape (draws, 1), 0 for binomial."""
    if rho.any():  # chances scatter as a Beta, bounded away from where it is undefined
        p, strength = np.clip(chances, 1e-9, 1 - 1e-9), (1 - rho) / np.maximum(rho, 1e-9)
        chances = random.beta(p * strength, (1 - p) * strength)
    return random.binomial(games, chances)


def tidy_draws(posterior: Posterior) -> pl.DataFrame:
    """Every draw: chain, draw, parameter, model (for a shift, its level), value; learned widths as "sd of m"."""
    frames: list[pl.DataFrame] = []
    widths = {f"sd of {name}": values[..., None] for name, values in posterior.sds.items()}
    for name, draws in {**posterior.draws, **widths}.items():
        chain, draw, model = (axis.ravel() for axis in np.indices(draws.shape, dtype=np.int32))
        of = np.array(posterior.names.get(name, ("every one",)))[model]
        columns = {"chain": chain, "draw": draw, "parameter": pl.lit(name), "model": of, "value": draws.ravel()}
        frames.append(pl.select(**columns))
    return pl.concat(frames)


def labelled(frames: Mapping[str, pl.DataFrame], several: bool) -> pl.DataFrame:
    """The frames of conditions as one, with the column condition in front; columns that a frame lacks are null in its
    rows. several: if False, the only frame unchanged.
    """
    if not several:
        return next(iter(frames.values()), pl.DataFrame())
    parts = [frame.select(pl.lit(name).alias("condition"), pl.all()) for name, frame in frames.items()]
    return pl.concat(parts, how="diagonal") if parts else pl.DataFrame()


def to_json(posterior: Posterior) -> dict[str, Any]:
    """The fixed JSON of `fit --json`. A role that a model never held is null."""
    ends = {"mean": "", "sd": "_sd", "lo": "_lo", "hi": "_hi"}
    models = [
        {"model": row["model"]}
        | {
            name: None if row[name] is None else {end: row[f"{name}{column}"] for end, column in ends.items()}
            for name in posterior.form.roles
            if name in row
        }
        for row in scores(posterior).iter_rows(named=True)
    ]
    return {
        "variant": posterior.variant.name,
        "models": models,
        "left": uncertainty_left(posterior),
        "priors": moves(posterior).to_dicts(),
        "diagnostics": {**asdict(posterior.diagnostics), "faults": list(posterior.faults)},
    }


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
        parts.append(f"{len(others)} more, together {percent(float(chances[others].sum()))}")
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def percent(chance: float) -> str:
    """A probability in words; never certain, since it comes from draws."""
    return "more than 99%" if chance > 0.99 else f"{chance:.0%}" if chance >= 0.01 else "less than 1%"


FEW_DRAWS = 1000
MISFIT = 0.05  # posterior p below which a report warns
SPREAD = "its spread over combinations"
OBSERVED, FITTED, PRIORS = "observed", "the fitted model", "the priors alone"


@dataclass(frozen=True, slots=True)
class Goodness:
    """How well one fit matches its counts.

    chi2: Pearson's X² of the combinations, with the fitted model's variance, averaged over the posterior;
    chi2_replicated: the same for data simulated from the model; p: the posterior predictive p-value, the share of draws
    in which replicated data fit no better (near 0: the model misses something). dispersion: chi2 / chi2_replicated, 1
    for a model that fits. inside: share of combinations inside their 95% interval. combinations, games: their numbers.
    checks: rows with a figure (the rate of successes; its `SPREAD`, a standard deviation) of the observed games, or of
    as many that a model makes (source: OBSERVED, FITTED or PRIORS), its mean over draws (value), the central 95%.
    """

    chi2: float
    chi2_replicated: float
    p: float
    dispersion: float
    inside: float
    combinations: int
    games: int
    checks: list[dict[str, Any]]

    def sentence(self) -> str:
        """How counts scatter, beside those that the model makes."""
        fits = "" if self.p >= MISFIT else ", so the model misses something and its intervals are too narrow"
        return (
            f"X² of the combinations is {self.chi2:.0f} where data made by the model give {self.chi2_replicated:.0f}: "
            f"dispersion {self.dispersion:.2f}, posterior p {self.p:.3f}{fits}."
        )


def goodness(posterior: Posterior) -> Goodness:
    """How well a fit matches the counts it was made from."""
    cells, form = posterior.cells, posterior.form
    wins, games = (cells[column].to_numpy() for column in (form.won, form.of))
    rates = wins / games
    both = posterior.thinned(FEW_DRAWS), before_any_game(posterior, FEW_DRAWS)
    (seen, replicated, *fitted), (_, _, *before) = map(_sums, both)
    observed = [np.array([total]) for total in (wins.sum(), rates.sum(), np.square(rates).sum())]
    checks = []
    for source, (won, rate, square) in {OBSERVED: observed, FITTED: fitted, PRIORS: before}.items():
        spread = np.sqrt(np.maximum(square / cells.height - np.square(rate / cells.height), 0))
        for figure, drawn in zip((form.rate, SPREAD), (won / games.sum(), spread), strict=True):
            value, lo, hi = map(float, summary(drawn))
            checks.append({"figure": figure, "source": source, "value": value, "lo": lo, "hi": hi})
    chi2, made, p = map(float, (seen.mean(), replicated.mean(), (replicated >= seen).mean()))
    inside = float(predictions(posterior)["inside"].to_numpy().mean())
    return Goodness(chi2, made, p, chi2 / made, inside, cells.height, int(games.sum()), checks)


def _sums(posterior: Posterior) -> Array:
    """Summed over combinations, for each draw: X² of the counts and of as many new games, the mafia's wins in these,
    their rates and squared rates; shape (5, draws).
    """
    total: Any = 0.0
    for cells, expected, variance, wins in replicas(posterior):
        off = (np.square(each - expected) / variance for each in (cells[posterior.form.won].to_numpy(), wins))
        rates = wins / cells[posterior.form.of].to_numpy()
        total = total + np.stack([each.sum(axis=1) for each in (*off, wins, rates, np.square(rates))])
    return np.asarray(total)
