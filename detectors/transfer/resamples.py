"""Figures under resamples of games, which all cells of a report share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.detectors.evaluation.bootstrap import at_share, estimate, game_weights, share
from liescope.detectors.evaluation.metrics import Bools, Floats, Scored, Weights
from liescope.detectors.evaluation.ranking import rank_metrics
from liescope.detectors.transfer.table import Rows, Table

FIGURE = {
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    **dict.fromkeys(("statements", "players", "games"), pl.Int64),
    "prevalence": pl.Float64,
    "why": pl.String,
}


@dataclass(frozen=True, slots=True)
class Resamples:
    """The resamples of a table's games. y, game: (n,) of its statements; seated: (players,), the number of each
    player's game.
    """

    y: Bools
    game: Rows
    seated: Rows
    weights: Weights

    @classmethod
    def of(cls, table: Table, draws: int, seed: int) -> Resamples:
        games = table.frame.select("corpus", "game_id").unique(maintain_order=True)
        number = games.select("game_id").with_row_index("number")
        sizes = games.group_by("corpus", maintain_order=True).len()["len"]
        weights = np.hstack([game_weights(size, draws, seed + i) for i, size in enumerate(sizes)])
        game, seated = (
            frame.select("game_id").join(number, on="game_id", how="left", maintain_order="left")["number"]
            for frame in (table.frame, table.players)
        )
        return cls(table.y, game.to_numpy().astype(np.int64), seated.to_numpy().astype(np.int64), weights)

    def metrics(self, rows: Rows, score: Floats) -> tuple[Floats, Floats]:
        """AUROC and average precision of statements, each (draws + 1,), the first over all games once."""
        return self._ranked(self.y[rows], score[rows], self.game[rows])

    def auroc(self, rows: Rows, score: Floats) -> Floats:
        return self.metrics(rows, score)[0]

    def auroc_of_players(self, rows: Rows, lies: Bools, score: Floats) -> Floats:
        """The same of players. rows: theirs; lies, score: of these rows."""
        return self._ranked(lies, score, self.seated[rows])[0]

    def mean(self, values: Floats, game: NDArray[np.int64]) -> Floats:
        """(draws + 1,): the mean of values that lie in games."""
        return share(values, np.ones(len(values)), game, self.weights)

    def surest(self, values: Floats, sure: Floats, game: NDArray[np.int64], part: float) -> Floats:
        """The same of this part of them, the surest."""
        return at_share(sure, values, part, self.weights[:, game])

    def statements(self, rows: Rows, values: Floats | None, why: str) -> dict[str, Any]:
        """A figure of some statements, as the columns `FIGURE`."""
        prevalence = float(self.y[rows].mean()) if len(rows) else None
        games = len(np.unique(self.game[rows]))
        return _row(values, {"statements": len(rows), "games": games, "prevalence": prevalence, "why": why})

    @staticmethod
    def players(game: NDArray[np.int64], players: int, prevalence: float, values: Floats | None, why: str = "") -> Any:
        """A figure of some players, in these games."""
        games = len(np.unique(game))
        return _row(values, {"players": players, "games": games, "prevalence": prevalence, "why": why})

    def _ranked(self, y: Bools, score: Floats, game: Rows) -> tuple[Floats, Floats]:
        games, place = np.unique(game, return_inverse=True)
        found = rank_metrics(Scored(y, score, place, len(games)), self.weights[:, games], {})
        return found["auroc"], found["average_precision"]


def _row(values: Floats | None, facts: dict[str, Any]) -> dict[str, Any]:
    """Resamples of one game alone say nothing."""
    value, lo, hi = (None, None, None) if values is None else estimate(values)
    found = (value, lo, hi) if facts["games"] > 1 else (value, None, None)
    return {**dict.fromkeys(FIGURE), **dict(zip(("value", "lo", "hi"), found, strict=True)), **facts}
