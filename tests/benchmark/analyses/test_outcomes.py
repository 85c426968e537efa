"""Who wins, how the werewolves lose, and what changes over a cell."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from liescope.benchmark.analyses.conditions_of_play import CELL
from liescope.benchmark.analyses.frames import Frames, load_frames
from liescope.benchmark.analyses.outcomes import (
    CATEGORIES,
    POOLED,
    learning_effect,
    triadic_against_dyadic,
    wolf_losses,
)
from liescope.games.record import GameRecord
from tests.benchmark.analyses.conftest import Staged
from tests.benchmark.analyses.made import made, table_of

game_length = table_of("game_length")
halves = table_of("halves")
jester_fate = table_of("jester_fate")
survival = table_of("survival")
shuffled_runs = table_of("shuffled_runs")
win_rates = table_of("win_rates")

WOLVES_WIN = ["Erin", "Frank", "Grace", "Henry", "Ivy", "Jack"]


def test_every_game_is_won_once_in_each_cell_and_pooled(frames: Frames) -> None:
    table = win_rates(frames)
    for _, cell in table.group_by(CELL):
        assert cell["wins"].sum() == cell["games"].first()
        assert cell["rate"].sum() == pytest.approx(1)
    assert table.filter((pl.col("lo") > pl.col("rate")) | (pl.col("rate") > pl.col("hi"))).is_empty()
    pooled = table.filter(pl.col("model") == POOLED).group_by("game").agg(pl.col("wins").sum())
    assert dict(pooled.iter_rows()) == dict(frames.games.group_by("game").len().iter_rows())


def test_learning_turned_round_turns_the_effect_round(frames: Frames) -> None:
    assert learning_effect(frames)["pairs"].null_count() == 6  # games of different seeds are no pairs
    frames = replace(frames, games=frames.games.with_columns(seed="turn"))
    table = learning_effect(frames)
    turned = replace(frames, games=frames.games.with_columns(~pl.col("learning")))
    back = learning_effect(turned)
    assert table["difference"].to_list() == pytest.approx([-value for value in back["difference"]])
    assert table["lo"].to_list() == pytest.approx([-value for value in back["hi"]])
    assert table["won_only_on"].to_list() == back["won_only_off"].to_list()
    assert (table["pairs"] == 7).all()
    net = (table["won_only_on"] - table["won_only_off"]) / table["pairs"]
    assert net.to_list() == pytest.approx(table["difference"].to_list())


def test_a_game_without_learning_games_has_no_effect_of_learning(mini_mafia_frames: Frames) -> None:
    assert learning_effect(mini_mafia_frames).is_empty()


def test_only_models_that_played_both_regimes_are_set_against_each_other(frames: Frames) -> None:
    table = triadic_against_dyadic(frames)
    assert set(table["model"]) == {"alpha"}
    assert table.filter(pl.col("faction") == "jester")["regime"].to_list() == ["triadic"]
    for _, part in table.filter(pl.col("faction") != "jester").group_by("faction"):
        triadic, dyadic, difference = part["rate"]
        assert difference == pytest.approx(triadic - dyadic)
    assert triadic_against_dyadic(load_frames([])).is_empty()


def test_a_faction_is_measured_by_the_games_that_deal_it() -> None:
    games = [{"game_id": f"g{at}", "winner": "villagers", "triadic": at == 0} for at in range(3)]
    seats = [{"game_id": f"g{at}", "team": team} for at in range(3) for team in ("villagers", "werewolves")]
    table = win_rates(made(games=games, seats=[*seats, {"game_id": "g0", "team": "jester"}]))
    assert {row["faction"]: (row["wins"], row["games"]) for row in table.iter_rows(named=True)} == {
        "jester": (0, 1),
        "villagers": (3, 3),
        "werewolves": (0, 3),
    }


def test_control_games_seated_as_no_triadic_game_is_are_left_out(frames: Frames) -> None:
    control = pl.int_range(pl.len()).over("triadic") % 2 == 1
    odd = pl.when(~pl.col("triadic") & control).then(pl.lit("fixed")).otherwise("seating")
    mixed = replace(frames, games=frames.games.with_columns(seating=odd))
    counts = [
        triadic_against_dyadic(one).filter(pl.col("regime") == "dyadic").group_by("model").agg(pl.col("games").max())
        for one in (frames, mixed)
    ]
    assert counts[1]["games"].sum() < counts[0]["games"].sum()


def test_games_seated_otherwise_than_the_control_are_no_match_for_it(frames: Frames) -> None:
    fixed = pl.when("triadic").then(pl.lit("fixed")).otherwise("seating")
    seated = replace(frames, games=frames.games.with_columns(seating=fixed))
    assert triadic_against_dyadic(seated).is_empty()
    assert shuffled_runs(seated).is_empty()


@pytest.mark.parametrize(
    ("category", "victims", "exiles", "loyal"),
    [
        ("A", ["Erin"], ["Charlie"], False),
        ("C", ["Erin"], ["Charlie"], True),
        ("A", ["Erin", "Frank"], ["", "Charlie"], False),  # a wolf's vote on day 1, exile on day 2
        ("C", ["Erin", "Frank"], ["Grace", "Charlie"], False),
        ("B", ["Charlie", "Erin"], ["Alice", "Bob"], False),
        ("B", ["Erin", "Charlie"], ["Alice", "Bob"], False),
        ("D", ["Erin", "Frank"], ["Alice", "Bob"], False),
        ("W", WOLVES_WIN, [], False),
        ("W", ["Charlie", *WOLVES_WIN], [], False),
    ],
)
def test_the_taxonomy_reads_the_game_that_was_played(
    staged: Staged, category: str, victims: list[str], exiles: list[str], loyal: bool
) -> None:
    table = wolf_losses(load_frames([staged(victims, exiles, loyal)]))
    assert [name for name in CATEGORIES if table[name].item()] == [category]
    assert table["games"].item() == 1


def test_the_taxonomy_counts_every_triadic_game_once_and_agrees_with_the_winners(frames: Frames) -> None:
    table = wolf_losses(frames)
    won = win_rates(frames).pivot("faction", index=CELL, values="wins").join(table, on=CELL)
    assert won.height == 4
    assert (won["A"] + won["C"] == won["jester"]).all()
    assert (won["B"] + won["D"] == won["villagers"]).all()
    assert (won["W"] == won["werewolves"]).all()
    assert table.select(pl.sum_horizontal(*CATEGORIES, "nobody"))["A"].to_list() == table["games"].to_list()


def test_the_jester_has_one_fate_and_wins_by_exile_alone(frames: Frames) -> None:
    fates = jester_fate(frames)
    assert fates.group_by(CELL).agg(pl.col("rate").sum())["rate"].to_list() == pytest.approx([1.0] * 4)
    exiled = fates.filter(pl.col("fate") == "exiled").select(*CELL, "jesters")
    wins = win_rates(frames).filter(pl.col("faction") == "jester").join(exiled, on=CELL)
    assert wins.height == 4
    assert (wins["wins"] == wins["jesters"]).all()


def test_a_jester_that_learns_to_win_shows_in_the_halves(staged: Staged) -> None:
    lost, won = (["Erin", "Frank"], ["Alice", "Bob"]), (["Erin"], ["Charlie"])
    games = [
        staged(*(won if turn >= 3 else lost), game_id=f"g{turn}", turn=turn, learning=True)
        for turn in (6, 1, 0, 4, 3, 5, 2)
    ]
    row = halves(load_frames(games)).filter(pl.col("faction") == "jester").row(0, named=True)
    assert (row["games_first"], row["games_second"]) == (3, 4)
    assert (row["rate_first"], row["rate_second"], row["difference"]) == (0, 1, 1)
    assert row["overall"] == pytest.approx(4 / 7)
    assert row["lo"] > 0


def test_length_and_survival_follow_the_games(frames: Frames, staged: Staged) -> None:
    lengths = game_length(frames)
    assert lengths["games"].sum() == frames.games.height
    assert lengths.filter(~pl.col("mean").is_between("shortest", "longest")).is_empty()
    one = load_frames([staged(["Erin", "Frank"], ["", "Charlie"], turn=4)])
    assert game_length(one).select("winner", "mean", "lo").row(0) == ("jester", 2.0, None)
    alive = dict(survival(one).select("role", "mean").iter_rows())
    assert alive == {"jester": 0, "doctor": 1, "werewolf": 1, "villager": pytest.approx(4 / 6)}


def test_mini_mafia_has_its_own_factions(mini_mafia_frames: Frames, records: tuple[GameRecord, ...]) -> None:
    table = win_rates(mini_mafia_frames).filter(pl.col("model") == "alpha")
    assert table["faction"].to_list() == ["mafia", "town"]
    assert table["wins"].sum() == sum(record.game == "mini-mafia" for record in records)
    assert wolf_losses(mini_mafia_frames).is_empty()
    assert jester_fate(mini_mafia_frames).is_empty()
