"""Our arithmetic against the printed tables of the Triadic Werewolf paper.

Counts are inferred from the printed rates and the printed numbers of games, fed through our functions, and compared
with what is printed beside them. Where the paper's figures contradict each other, a test says so.
"""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest

from liescope.benchmark.analyses.conditions_of_play import CELL
from liescope.benchmark.analyses.fingerprint import association
from liescope.benchmark.analyses.outcomes import (
    CATEGORIES,
    POOLED,
    learning_effect,
    triadic_against_dyadic,
    wolf_losses,
)
from tests.benchmark.analyses.made import Counted, counted, protections, table_of

doctor_targets = table_of("doctor_targets")
halves = table_of("halves")
shuffled_runs = table_of("shuffled_runs")
win_rates = table_of("win_rates")

Cell = tuple[str, bool]
GPT, DEEPSEEK, LLAMA = "GPT-4.1", "DeepSeek-V3.1", "Llama-3.3-70B"
FACTIONS = ("villagers", "werewolves", "jester")
Printed = tuple[float, float, float]

# Table 7: rate and Wilson's interval of villagers, werewolves, jester; 10 games a cell.
TABLE_7: dict[Cell, tuple[Printed, Printed, Printed]] = {
    (GPT, False): ((0.30, 0.11, 0.60), (0.00, 0.00, 0.28), (0.70, 0.40, 0.89)),
    (GPT, True): ((0.30, 0.11, 0.60), (0.10, 0.02, 0.40), (0.60, 0.31, 0.83)),
    (DEEPSEEK, False): ((0.60, 0.31, 0.83), (0.10, 0.02, 0.40), (0.30, 0.11, 0.60)),
    (DEEPSEEK, True): ((0.30, 0.11, 0.60), (0.00, 0.00, 0.28), (0.70, 0.40, 0.89)),
    (LLAMA, False): ((0.50, 0.24, 0.76), (0.10, 0.02, 0.40), (0.40, 0.17, 0.69)),
    (LLAMA, True): ((0.20, 0.06, 0.51), (0.20, 0.06, 0.51), (0.60, 0.31, 0.83)),
}
# Table 6: A, B, C, D, W and their total.
TABLE_6: dict[Cell, tuple[int, ...]] = {
    (DEEPSEEK, False): (1, 1, 2, 5, 1, 10),
    (DEEPSEEK, True): (2, 2, 5, 1, 0, 10),
    (GPT, False): (7, 3, 0, 0, 0, 10),
    (GPT, True): (6, 3, 0, 0, 1, 10),
    (LLAMA, False): (2, 2, 2, 3, 1, 10),
    (LLAMA, True): (4, 1, 1, 2, 2, 10),
}
# Table 5: n of 32 without learning, n of 30 with it.
TABLE_5 = {
    "jester_won": (0.625, 0.933),
    "villagers_won": (0.281, 0.033),
    "werewolves_won": (0.094, 0.033),
    "wolf_voted_jester": (0.719, 0.933),
    "jester_exiled_first": (0.500, 0.867),
}
# Table 13: the jester's win rate in the first five games, in the second five, overall.
TABLE_13: dict[Cell, Printed] = {
    (DEEPSEEK, False): (0.20, 0.40, 0.30),
    (DEEPSEEK, True): (0.80, 0.60, 0.70),
    (GPT, False): (0.80, 0.60, 0.70),
    (GPT, True): (0.80, 0.40, 0.60),
    (LLAMA, False): (0.20, 0.60, 0.40),
    (LLAMA, True): (0.40, 0.80, 0.60),
}
# Table 10: nights on which the doctor protected itself, and others.
TABLE_10: dict[Cell, tuple[int, int]] = {
    (DEEPSEEK, False): (22, 1),
    (DEEPSEEK, True): (16, 2),
    (GPT, False): (15, 0),
    (GPT, True): (15, 0),
    (LLAMA, False): (19, 0),
    (LLAMA, True): (18, 4),
}
HALF_A_CENT = 0.005 + 1e-9
HALF_A_MIL = 0.0005 + 1e-9


@pytest.fixture(scope="module")
def table_7() -> pl.DataFrame:
    games = [
        Counted(faction, model, learning)
        for (model, learning), printed in TABLE_7.items()
        for faction, (rate, _, _) in zip(FACTIONS, printed, strict=True)
        for _ in range(round(10 * rate))
    ]
    return win_rates(counted(games))


def test_table_7_rates_and_intervals(table_7: pl.DataFrame) -> None:
    for (model, learning), printed in TABLE_7.items():
        cell = table_7.filter((pl.col("model") == model) & (pl.col("learning") == learning))
        ours = {row["faction"]: (row["rate"], row["lo"], row["hi"]) for row in cell.iter_rows(named=True)}
        assert cell["games"].to_list() == [10, 10, 10]
        for faction, figures in zip(FACTIONS, printed, strict=True):
            assert ours[faction] == pytest.approx(figures, abs=HALF_A_CENT)


