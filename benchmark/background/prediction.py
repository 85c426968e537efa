"""What the background method predicts for a combination of players that was not played."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean

import numpy as np
import polars as pl

from liescope.benchmark.background.design import DESIGN, Array, Table, table
from liescope.benchmark.counting.counts import PLAYERS


def predicted_rate(cells: pl.DataFrame, held_out: pl.DataFrame) -> Array:
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
    rest = cells.join(held_out, on=PLAYERS, how="anti")
    wins, games = int(rest["mafia_wins"].sum()), int(rest["games"].sum())
    overall, least = (wins + 1) / (games + 2), 1 / (games / max(rest.height, 1) + 2)
    tables = [table(rest, capability) for capability in DESIGN]
    rates = []
    for cell in held_out.select(PLAYERS).iter_rows(named=True):
        guesses = [guess for found in tables if (guess := _guess(found, cell)) is not None]
        rates.append(min(max(fmean(guesses) if guesses else overall, least), 1 - least))
    return np.array(rates)


def _guess(found: Table, cell: Mapping[str, str]) -> float | None:
    """The mafia's rate in a cell that is not in the table; None if it judges something else, or nobody met its
    background.
    """
    model, one, other = (cell[role] for role in DESIGN[found.capability])
    if one != other or one not in found.backgrounds:
        return None
    here = found.backgrounds.index(one)
    rates = np.ma.masked_array(found.rate, mask=found.games == 0)
    peers = rates[found.games[:, here] > 0]
    mu, sigma = peers.mean(axis=0), peers.std(axis=0, ddof=1).filled(0)
    guess = float(mu[here])
    if model in found.models:
        z = (rates[found.models.index(model)] - mu) / np.ma.masked_equal(sigma, 0)
        guess += float(sigma[here] * np.ma.filled(z.mean(), 0))
    return guess if found.capability == "deceive" else 1 - guess
