"""Our arithmetic against the printed tables of the Triadic Werewolf paper.

Counts are inferred from the printed rates and the printed numbers of games, fed through our functions, and compared
with what is printed beside them.
"""

from __future__ import annotations

import polars as pl
import pytest

from liescope.benchmark.analyses.fingerprint import association
from liescope.benchmark.analyses.outcomes import CATEGORIES, triadic_against_dyadic, wolf_losses
from tests.benchmark.analyses.made import Counted, counted, table_of

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
HALF_A_CENT = 0.005 + 1e-9
HALF_A_MIL = 0.0005 + 1e-9


def test_table_7_rates_and_intervals() -> None:
    games = [
        Counted(faction, model, learning)
        for (model, learning), printed in TABLE_7.items()
        for faction, (rate, _, _) in zip(FACTIONS, printed, strict=True)
        for _ in range(round(10 * rate))
    ]
    table = win_rates(counted(games))
    for (model, learning), printed in TABLE_7.items():
        cell = table.filter((pl.col("model") == model) & (pl.col("learning") == learning))
        ours = {row["faction"]: (row["rate"], row["lo"], row["hi"]) for row in cell.iter_rows(named=True)}
        assert cell["games"].to_list() == [10, 10, 10]
        for faction, figures in zip(FACTIONS, printed, strict=True):
            assert ours[faction] == pytest.approx(figures, abs=HALF_A_CENT)


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
    corrected = table.drop_nulls("p_holm")
    assert set(corrected["regime"]) == {"triadic - dyadic"}
    of = dict(corrected.select("faction", "p_holm").iter_rows())
    assert of["villagers"] < 0.01 < 0.3 < of["werewolves"]


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
    bounds = {row["metric"]: (row["lo"], row["hi"]) for row in table.iter_rows(named=True)}
    assert bounds["jester_won"][0] > 0 > bounds["villagers_won"][1]
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


def test_table_6_rows_and_sums() -> None:
    table = wolf_losses(counted(_table_6_games()))
    for model, learning, *ours in table.select("model", "learning", *CATEGORIES, "games").iter_rows():
        assert tuple(ours) == TABLE_6[model, learning]
    assert table["W"].sum() == 5  # "Wolves won only 5 of 60 games"


def test_table_8_is_of_32_jester_wins_and_28_other_games() -> None:
    """0.688 and 0.107 are 22 of 32 and 3 of 28; the 22 are Table 6's A."""
    values = [1.0] * 22 + [0.0] * 10 + [1.0] * 3 + [0.0] * 25
    r, lo, hi, won, lost, games_won, games = association(values, [True] * 32 + [False] * 28, 60)
    assert (won, lost) == pytest.approx((0.688, 0.107), abs=HALF_A_MIL)
    assert (games_won, games) == (32, 60)
    assert 0 < lo < r < hi
    assert r == pytest.approx(0.587, abs=HALF_A_MIL)


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
