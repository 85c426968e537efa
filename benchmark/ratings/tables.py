"""Ratings as tidy tables."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy.special import ndtri

from liescope.benchmark.counting.counts import PLAYERS
from liescope.benchmark.ratings.bradley_terry import OVERALL, Ratings
from liescope.benchmark.ratings.nash import Nash
from liescope.benchmark.ratings.scores import TAILS

ELO = float(400 / np.log(10))  # points of a rating for one logit: 400 points are odds of ten to one
MIDDLE = 1500.0  # the mean rating of the models of a role

ELO_SCHEMA = pl.Schema(
    {
        "role": pl.String,
        "model": pl.String,
        "games": pl.Int64,
        "wins": pl.Int64,
        **dict.fromkeys(("rating", "lo", "hi", "logit"), pl.Float64),
    }
)
NASH_SCHEMA = pl.Schema(
    {
        "role": pl.String,
        "model": pl.String,
        **dict.fromkeys(("rating", "lo", "hi", "share"), pl.Float64),
    }
)


def elo_table(cells: pl.DataFrame, ratings: Ratings) -> pl.DataFrame:
    """Ratings on Elo's scale, best first within each role, columns of ELO_SCHEMA. Roles that one model alone held are
    left out.

    role: also "overall". games, wins: of the model in the role, wins of its side. lo, hi: the central 95% interval.
    logit: the rating in logits, 0 in the mean of the role.
    """
    rows = []
    for role, names in ratings.names.items():
        if len(names) < 2:
            continue
        place = ratings.place(role)
        half = ndtri(TAILS[1]) * np.sqrt(np.diag(ratings.covariance)[place])
        mean = ratings.mean[place]
        for at in np.argsort(-mean, kind="stable"):
            numbers = (mean[at], mean[at] - half[at], mean[at] + half[at])
            elo = (MIDDLE + ELO * float(number) for number in numbers)
            rows.append((role, names[at], *_record(cells, role, names[at]), *elo, float(mean[at])))
    return pl.DataFrame(rows, ELO_SCHEMA, orient="row")


def nash_table(nash: Nash) -> pl.DataFrame:
    """Ratings by Nash averaging, best first within each role, columns of NASH_SCHEMA.

    rating: the win rate of the model's side against, and beside, the equilibrium, its mean over the draws with the
    central 95% interval; share: the chance that the equilibrium chooses the model, over its draws too.
    """
    rows = []
    for role in PLAYERS:
        rating, share = nash.ratings[role], nash.shares[role]
        columns = [rating.mean, *rating.interval(), share.mean]
        rows += [(role, rating.names[at], *(float(column[at]) for column in columns)) for at in rating.order()]
    return pl.DataFrame(rows, NASH_SCHEMA, orient="row")


def stacked(frames: Mapping[str, pl.DataFrame], key: str) -> pl.DataFrame:
    """The frames as one; `key` names the frame of each row, and columns that a frame lacks are null in its rows."""
    parts = [frame.select(pl.lit(name).alias(key), pl.all()) for name, frame in frames.items()]
    return pl.concat(parts, how="diagonal") if parts else pl.DataFrame()


def _record(cells: pl.DataFrame, role: str, model: str) -> tuple[int, int]:
    """(games, wins of its side) of a model; overall, a game counts once for each role that it held."""
    games = wins = 0
    for held in PLAYERS if role == OVERALL else (role,):
        part = cells.filter(pl.col(held) == model)
        mafia, played = int(part["mafia_wins"].sum()), int(part["games"].sum())
        games += played
        wins += mafia if held == "mafioso" else played - mafia
    return games, wins
