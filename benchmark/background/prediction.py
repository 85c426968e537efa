"""What the background method predicts for a combination of players that was not played."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.background.scores import DESIGN
from liescope.benchmark.counting.counts import PLAYERS


def predicted_rate(cells: pl.DataFrame, held_out: pl.DataFrame) -> npt.NDArray[np.float64]:
    """The win rate of the mafia that the other cells predict for each row of held_out, shape (rows,).

    cells: counts as in `liescope.benchmark.counting.counts.Counts`; those that are held out are not used. held_out:
    a frame with the columns mafioso, detective and villager.

    A cell judges a model in a background where the two other roles are held by one model b. Its rate is
    mu_b + sigma_b z (Eq. 13 solved for the rate): mu_b and sigma_b are the mean and sample standard deviation over the
    models that met b, z the mean of the model's z-scores among them in the other backgrounds, 0 if it met none. A cell
    that judges in several ways (a model against itself) gets the mean; one that judges in none, or whose background
    nobody met, the rate of all cells together. No rate is nearer to 0 or 1 than Laplace's rule gives after as many
    games as a cell has on average.
    """
    rest = cells.join(held_out, on=PLAYERS, how="anti").with_columns(
        rate=(pl.col("mafia_wins") + 1) / (pl.col("games") + 2)
    )
    wins, games = int(rest["mafia_wins"].sum()), int(rest["games"].sum())
    overall, least = (wins + 1) / (games + 2), 1 / (games / max(rest.height, 1) + 2)
    tables = [_Table(rest, *roles) for roles in DESIGN.values()]
    found = []
    for cell in held_out.select(PLAYERS).iter_rows(named=True):
        guesses = [guess for table in tables if (guess := table.guess(cell)) is not None]
        found.append(fmean(guesses) if guesses else overall)
    return np.array([min(max(rate, least), 1 - least) for rate in found])


class _Table:
    """Rates of one capability: a row a judged model, a column a background, masked where nothing was played."""

    def __init__(self, cells: pl.DataFrame, judged: str, one: str, other: str) -> None:
        self.roles = judged, one, other
        part = cells.filter(pl.col(one) == pl.col(other))
        self.models, self.backgrounds = (
            {name: place for place, name in enumerate(part[role].unique().sort())} for role in (judged, one)
        )
        self.rates = np.ma.masked_array(np.zeros((len(self.models), len(self.backgrounds))), mask=True)
        for model, background, rate in part.select(judged, one, "rate").iter_rows():
            self.rates[self.models[model], self.backgrounds[background]] = rate

    def guess(self, cell: Mapping[str, str]) -> float | None:
        """The rate of a cell that is not in the table; None if it judges something else, or nobody met its
        background.
        """
        model, one, other = (cell[role] for role in self.roles)
        if one != other or one not in self.backgrounds:
            return None
        here = self.backgrounds[one]
        peers = self.rates[~np.ma.getmaskarray(self.rates)[:, here]]
        mu, sigma = peers.mean(axis=0), peers.std(axis=0, ddof=1).filled(0)
        z = (self.rates[self.models[model]] - mu) / np.ma.masked_equal(sigma, 0) if model in self.models else mu * 0
        return float(mu[here] + sigma[here] * np.ma.filled(z.mean(), 0))