def test_section_5_1_pooled_rates(table_7: pl.DataFrame) -> None:
    pooled = table_7.filter(pl.col("model") == POOLED)
    assert dict(pooled.select("faction", "wins").iter_rows()) == {"jester": 33, "villagers": 22, "werewolves": 5}
    rates = dict(pooled.select("faction", "rate").iter_rows())
    assert rates == pytest.approx({"jester": 0.55, "villagers": 0.37, "werewolves": 0.08}, abs=HALF_A_CENT)


def test_figure_13a_the_villagers_pay_in_deepseek_and_llama(table_7: pl.DataFrame) -> None:
    games = [
        Counted(faction, model, learning)
        for model, learning, faction, wins in table_7.select("model", "learning", "faction", "wins").iter_rows()
        if model != POOLED
        for _ in range(wins)
    ]
    effect = {(row["model"], row["faction"]): row for row in learning_effect(counted(games)).iter_rows(named=True)}
    shown = {key: round(row["difference"], 2) for key, row in effect.items()}
    assert [shown[model, "jester"] for model in (GPT, DEEPSEEK, LLAMA)] == [-0.1, 0.4, 0.2]
    assert [shown[model, "villagers"] for model in (GPT, DEEPSEEK, LLAMA)] == [0.0, -0.3, -0.3]
    assert all(row["lo"] <= 0 <= row["hi"] for row in effect.values())  # ten games a cell settle none of them


def test_table_4_is_26_triadic_and_11_dyadic_games() -> None:
    triadic = {"villagers": 9, "werewolves": 2, "jester": 15}
    games = [
        *(Counted(faction, seating="shuffled") for faction, wins in triadic.items() for _ in range(wins)),
        *(Counted("villagers", seating="shuffled", triadic=False) for _ in range(11)),
    ]
    table = triadic_against_dyadic(counted(games))
    ours = {(row["regime"], row["faction"]): (row["rate"], row["lo"], row["hi"]) for row in table.iter_rows(named=True)}
    printed = {
        ("triadic", "villagers"): (0.35, 0.19, 0.54),
        ("triadic", "werewolves"): (0.08, 0.02, 0.24),
        ("triadic", "jester"): (0.58, 0.39, 0.74),
        ("dyadic", "villagers"): (1.00, 0.74, 1.00),
        ("dyadic", "werewolves"): (0.00, 0.00, 0.26),
    }
    for key, figures in printed.items():
        assert ours[key] == pytest.approx(figures, abs=HALF_A_CENT)
    rate, lo, hi = ours["triadic - dyadic", "villagers"]
    assert rate == pytest.approx(0.35 - 1, abs=HALF_A_CENT)
    assert hi < 0
    assert lo > -1


def _table_5_games() -> list[Counted]:
    """32 and 30 games with the printed rates; how the columns overlap beyond the winners is not printed."""
    games = []
    for learning, n in ((False, 32), (True, 30)):
        counts = {metric: round(n * rates[learning]) for metric, rates in TABLE_5.items()}
        exiled = counts["jester_exiled_first"]
        winners = [
            *["jester"] * counts["jester_won"],
            *["villagers"] * counts["villagers_won"],
            *["werewolves"] * counts["werewolves_won"],
        ]
        assert len(winners) == n
        games += [
            Counted(
                winner,
                learning=learning,
                seating="shuffled",
                fate="exiled" if winner == "jester" else "alive",
                day_out=None if winner != "jester" else 1 if at < exiled else 2,
                wolf_vote=at < counts["wolf_voted_jester"],
            )
            for at, winner in enumerate(winners)
        ]
    return games


def test_table_5_rates_are_of_32_and_30_games() -> None:
    table = shuffled_runs(counted([*_table_5_games(), Counted("villagers", seating="fixed", wolf_vote=True)]))
    assert table["metric"].to_list() == list(TABLE_5)
    assert table.select("games_off", "games_on").unique().row(0) == (32, 30)
    for row in table.iter_rows(named=True):
        off, on = TABLE_5[row["metric"]]
        assert (row["rate_off"], row["rate_on"]) == pytest.approx((off, on), abs=HALF_A_MIL)
        assert row["difference"] == pytest.approx(on - off, abs=2 * HALF_A_MIL)


def test_table_5_the_jesters_gain_and_the_villagers_loss_exclude_zero() -> None:
    bounds = {
        row["metric"]: (row["lo"], row["hi"]) for row in shuffled_runs(counted(_table_5_games())).iter_rows(named=True)
    }
    assert bounds["jester_won"][0] > 0
    assert bounds["villagers_won"][1] < 0
    assert bounds["werewolves_won"][0] < 0 < bounds["werewolves_won"][1]


