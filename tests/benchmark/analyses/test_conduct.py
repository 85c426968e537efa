"""Nights, bids, silence, lengths, time, guesses, predictors and the six axes; and what holds for every analysis."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from liescope.benchmark.analyses.analysis import Analysis
from liescope.benchmark.analyses.analysis_registry import ANALYSES, SUBJECTS
from liescope.benchmark.analyses.conditions_of_play import CELL, POOLED
from liescope.benchmark.analyses.fingerprint import fingerprint
from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.rated import ALL
from liescope.labeling.label import LOST_TEXT
from tests.benchmark.analyses.conftest import Staged
from tests.benchmark.analyses.made import column_wise, load_frames, made, table_of

TESTED = (
    *("configuration", "outcomes", "game length", "endings", "votes"),
    *("nights", "bidding", "naming", "predictors"),
)
EVERY = [pytest.param(one, id=one.name) for subject in TESTED for one in SUBJECTS[subject]]


@pytest.mark.parametrize("analysis", [pytest.param(one, id=one.name) for one in ANALYSES])
def test_an_analysis_gives_the_same_columns_for_any_games(
    analysis: Analysis, frames: Frames, mini_mafia_frames: Frames
) -> None:
    table, mini, none = (analysis.table(games) for games in (frames, mini_mafia_frames, load_frames([])))
    assert none.is_empty()
    assert none.schema == table.schema == mini.schema


@pytest.mark.parametrize("analysis", EVERY)
def test_the_order_of_the_games_changes_nothing(analysis: Analysis, frames: Frames) -> None:
    turned = replace(frames, games=frames.games.reverse(), seats=frames.seats.reverse(), nights=frames.nights.reverse())
    columns = [name for name in analysis.table(frames).columns if name not in ("lo", "hi")]
    one, two = (analysis.table(games).select(columns) for games in (frames, turned))
    for name in columns:
        ours, theirs = one[name].to_list(), two[name].to_list()
        assert (pytest.approx(ours) if one.schema[name].is_float() else ours) == theirs


def test_a_doctor_that_protects_itself_protects_nobody_else(staged: Staged, frames: Frames) -> None:
    own = table_of("doctor_targets")(load_frames([staged(["Erin", "Frank"], ["Alice", "Bob"])]))
    assert own.select("target", "protections", "mean").rows() == [("self", 2, 1.0)]
    other = table_of("doctor_targets")(load_frames([staged(["Erin", "Frank"], ["Alice", "Bob"], protect="Ivy")]))
    assert other.select("target", "mean").rows() == [("villager", 1.0)]
    sums = table_of("doctor_targets")(frames).group_by(CELL).agg(pl.col("mean").sum())
    assert sums["mean"].to_list() == pytest.approx([1.0] * sums.height)


def test_a_saved_victim_was_attacked_and_foreseen(staged: Staged) -> None:
    game = load_frames([staged(["Erin", "Frank"], ["Alice", "Bob"], protect="Erin")])
    assert table_of("victims")(game).select("target", "attacks", "died").rows() == [("villager", 2, 1)]
    assert table_of("doctor_prediction")(game).select("day", "mean").rows() == [(1, 1.0), (2, 0.0)]


def test_a_dead_doctor_foresees_nothing(staged: Staged) -> None:
    game = load_frames([staged(["Diana", "Erin"], ["Alice", "Bob"], protect="Ivy")])
    assert table_of("doctor_prediction")(game)["day"].to_list() == [1]


def test_guessing_one_role_always_is_right_as_often_as_that_role_is_there(frames: Frames) -> None:
    table = table_of("named_roles")(frames)  # the random judge names villagers only
    by_role = table.filter((pl.col("observer_role") == ALL) & (pl.col("target_role") != ALL))
    assert dict(by_role.select("target_role", "mean").iter_rows()) == {
        "doctor": 0,
        "jester": 0,
        "villager": 1,
        "werewolf": 0,
    }
    assert (table["even_chance"] == 0.25).all()
    partners = (pl.col("observer_role") == "werewolf") & (pl.col("target_role") == "werewolf")
    assert table.filter(partners).is_empty()  # they know each other: nothing is hidden
    for observer, chance in (("werewolf", 6 / 8), ("villager", 5 / 9)):
        seen = table.filter(observer_role=observer, target_role="villager")
        assert seen["roster_chance"].to_list() == pytest.approx([chance] * seen.height)


def test_what_decides_the_game_predicts_it(staged: Staged) -> None:
    won = [staged(["Erin"], ["Charlie"], game_id=f"won{i}") for i in range(4)]
    lost = [staged(["Erin", "Frank"], ["Alice", "Bob"], game_id=f"lost{i}") for i in range(3)]
    table = table_of("predictors")(load_frames([*won, *lost]))
    pooled = table.filter((pl.col("model") == POOLED) & (pl.col("feature") == "wolf_voted_jester"))
    assert pooled.select("r", "mean_won", "mean_lost", "games_won", "games").row(0) == pytest.approx((1, 1, 0, 4, 7))
    assert "jester_suspicion" not in table["feature"]  # nobody spoke


def test_kills_that_the_rules_drew_are_nobodys_choice(mini_mafia_frames: Frames) -> None:
    assert mini_mafia_frames.nights.filter(pl.col("act") == "kill").height
    assert table_of("victims")(mini_mafia_frames).is_empty()


position_thirds = table_of("position_thirds")


@pytest.mark.parametrize("count", [1, 2, 3, 7, 28])
def test_a_day_is_cut_into_thirds_of_its_statements(count: int) -> None:
    places = [*range(1, count + 1)]
    of = {"game_id": "g0", "statement_id": [*map(str, places)]}
    statements = column_wise(**of, position=places, statements_of_day=count)
    ratings = column_wise(**of, speaker_role="jester", suspicion=[at / 100 for at in places])
    table = position_thirds(made(statements=statements, ratings=ratings))
    held = dict(table.select("third", "n").iter_rows())
    assert (sum(held.values()), len(held)) == (count, min(count, 3))
    assert max(held.values()) - min(held.values()) <= 1
    means = table["mean"].to_list()
    assert table["third"].to_list() == [name for name in ("early", "mid", "late") if name in held]
    assert means == sorted(means)


statement_lengths = table_of("statement_lengths")


def test_lengths_are_of_what_was_heard() -> None:
    texts = ["x" * 10, "x" * 20, "x" * 60, "\\", "x" * 30]
    frames = made(
        statements=column_wise(
            game="mafia",
            speaker_role="villager",
            game_id=[f"g{at % 2}" for at in range(5)],
            statement_id=[f"s{at}" for at in range(5)],
            text=texts,
            read_notes=[[LOST_TEXT] if text == "\\" else [] for text in texts],
        )
    )
    (row,) = statement_lengths(frames).to_dicts()
    assert (row["mean"], row["median"], row["longest"], row["n"]) == (30, 25, 60, 4)


def test_the_axes_of_two_games_by_hand() -> None:
    of, who = {"game_id": ["g0", "g1"]}, {"speaker_role": ["jester", "villager"]}
    games = column_wise(**of, winner=["jester", "villagers"], triadic=True)
    votes = column_wise(**of, ballot=2, voter_role="werewolf", target_role=["jester", "villager"], drawn=False)
    statements = column_wise(**of, **who, label_self=[True, False], peer_rate=[0.75, 0.05])
    ratings = column_wise(**of, **who, suspicion=[0.8, 0.1], flag=True, label_self=[True, False])
    table = fingerprint(made(games=games, votes=votes, statements=statements, ratings=ratings))
    assert dict(table.select("axis", "value").iter_rows()) == {
        "jester_wins": 0.5,
        "villagers_win": 0.5,
        "wolf_restraint": 0.5,
        "jester_suspicion": 0.8,
        "detection": 0.5,
        "calibration": pytest.approx(1 - (0.25 + 0.05) / 2),
    }


def test_games_without_a_jester_or_without_ratings_have_none() -> None:
    for triadic in (False, True):
        votes = [{"game_id": "g0", "ballot": 2, "voter_role": "werewolf", "target_role": "villager", "drawn": False}]
        games = [{"game_id": "g0", "winner": "villagers", "triadic": triadic}]
        assert fingerprint(made(games=games, votes=votes)).is_empty()
