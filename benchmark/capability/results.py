"""The results of a fit as tidy frames: scores, predictions with the counts, draws, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import JUDGE, PLAYERS, tally
from liescope.benchmark.capability.posterior import ROLE_OF, Posterior
from liescope.benchmark.capability.variants import PARAMETERS

MUCH = 0.5  # share from which on a page warns


def uncertainty_left(posterior: Posterior) -> dict[str, float]:
    """By parameter (m, d, v, b), the share of the variance between players that is uncertainty, 0 to 1. The variance
    between players, as the posterior has it in the mean, is that of their mean scores and the posterior variance of a
    player's difference from the mean of all; the share is the second by both. 0 where games tell the parameter exactly,
    1 where they tell nothing of who is above whom. Without parameters that one player alone has.
    """
    left = {}
    for name, draws in posterior.flat().items():
        if name in ROLE_OF and draws.shape[1] > 1:
            apart = draws - draws.mean(axis=1, keepdims=True)
            left[name] = float(apart.var(axis=0).mean() / np.square(apart).mean())
    return left


def left_sentence(posterior: Posterior) -> str:
    """The shares, in a sentence, and what they do to the scores; "" where there are none."""
    left = uncertainty_left(posterior)
    if not left:
        return ""
    shares = ", ".join(f"{name} {share:.0%}" for name, share in left.items())
    scale = (
        "Scores are drawn together by about as much: players may lie further apart than their scores."
        if posterior.variant.learned
        else "The priors of this model have a fixed width. Where the design has few backgrounds, it can set the scale: "
        "players may lie less far apart than their scores."
    )
    return (
        f"Of the variance between players, as much is uncertainty that these games leave: {shares}. At 0% they tell "
        f"the players apart exactly, at 100% not at all. {scale}"
    )


def warning(left: Mapping[str, float]) -> str:
    """What must be said of parameters about which much is left, "" if there are none."""
    much = {name: share for name, share in left.items() if share >= MUCH}
    if not much:
        return ""
    shares = ", ".join(f"{name} ({share:.0%})" for name, share in much.items())
    return (
        f"THESE GAMES TELL LITTLE about the players' {shares}: so much of the variance between players is uncertainty "
        "that is left. Their order is in good part chance."
    )


Counted = npt.NDArray[np.int64]
MASS = 0.95  # of every interval: between the 2.5% and the 97.5% quantile
TAILS = ((1 - MASS) / 2, (1 + MASS) / 2)


def scores(posterior: Posterior) -> pl.DataFrame:
    """One row a model, highest m first: model, then m, m_sd, m_lo, m_hi, m_games and the same of d, v, and of the
    judge's offset b where the model has one.

    They are posterior means, lo and hi bound the central 95% interval, games counts the games in that role. All
    but games are null if a model never held the role, if the games do not tell its score (`Posterior.unidentified`), or
    the fitted model has no such parameter.
    """
    models = pl.DataFrame({"model": sorted({model for name in PARAMETERS for model in posterior.names[name]})})
    for name, role in {**dict(zip(PARAMETERS, PLAYERS, strict=True)), "b": JUDGE}.items():
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


DRAWN_GAMES = 2000  # draws used to predict; more cost time and change no second decimal
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
        p = np.clip(chances, 1e-9, 1 - 1e-9)
        strength = (1 - rho) / np.maximum(rho, 1e-9)
        chances = random.beta(p * strength, (1 - p) * strength)
    return random.binomial(games, chances)


def tidy_draws(posterior: Posterior) -> pl.DataFrame:
    """Every draw: chain, draw, parameter, model (of a shift: its level), value."""
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
    rows. several: without it, the only one as it is.
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


ROLES = dict(zip("mdvb", (*PLAYERS, PLAYERS[2]), strict=True))
"""By parameter of a model, the role in which it has it."""


SURE = 0.95
_NAMED = 5  # of those in the running


def chances_of_first(draws: Array) -> Array:
    """The chance of each to be highest, shared among equals: shape (names,). draws: shape (draws, names)."""
    top = draws == draws.max(axis=1, keepdims=True)
    return np.asarray((top / top.sum(axis=1, keepdims=True)).mean(axis=0))


def settled(chances: Array) -> int | None:
    """The place of the one that may be named as the best, None while there is none."""
    place = int(chances.argmax())
    return place if chances[place] >= SURE else None


def in_the_running(names: Sequence[str], chances: Array) -> str:
    """The likeliest to be first, as many as together have 95% of the probability: "a 60%, b 30% and c 7%"."""
    order = np.argsort(-chances, kind="stable")
    several = order[: int(np.searchsorted(np.cumsum(chances[order]), SURE - 1e-9)) + 1]
    parts = [f"{names[at]} {percent(float(chances[at]))}" for at in several[:_NAMED]]
    if others := list(several[_NAMED:]):
        share = percent(float(chances[others].sum()))
        parts.append(f"{len(others)} {'other' if len(others) == 1 else 'others, together'} {share}")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def percent(chance: float) -> str:
    """A probability in words; nothing that was drawn is certain."""
    if chance > 0.99:
        return "more than 99%"
    return f"{chance:.0%}" if chance >= 0.01 else "less than 1%"
