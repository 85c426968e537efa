"""Intervals of tables resample games together with their siblings, whatever the table counts."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from liescope.benchmark.analyses.analysis_registry import ANALYSES
from liescope.benchmark.analyses.frames import Frames, load_frames
from liescope.benchmark.analyses.intervals import game_difference, game_figure, game_means, shares
from liescope.common.statistics import PROPORTION, REAL, newcombe, wilson
from liescope.games.record import GameRecord
from tests.benchmark.random_play import judged, mini_mafia, werewolf


def test_many_rows_of_one_game_do_not_narrow_the_interval() -> None:
    values = np.random.default_rng(2).normal(size=12)
    once = pl.DataFrame({"family": [f"g{i}" for i in range(12)], "group": "a", "x": values})
    often = pl.concat([once] * 50)
    one, many = game_means(once, ["group"], "x", REAL), game_means(often, ["group"], "x", REAL)
    assert many.select("mean", "lo", "hi").row(0) == pytest.approx(one.select("mean", "lo", "hi").row(0))
    assert (one["n"].item(), many["n"].item(), many["games"].item()) == (12, 600, 12)


def test_shares_of_games_of_their_own_have_wilsons_interval_and_their_difference_newcombes() -> None:
    rows = pl.DataFrame({"family": [str(at) for at in range(30)], "won": [1] * 9 + [0] * 21})
    assert shares(rows.with_columns(by=pl.lit("a")), ["by"], "won").row(0) == ("a", 9, 30, 0.3, *wilson(9, 30))
    difference = game_difference(rows.head(18), rows.tail(12), "won")
    assert difference == pytest.approx((0.5, *newcombe(9, 18, 0, 12)))


def test_values_that_are_missing_take_no_part_and_one_game_has_no_interval() -> None:
    rows = pl.DataFrame({"family": ["a", "a", "b"], "group": ["x", "x", "x"], "v": [0.2, 0.4, None]})
    assert game_means(rows, ["group"], "v").row(0) == ("x", pytest.approx(0.3), None, None, 2, 1)
    assert game_means(rows.filter(pl.col("v") > 9), ["group"], "v").is_empty()
    assert game_difference(rows, rows.clear(), "v") == (None, None, None)


def test_a_difference_turned_round_changes_its_sign() -> None:
    random = np.random.default_rng(4)
    one, two = (
        pl.DataFrame({"family": [f"{n}{i}" for i in range(25)], "v": random.normal(m, 1, 25)})
        for n, m in [("a", 2), ("b", 0)]
    )
    difference, lo, hi = game_difference(one, two, "v", REAL)
    back, low, high = game_difference(two, one, "v", REAL)
    assert difference == pytest.approx(-(back or 0))
    assert all(x < y for x, y in pairwise([0, lo or 0, difference or 0, hi or 0]))
    assert (low or 0) < (back or 0) < (high or 0) < 0


def test_a_difference_to_a_single_game_has_no_interval() -> None:
    one = pl.DataFrame({"family": ["a", "b"], "x": [1.0, 0.0]})
    two = pl.DataFrame({"family": ["c"], "x": [1.0]})
    assert game_difference(one, two, "x") == (-0.5, None, None)
    assert game_difference(one, two.head(0), "x") == (None, None, None)


def test_games_that_are_on_both_sides_of_a_difference_are_no_evidence_apart() -> None:
    """What one side gains by luck of the game, the other gains too: their difference is known better than either."""
    random = np.random.default_rng(5)
    luck = random.beta(3, 3, 200)
    sides = [np.clip(luck + random.normal(0, 0.02, 200), 0, 1) for _ in range(2)]
    one, two = (pl.DataFrame({"family": [f"g{i:03}" for i in range(200)], "v": side}) for side in sides)
    apart = two.with_columns(family=pl.concat_str(pl.lit("other "), "family"))
    widths = []
    for other in (two, apart):
        _, lo, hi = game_difference(one, other, "v")
        widths.append((hi or 0) - (lo or 0))
    assert widths[0] < 0.3 * widths[1]


def test_a_figure_that_a_single_game_decides_has_no_interval() -> None:
    table = pl.DataFrame({"game_id": list("abc"), "family": list("abc"), "hits": [1.0, 0.0, 0.0], "n": [2.0, 0.0, 0.0]})

    def rate(sums: np.ndarray) -> np.ndarray:
        return np.asarray(sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], np.nan))

    assert game_figure(table, rate, PROPORTION) == (0.5, None, None)


def forked(record: GameRecord, times: int) -> list[GameRecord]:
    """The game and continuations of it that all end as it did."""
    fork = {"run": "first", "game": record.game_id, "step": 1, "root": record.game_id, "seat": record.seats[0].name}
    return [
        record,
        *(
            replace(
                record,
                game_id=f"{record.game_id}-{number}",
                meta={**record.meta, "fork": {**fork, "group": "a", "number": number, "events": 1}},
            )
            for number in range(times)
        ),
    ]


@pytest.fixture(scope="module")
def games() -> list[GameRecord]:
    mafia = [mini_mafia(model, seed) for model in "ab" for seed in range(6)]
    wolves = [judged(werewolf("m", seed, learning)) for seed in range(5) for learning in (True, False)]
    return [*mafia, *wolves]


@pytest.fixture(scope="module")
def played_once(games: list[GameRecord]) -> Frames:
    return load_frames(games)


@pytest.fixture(scope="module")
def played_often(games: list[GameRecord]) -> Frames:
    return load_frames([again for game in games for again in forked(game, 3)])


# Those of forks compare continuations, which games played once have not; halves split the games by their order.
_APART = ("fork_", "halves")
_OVER_GAMES = [one for one in ANALYSES if one.interval.value and not one.name.startswith(_APART)]


@pytest.mark.parametrize("analysis", [pytest.param(one, id=one.name) for one in _OVER_GAMES])
def test_forks_of_every_game_narrow_no_interval_of_any_analysis(
    analysis, played_once: Frames, played_often: Frames
) -> None:
    """Continuations that tell nothing new leave every interval as wide as it was."""
    if missing := analysis.lacks(played_once):
        pytest.skip(f"these games lack what it needs: {missing}")
    first, again = (analysis.table(frames) for frames in (played_once, played_often))
    keys = [
        name
        for name, kind in first.schema.items()
        if kind in (pl.String, pl.Boolean) or name in ("day", "ballot", "order", "turn")
    ]
    both = first.join(again, on=keys, suffix="_again", nulls_equal=True).drop_nulls(["lo", "hi_again"])
    width, wider = pl.col("hi") - pl.col("lo"), pl.col("hi_again") - pl.col("lo_again")
    assert both.filter(wider < 0.999 * width).select(*keys, "lo", "hi", "lo_again", "hi_again").is_empty()
