"""Figures under resamples of games, which all cells of a report share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.statistics import (
    PROPORTION,
    Bools,
    Floats,
    Scale,
    Weights,
    at_share,
    estimate,
    game_weights,
    share,
)
from liescope.detectors.evaluation.metrics import POOLED, WITHIN, Scored
from liescope.detectors.evaluation.ranking import pooled_auroc, rank_metrics, within_games
from liescope.detectors.transfer.table import Rows, Table

FIGURE = {
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    **dict.fromkeys(("statements", "players", "games"), pl.Int64),
    "prevalence": pl.Float64,
    "why": pl.String,
}


@dataclass(frozen=True, slots=True)
class Resamples:
    """The resamples of a table's games. y: (n,) of its statements; game, own: (n,) numbers of what is resampled, games
    that share a beginning as one, and of the games themselves; seated, seats: (players,) the same of its players.
    """

    y: Bools
    game: Rows
    own: Rows
    seated: Rows
    seats: Rows
    weights: Weights

    @classmethod
    def of(cls, table: Table, draws: int, seed: int) -> Resamples:
        games = table.frame.select("corpus", "siblings", "game_id").unique("game_id", maintain_order=True)
        families = games.select("corpus", "siblings").unique(maintain_order=True)
        number = games.with_row_index("own").join(
            families.select("siblings").with_row_index("number"), on="siblings", how="left", maintain_order="left"
        )
        sizes = families.group_by("corpus", maintain_order=True).len()["len"]
        weights = np.hstack([game_weights(size, draws, seed + i) for i, size in enumerate(sizes)])
        said, seated = (
            frame.select("game_id").join(number, on="game_id", how="left", maintain_order="left")
            for frame in (table.frame, table.players)
        )
        game, own, players, seats = (
            frame[column].to_numpy().astype(np.int64) for frame in (said, seated) for column in ("number", "own")
        )
        return cls(table.y, game, own, players, seats, weights)

    def auroc(self, rows: Rows, score: Floats) -> dict[str, Floats]:
        """`WITHIN` games and `POOLED` over them, of statements, over the rows of the weights."""
        return _aurocs(*self._scored(self.y[rows], score[rows], self.game[rows], self.own[rows]))

    def average_precision(self, rows: Rows, score: Floats) -> Floats:
        data, weights = self._scored(self.y[rows], score[rows], self.game[rows], self.own[rows])
        return rank_metrics(data, weights, {})["average_precision"]

    def auroc_of_players(self, rows: Rows, lies: Bools, score: Floats) -> dict[str, Floats]:
        """The same of players. rows: theirs; lies, score: of these rows."""
        return _aurocs(*self._scored(lies, score, self.seated[rows], self.seats[rows]))

    def mean(self, values: Floats, game: NDArray[np.int64]) -> Floats:
        """The mean of values that lie in games."""
        return share(values, np.ones(len(values)), game, self.weights)

    def surest(self, values: Floats, sure: Floats, game: NDArray[np.int64], part: float) -> Floats:
        """The same of this part of them, the surest."""
        return at_share(sure, values, part, self.weights[:, game])

    def statements(self, rows: Rows, values: Floats | None, why: str, span: Scale = PROPORTION) -> dict[str, Any]:
        """A figure of some statements, as the columns `FIGURE`."""
        prevalence = float(self.y[rows].mean()) if len(rows) else None
        facts = {"statements": len(rows), "games": len(np.unique(self.own[rows])), "prevalence": prevalence, "why": why}
        return figure(values, len(np.unique(self.game[rows])), facts, span)

    def _scored(self, y: Bools, score: Floats, game: Rows, own: Rows) -> tuple[Scored, Weights]:
        games, place = np.unique(game, return_inverse=True)
        data = Scored(y, score, place, len(games), np.unique(own, return_inverse=True)[1])
        return data, self.weights[:, games]


def _aurocs(data: Scored, weights: Weights) -> dict[str, Floats]:
    return {WITHIN: within_games(data, weights), POOLED: pooled_auroc(data, weights)}


def in_pairs(rows: Rows, y: Bools, own: Rows) -> Rows:
    """The rows of games with both classes. y, own: of these rows."""
    lies, honest = (np.bincount(own, column, own.max(initial=-1) + 1) for column in (y, ~y))
    return rows[((lies > 0) & (honest > 0))[own]]


def figure(values: Floats | None, games: int, facts: dict[str, Any], span: Scale = PROPORTION) -> dict[str, Any]:
    """The columns `FIGURE`. values: over the rows of the weights; games: how many it rests on."""
    found = (None, None, None) if values is None else estimate(values, games, span)
    return {**dict.fromkeys(FIGURE), **dict(zip(("value", "lo", "hi"), found, strict=True)), **facts}
