"""Intervals take games with their siblings; differences within strata; and tables of many rows claim no more than all
their rows together allow.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.stats import f_oneway, fisher_exact

from liescope.benchmark.analyses.analysis_registry import ANALYSES
from liescope.benchmark.analyses.conditions_of_play import POOLED
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.intervals import (
    LEAST,
    Alike,
    Interval,
    Zero,
    adjusted_difference,
    adjusted_omnibus,
    game_difference,
    game_figure,
    game_means,
    shares,
)
from liescope.common.statistics import PROPORTION, REAL, joined, wilson
from liescope.games.record import GameRecord
from tests.benchmark.analyses.made import load_frames
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
    assert difference == pytest.approx((0.5, *joined(0.5, wilson(9, 18), 0.0, wilson(0, 12))))


def test_values_that_are_missing_take_no_part_and_one_game_has_no_interval() -> None:
    rows = pl.DataFrame({"family": ["a", "a", "b"], "group": ["x", "x", "x"], "v": [0.2, 0.4, None]})
    assert game_means(rows, ["group"], "v").row(0) == ("x", pytest.approx(0.3), None, None, 2, 1)
    assert game_means(rows.filter(pl.col("v") > 9), ["group"], "v").is_empty()
    assert game_difference(rows, rows.clear(), "v") == (None, None, None)
    two = pl.DataFrame({"family": ["a", "b"], "v": [1.0, 0.0]})
    assert game_difference(two, two.head(1).with_columns(family=pl.lit("c")), "v") == (-0.5, None, None)


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
    mafia = [mini_mafia(model, seed) for model in "ab" for seed in range(4)]
    wolves = [judged(werewolf("m", seed, learning)) for seed in range(3) for learning in (True, False)]
    return [*mafia, *wolves]


@pytest.fixture(scope="module")
def played_once(games: list[GameRecord]) -> Frames:
    return load_frames(games)


@pytest.fixture(scope="module")
def played_often(games: list[GameRecord]) -> Frames:
    return load_frames([again for game in games for again in forked(game, 2)])


# Those of forks compare continuations, which games played once have not; halves split the games by their order.
_APART = ("fork_", "halves")
_OVER_GAMES = [one for one in ANALYSES if one.interval.value and not one.name.startswith(_APART)]


@pytest.mark.parametrize("analysis", [pytest.param(one, id=one.name) for one in _OVER_GAMES])
def test_forks_of_every_game_narrow_no_interval_of_any_analysis(
    analysis, played_once: Frames, played_often: Frames
) -> None:
    """Continuations that tell nothing new leave every interval as wide as it was."""
    first, again = (analysis.table(frames) for frames in (played_once, played_often))
    keys = [
        name
        for name, kind in first.schema.items()
        if kind in (pl.String, pl.Boolean) or name in ("day", "ballot", "order", "turn")
    ]
    both = first.join(again, on=keys, suffix="_again", nulls_equal=True).drop_nulls(["lo", "hi_again"])
    width, wider = pl.col("hi") - pl.col("lo"), pl.col("hi_again") - pl.col("lo_again")
    assert both.filter(wider < 0.999 * width).select(*keys, "lo", "hi", "lo_again", "hi_again").is_empty()


def rows(*strata: tuple[int, int, int, int]) -> pl.DataFrame:
    """Each stratum: (wins, rows) with the fact, (wins, rows) without; every row is a game of its own."""
    found = []
    for number, (wins, held, others, without) in enumerate(strata):
        found += [(number, 1, int(at < wins)) for at in range(held)]
        found += [(number, 0, int(at < others)) for at in range(without)]
    table = pl.DataFrame(found, ["stratum", "fact", "won"], orient="row")
    return table.with_columns(family=pl.int_range(pl.len()))


def test_it_is_the_difference_of_mantel_and_haenszel() -> None:
    strata = [(6, 10, 8, 20), (9, 12, 1, 3), (2, 30, 4, 15)]
    weights = [held * without / (held + without) for _, held, _, without in strata]
    gaps = [wins / held - others / without for wins, held, others, without in strata]
    expected = np.average(gaps, weights=weights)
    assert adjusted_difference(rows(*strata), "fact", "won", ["stratum"])[0] == pytest.approx(expected)


def test_a_stratum_without_a_comparison_counts_nothing() -> None:
    compared = adjusted_difference(rows((6, 10, 8, 20)), "fact", "won", ["stratum"])
    more = adjusted_difference(rows((6, 10, 8, 20), (50, 50, 0, 0), (0, 0, 3, 70)), "fact", "won", ["stratum"])
    assert more == pytest.approx(compared)
    assert adjusted_difference(rows((5, 9, 0, 0), (0, 0, 1, 9)), "fact", "won", ["stratum"]) == (None, None, None, 0)
    assert adjusted_difference(rows().cast(pl.Int64), "fact", "won", ["stratum"])[0] is None


@pytest.mark.parametrize(("games", "settled"), [(2, False), (3, False), (40, True)])
def test_a_fact_that_decides_every_game_is_certain_once_there_are_some(games: int, settled: bool) -> None:
    found, lo, hi, counted = adjusted_difference(rows((games, games, 0, games)), "fact", "won", ["stratum"])
    assert (found, hi, counted) == (1.0, 1.0, 2 * games)
    assert lo is not None
    assert (lo > 0) is settled


def test_what_comes_with_the_stratum_is_not_taken_for_the_fact() -> None:
    strong, weak = (72, 80, 18, 20), (4, 20, 16, 80)  # the fact is common where wins are, and changes nothing
    mixed = rows(strong, weak)
    whole = mixed.with_columns(stratum=pl.lit(0))
    assert adjusted_difference(whole, "fact", "won", ["stratum"])[0] == pytest.approx(0.76 - 0.34)
    difference, lo, hi, games = adjusted_difference(mixed, "fact", "won", ["stratum"])
    assert (difference, games) == (pytest.approx(0), 200)
    assert lo < 0 < hi


@pytest.mark.parametrize(("strata", "size"), [(1, 24), (4, 60), (40, 8), (50, 2)])
def test_intervals_hold_the_truth_as_often_as_they_say(strata: int, size: int) -> None:
    """Several rows of a game share its outcome, as the seats of a team do; strata may be small."""
    random = np.random.default_rng(5)
    truth, hits, trials = 0.1, 0, 200
    for _ in range(trials):
        level = np.repeat(random.uniform(0.2, 0.7, strata), size)
        fact = random.random(strata * size) < 0.4
        won = random.random(strata * size) < level + truth * fact
        table = pl.DataFrame({"stratum": np.repeat(np.arange(strata), size), "fact": fact, "won": won})
        _, lo, hi, _ = adjusted_difference(table.with_row_index("family"), "fact", "won", ["stratum"])
        hits += lo is not None and hi is not None and lo <= truth <= hi
    assert 0.9 < hits / trials < 0.99


def means(values: dict[str, np.ndarray]) -> pl.DataFrame:
    rows = [
        {"game": "g", "condition": "", "model": model, "role": "r", "family": f"{model}{at}", "x": float(value)}
        for model, drawn in values.items()
        for at, value in enumerate(drawn)
    ]
    return game_means(pl.DataFrame(rows), ["game", "condition", "model", "role"], "x", REAL)


def test_of_many_rows_without_any_effect_hardly_a_table_has_one_left() -> None:
    """Of 40 intervals about two leave zero out by chance; corrected, a table in twenty has any row below .05."""
    random = np.random.default_rng(1)
    plain = corrected = 0
    for _ in range(30):
        table = Zero("mean").added(means({f"m{at:02}": random.normal(0, 1, 12) for at in range(40)}))
        plain += (table["p"] < 0.05).sum()
        corrected += (table["p_holm"] < 0.05).any()
    assert 35 < plain < 90
    assert corrected <= 5


def test_a_planted_effect_among_many_rows_is_still_found() -> None:
    random = np.random.default_rng(2)
    drawn = {f"m{at:02}": random.normal(0, 1, 30) for at in range(20)} | {"planted": random.normal(1.5, 1, 30)}
    table = Zero("mean").added(means(drawn))
    assert table.filter(pl.col("p_holm") < 0.05)["model"].to_list() == ["planted"]
    assert table.filter(model="planted")["p"].item() == LEAST
    assert "corrected for the 21 rows" in Zero("mean").words(table)


def test_rows_of_a_panel_are_compared_as_by_an_analysis_of_variance() -> None:
    random = np.random.default_rng(4)
    drawn = {name: random.normal(at / 8, 1, 60) for at, name in enumerate("abc")}
    table = Alike(("role",), limits=False).added(means(drawn))
    known = f_oneway(*drawn.values(), equal_var=False).pvalue
    assert table["p_equal"].unique().to_list() == pytest.approx([known], rel=1e-6)


@pytest.mark.parametrize(("one", "other", "games"), [(2, 0, 2), (2, 1, 2), (3, 1, 3), (3, 3, 3), (5, 0, 5)])
def test_shares_of_few_games_are_told_apart_no_sooner_than_by_an_exact_test(one: int, other: int, games: int) -> None:
    """Wilson's interval of 2 in 2 and of 0 in 2, read as if it were Student's, had a p of .007."""
    won = {"a": one, "b": other}
    rows = [
        {"game": "g", "condition": "", "model": model, "role": "r", "family": f"{model}{at}", "won": at < wins}
        for model, wins in won.items()
        for at in range(games)
    ]
    table = Alike(("role",), "rate").added(shares(pl.DataFrame(rows), ["game", "condition", "model", "role"], "won"))
    exact = fisher_exact([[one, games - one], [other, games - other]]).pvalue
    assert (table["p_equal"][0] < 0.05) is bool(exact < 0.05)


def test_rows_over_all_models_take_no_part_in_comparing_them() -> None:
    random = np.random.default_rng(5)
    table = means({name: random.normal(0, 1, 20) for name in "ab"})
    pooled = pl.concat([table, table.head(1).with_columns(model=pl.lit(POOLED), mean=pl.lit(9.0))])
    found = Alike(("role",)).added(pooled)
    assert found.head(2)["p_equal"].to_list() == Alike(("role",)).added(table)["p_equal"].to_list()
    assert found["p_equal"][2] is None


@pytest.mark.parametrize("games", [40, 200])
def test_names_that_change_nothing_are_told_to_matter_about_once_in_twenty(games: int) -> None:
    random = np.random.default_rng(6)
    below = 0
    for _ in range(80):
        rows = [
            (at, name, role, float(town != (role == "mafioso")))
            for at in range(games)
            for town in [random.random() < 0.6]
            for name, role in zip(
                random.permutation(list("ABCD"))[:3], ("mafioso", "detective", "villager"), strict=True
            )
        ]
        table = pl.DataFrame(rows, ["family", "name", "role", "won"], orient="row")
        p, names, compared = adjusted_omnibus(table, "name", "won", ["role"])
        assert (names, compared) == (4, games)
        below += p is not None and p < 0.05
    assert below / 80 < 0.12


def test_a_name_that_matters_is_found_by_the_one_test_of_all() -> None:
    random = np.random.default_rng(7)
    rows = [
        (at, name, float(random.random() < (0.8 if name == "A" else 0.4)))
        for at in range(200)
        for name in [random.choice(list("ABCD"))]
    ]
    table = pl.DataFrame(rows, ["family", "name", "won"], orient="row").with_columns(role=pl.lit("x"))
    p, _, _ = adjusted_omnibus(table, "name", "won", ["role"])
    assert p < 0.001


def test_every_table_of_differences_is_corrected_for_its_rows() -> None:
    """A new analysis that prints differences declares how its rows are read."""
    shares = {Interval.NONE, Interval.SHARES, Interval.UNITS, Interval.SHARES_AND_DIFFERENCE, Interval.MEANS}
    assert [one.name for one in ANALYSES if one.interval not in shares and not one.corrections] == []
