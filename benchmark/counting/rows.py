"""The rows that a model of the family is fitted to: combinations, split by what a term of it needs."""

from __future__ import annotations

import polars as pl

from liescope.benchmark.capability.variants import SHIFTS, Variant
from liescope.benchmark.counting.counts import DRAWN, PLAYERS, Counts
from liescope.common.errors import UsageError


def rows_for(counts: Counts, variant: Variant, drawn_votes: bool = True) -> pl.DataFrame:
    """Counts with the columns mafioso, detective, villager, mafia_wins, games, sorted: a row for each combination; with
    a shift, for each combination and value of it; with votes, also villager_votes (readable, for one of the other two),
    votes_for_detective, and for each role ROLE_votes (readable), ROLE_slips (for the villager) and ROLE_drawn.

    drawn_votes: keep games with a vote that the rules drew. Raises UsageError if the term needs games and some counts
    come from a file.
    """
    if not variant.needs_games:
        return counts.cells if drawn_votes else counts.undrawn
    if lacks := lacks_games(counts):
        raise UsageError(f"{lacks}; name the runs or corpora that the counts were made of")
    played = counts.played if drawn_votes else counts.played.filter(~pl.col("drawn"))
    keys = [*PLAYERS, *variant.shifts]
    sums = {"mafia_wins": pl.col("mafia_wins").sum(), "games": pl.len().cast(pl.Int64)}
    if "votes" in variant.terms:
        for role in PLAYERS:
            vote = pl.col(f"{role}_vote")
            sums[f"{role}_votes"] = vote.is_in(PLAYERS).sum().cast(pl.Int64)
            sums[f"{role}_slips"] = (vote == "villager").sum().cast(pl.Int64)
            sums[f"{role}_drawn"] = (vote == DRAWN).sum().cast(pl.Int64)
        sums["votes_for_detective"] = (pl.col("villager_vote") == "detective").sum().cast(pl.Int64)
    return played.group_by(keys).agg(**sums).sort(keys)


def lacks_games(counts: Counts) -> str:
    """Why terms that need games cannot be fitted, "" if they can."""
    if counts.played.height < int(counts.cells["games"].sum()):
        return f"the terms {', '.join(SHIFTS)} and votes need games, and a file holds counts only"
    return ""