def _table_6_games() -> list[Counted]:
    made = {
        "A": ("jester", "exiled", 1, True),
        "B": ("villagers", "killed", 2, False),
        "C": ("jester", "exiled", 2, False),
        "D": ("villagers", "alive", None, False),
        "W": ("werewolves", "killed", 1, None),
    }
    return [
        Counted(winner, model, learning, fate=fate, day_out=day, wolf_vote=vote)
        for (model, learning), counts in TABLE_6.items()
        for name, count in zip(CATEGORIES, counts, strict=False)
        for winner, fate, day, vote in [made[name]]
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def table_6() -> pl.DataFrame:
    return wolf_losses(counted(_table_6_games()))


def test_table_6_rows_and_sums(table_6: pl.DataFrame) -> None:
    for model, learning, *ours in table_6.select("model", "learning", *CATEGORIES, "games").iter_rows():
        assert tuple(ours) == TABLE_6[model, learning]
    assert table_6["W"].sum() == 5  # "Wolves won only 5 of 60 games"
    gpt = table_6.filter(pl.col("model") == GPT)
    assert (gpt["A"] + gpt["B"]).sum() == 19
    assert gpt["A"].sum() == 13
    assert (gpt["C"] + gpt["D"]).sum() == 0


def test_table_6_against_table_7_differs_by_one_game_of_llama(table_6: pl.DataFrame, table_7: pl.DataFrame) -> None:
    """A + C, B + D and W are the wins of jester, villagers and werewolves, in every cell but Llama's with learning:
    there Table 6 counts 5 jester wins and 3 of the villagers, Table 7 has 6 and 2.
    """
    won = table_7.pivot("faction", index=CELL, values="wins").join(table_6, on=CELL)
    assert won.height == 6
    gaps = won.select(
        "model",
        "learning",
        jester=pl.col("A") + pl.col("C") - pl.col("jester"),
        villagers=pl.col("B") + pl.col("D") - pl.col("villagers"),
        werewolves=pl.col("W") - pl.col("werewolves"),
    )
    odd = gaps.filter(pl.any_horizontal(pl.col("jester", "villagers", "werewolves") != 0))
    assert odd.rows() == [(LLAMA, True, -1, 1, 0)]


def test_table_8_is_of_32_jester_wins_as_in_table_6_not_33_as_in_table_7() -> None:
    """0.688 and 0.107 are 22 of 32 and 3 of 28; no count of 33 and 27 games rounds to them. The 22 are Table 6's A."""
    values = [1.0] * 22 + [0.0] * 10 + [1.0] * 3 + [0.0] * 25
    r, lo, hi, won, lost, games_won, games = association(values, [True] * 32 + [False] * 28, 60)
    assert (won, lost) == pytest.approx((0.688, 0.107), abs=HALF_A_MIL)
    assert (games_won, games) == (32, 60)
    assert 0 < lo < r < hi
    assert r == pytest.approx(0.587, abs=HALF_A_MIL)
    assert not [k for k in range(34) if abs(k / 33 - 0.688) <= HALF_A_MIL]
    assert sum(counts[0] for counts in TABLE_6.values()) == 22


def test_category_a_holds_jesters_that_were_exiled_after_day_1() -> None:
    """Appendix F.1, learning off and on: Llama's jester won 4 and 6 games, and in 3 and 3 of them spoke on day 2 too.
    So it won at most 1 and 3 games on day 1, but Table 6 counts 2 and 4 under A.
    """
    won, reached_day_2 = {False: 4, True: 6}, {False: 3, True: 3}
    assert all(TABLE_6[LLAMA, on][0] > won[on] - reached_day_2[on] for on in (False, True))
    games = [Counted("jester", fate="exiled", day_out=2, wolf_vote=True)]
    assert wolf_losses(counted(games))["A"].to_list() == [1]


def test_table_10_self_protection() -> None:
    acts = [
        (model, learning, own)
        for (model, learning), (selves, others) in TABLE_10.items()
        for own in (*[True] * selves, *[False] * others)
    ]
    table = doctor_targets(protections(acts))
    own = {
        (row["model"], row["learning"]): (row["protections"], row["n"] - row["protections"])
        for row in table.filter(pl.col("target") == "self").iter_rows(named=True)
    }
    assert own == TABLE_10
    rates = table.filter(pl.col("target") == "self")["mean"]
    assert 0.8 <= (rates.min() or 0) <= (rates.max() or 0) == 1  # "80-100% of games"
    totals = Counter(own for _, _, own in acts)
    assert (totals[True], totals[False]) == (105, 7)


def test_table_13_halves_average_to_the_overall_rate_of_table_7() -> None:
    games = [
        Counted("jester" if at < round(5 * rate) else "villagers", model, learning, turn=half * 5 + at)
        for (model, learning), (first, second, _) in TABLE_13.items()
        for half, rate in enumerate((first, second))
        for at in range(5)
    ]
    table = halves(counted(games)).filter(pl.col("faction") == "jester")
    assert table.height == 6
    for row in table.iter_rows(named=True):
        cell = (row["model"], row["learning"])
        assert (row["rate_first"], row["rate_second"], row["overall"]) == pytest.approx(TABLE_13[cell])
        assert row["overall"] == pytest.approx(TABLE_7[cell][2][0])
        assert row["lo"] <= 0 <= row["hi"]  # five games against five settle no trend
    change = {(row["model"], row["learning"]): round(100 * row["difference"]) for row in table.iter_rows(named=True)}
    assert (change[LLAMA, True], change[GPT, True], change[DEEPSEEK, True]) == (40, -40, -20)
    assert (change[LLAMA, False], change[DEEPSEEK, False], change[GPT, False]) == (40, 20, -20)
