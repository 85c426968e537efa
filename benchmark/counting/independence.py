"""Whether two sets of counts agree too well to be of different games.

Where two sources hold different games, the wins of a combination that both played differ by chance, and Pearson's X² of
homogeneity over these combinations is about their number, or more where the sources differ. Copies of the same games,
or most of them, agree much better. How often different games with equal chances would agree as well is computed from
the hypergeometric distribution of the wins, given how many there are in both sources together (Fisher's conditioning),
so that small counts are judged as exactly as large ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from liescope.benchmark.capability.backend import Array
from liescope.benchmark.counting.counts import PLAYERS, tally
from liescope.common.errors import UsageError

Counted = npt.NDArray[np.int64]
IMPLAUSIBLE = 1e-4
"""Of pairs of sources with different games and equal chances, so many may be taken for the same; a refusal should be
rare, and even a copy of half the games is far beyond it from about forty combinations on."""
_DRAWS, _FIRST, _BLOCK = 40_000, 200, 1000  # enough to tell that share; to see whether they are needed; at once
_MOST_CELLS = 300  # of the combinations, those with most games
_LARGEST = 10**8  # games of a combination; more can be no count of games, and numpy draws no more


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well two sources agree. chi2: Pearson's X² over so many shared combinations; p: how often different games
    with equal chances would agree as well.
    """

    one: str
    other: str
    chi2: float
    combinations: int
    p: float

    @property
    def sentence(self) -> str:
        """What was found, without a full stop."""
        return (
            f"{self.one} and {self.other} agree too well to hold different games: X² is {self.chi2:.1f} over "
            f"{self.combinations} combinations that both count, so little as different games show in less than one of "
            f"{1 / IMPLAUSIBLE:,.0f} pairs of sources"
        )


def too_alike(sources: Mapping[str, pl.DataFrame]) -> list[Agreement]:
    """The pairs of sources that agree too well to be independent. sources: counts by their names."""
    found = (_agreement(*pair, sources[pair[0]], sources[pair[1]]) for pair in combinations(sources, 2))
    return [one for one in found if one is not None and one.p < IMPLAUSIBLE]


def check_different(sources: Mapping[str, pl.DataFrame], independent: bool = False) -> tuple[str, ...]:
    """Raises UsageError for sources that agree too well to be added up; if they are said to be independent, gives the
    sentences that must accompany their sum.
    """
    found = too_alike(sources)
    if found and not independent:
        raise UsageError(
            f"{found[0].sentence}; the same games would count twice, so name one of them. If they are different games, "
            "say so with --independent"
        )
    return tuple(f"{one.sentence}; they were counted as different games, as they were said to be." for one in found)


def _agreement(one: str, other: str, first: pl.DataFrame, second: pl.DataFrame) -> Agreement | None:
    """None where they agree no better than many different games do, or no combination tells anything."""
    columns = [*PLAYERS, "mafia_wins", "games"]
    both = tally(first.select(columns)).join(tally(second.select(columns)), on=PLAYERS, suffix="_other")
    total, won = pl.col("games") + pl.col("games_other"), pl.col("mafia_wins") + pl.col("mafia_wins_other")
    telling = both.filter((won > 0) & (won < total) & (total <= _LARGEST)).with_columns(total=total, won=won)
    kept = telling.sort("total", *PLAYERS, descending=True).head(_MOST_CELLS)
    games, wins, totals, all_wins = (kept[name].to_numpy() for name in ("games", "mafia_wins", "total", "won"))
    seen = float(_chi2(wins, games, all_wins, totals))
    random = np.random.default_rng(1)

    def drawn(times: int) -> Array:
        return _chi2(
            random.hypergeometric(all_wins, totals - all_wins, games, size=(times, len(games))), games, all_wins, totals
        )

    first_draws = drawn(_FIRST)
    if seen > first_draws.mean() - 2 * first_draws.std() or not len(games):
        return None
    as_well = sum(int((drawn(_BLOCK) <= seen).sum()) for _ in range(_DRAWS // _BLOCK))
    return Agreement(one, other, seen, kept.height, (as_well + 1) / (_DRAWS + 1))


def _chi2(wins: Counted, games: Counted, total_wins: Counted, total_games: Counted) -> Array:
    """Pearson's X² of homogeneity, over all combinations together."""
    share = total_wins / total_games
    variance = share * (1 - share) * games * (total_games - games) / total_games
    return np.asarray((np.square(wins - games * share) / variance).sum(axis=-1))
