"""Wins from votes: the villager decides unless mafioso or detective slip, or the rules draw a vote.

In Mini-Mafia the mafioso should vote for the detective and the detective for the mafioso; the paper's model takes
that for granted (Eq. 5, section 6.2). Where they vote for the villager instead, or a vote was drawn because the reply
could not be read, the win no longer follows the villager. Their rates are estimated by Laplace's rule (Eq. 10).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.counting.counts import PLAYERS


@dataclass(frozen=True, slots=True)
class Slips:
    """Draws of rates, by (role, model), shape (draws,). slip: of readable votes that go to the villager (mafioso and
    detective); drawn: of votes that the rules drew (all three).
    """

    slip: dict[tuple[str, str], Array]
    drawn: dict[tuple[str, str], Array]


def slips_of(rows: pl.DataFrame, draws: int, seed: int) -> Slips:
    """Draws of the posterior Beta(1 + events, 1 + others) of each rate; rows: of `rows_for` with votes."""
    random = np.random.default_rng(seed)
    slip, drawn = {}, {}
    for role in PLAYERS:
        counts = rows.group_by(pl.col(role).alias("model")).agg(
            pl.col(f"{role}_votes").sum().alias("read"),
            pl.col(f"{role}_drawn").sum().alias("drawn"),
            (pl.col(f"{role}_slips") if role != "villager" else pl.lit(0)).sum().alias("slips"),
        )
        for model, read, by_rules, slipped in counts.sort("model").iter_rows():
            drawn[role, model] = random.beta(1 + by_rules, 1 + read, draws)
            if role != "villager":
                slip[role, model] = random.beta(1 + slipped, 1 + read - slipped, draws)
    return Slips(slip, drawn)


def win_chances(rows: pl.DataFrame, for_detective: Array, slips: Slips) -> Array:
    """The chance that mafia wins, shape (draws, rows), from the villager's readable votes for the detective, same
    shape.

    A drawn vote goes to either other player with chance 1/2. The player with most votes is arrested, one of several by
    lot; the town wins if that is the mafioso.
    """
    count = len(for_detective)

    def rate(rates: dict[tuple[str, str], Array], role: str) -> Array:
        found = np.stack([rates[role, model] for model in rows[role]], axis=1)
        return found if len(found) == count else found[np.linspace(0, len(found) - 1, count).astype(np.int64)]

    def aims(role: str) -> Array:  # the chance that mafioso or detective vote for each other
        drawn = rate(slips.drawn, role)
        return (1 - drawn) * (1 - rate(slips.slip, role)) + drawn / 2

    drawn = rate(slips.drawn, "villager")
    mafioso, detective = aims("mafioso"), aims("detective")
    villager = (1 - drawn) * (1 - for_detective) + drawn / 2  # the chance to vote for the mafioso
    town = (
        mafioso * detective * villager
        + mafioso * (1 - detective) * villager / 3
        + (1 - mafioso) * detective * (villager + (1 - villager) / 3)
    )
    return np.asarray(1 - town, dtype=np.float64)
