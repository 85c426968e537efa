"""What leaving out games changes: figures by hand, line-ups that go with them, and games that say nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import polars.selectors as cs
import pytest

from liescope.benchmark.analyses.frames import Frames, load_frames
from liescope.benchmark.analyses.influence import ANALYSES_OF_INFLUENCE, ANY, NOTHING, influence, plot_influence
from liescope.benchmark.analyses.votes import GAIN, last_word
from tests.benchmark.analyses.made import made, table_of
from tests.benchmark.random_play import mini_mafia

vote_accuracy = table_of("vote_accuracy")


def games(*groups: tuple[str, int, int, int]) -> Frames:
    """groups: line-up, silences of each game, how many games, how many of them the mafia won."""
    rows: dict[str, list[dict[str, Any]]] = {"games": [], "seats": []}
    for lineup, silences, count, won in groups:
        for at in range(count):
            game = {"game_id": f"{lineup} {silences} {at}", "game": "mafia", "lineup": lineup}
            winner = "mafia" if at < won else "town"
            rows["games"].append({**game, "winner": winner, "silences": silences, "fallbacks": 0})
            rows["seats"] += [{**game, "name": "Bob", "role": team, "team": team} for team in ("mafia", "town")]
    return made(**rows)


def mafia(frames: Frames, left_out: str) -> dict[str, Any]:
    table = influence(frames).filter((pl.col("result") == "mafia: win rate") & (pl.col("left_out") == left_out))
    return table.row(0, named=True)


def test_a_result_is_shown_with_all_games_and_without_those_left_out() -> None:
    frames = games(("a", 0, 40, 10), ("a", 2, 10, 9))
    whole, kept = mafia(frames, NOTHING), mafia(frames, "silences")
    assert (whole["games"], whole["mean"], whole["difference"]) == (50, 19 / 50, None)
    assert (kept["games"], kept["mean"]) == (40, 10 / 40)
    assert kept["difference"] == pytest.approx(10 / 40 - 19 / 50)
    assert kept["difference_lo"] < kept["difference"] < kept["difference_hi"] < 0
    assert kept["same_lineups"] == pytest.approx(kept["difference"]), "there is one line-up"
    assert mafia(frames, ANY)["mean"] == kept["mean"]
    assert set(influence(frames)["left_out"]) == {NOTHING, "silences", ANY}


def test_line_ups_that_are_left_out_more_often_are_not_taken_for_an_effect() -> None:
    """Silence changes nothing, but the line-up that wins most is silent most."""
    frames = games(("strong", 0, 10, 9), ("strong", 1, 40, 36), ("weak", 0, 50, 10), ("weak", 1, 10, 2))
    kept = mafia(frames, "silences")
    assert kept["difference_hi"] < -0.1
    assert kept["same_lineups"] == pytest.approx(0)
    assert kept["same_lineups_lo"] < 0 < kept["same_lineups_hi"]


def test_a_line_up_that_keeps_no_game_is_compared_on_neither_side() -> None:
    frames = games(("always silent", 1, 30, 30), ("mixed", 0, 20, 5), ("mixed", 1, 20, 15))
    kept = mafia(frames, "silences")
    assert kept["same_lineups"] == pytest.approx(5 / 20 - 20 / 40)


def test_line_ups_weigh_by_the_games_that_the_result_counts() -> None:
    """One line-up's voters are mostly unreadable, and its few votes are as good without the drawn ones."""
    good, poor = games(("good", 0, 40, 20)), games(("poor", 0, 40, 20))
    both = pl.concat([good.games, poor.games])
    seats = pl.concat([good.seats, poor.seats]).with_columns(deceives=pl.col("team") == "mafia")
    seats = seats.with_columns(name=pl.when("deceives").then(pl.lit("Bob")).otherwise(pl.lit("Alice")))
    voted = both.with_row_index("at").select(
        "game_id", "family", "game", "condition", "model", "learning", "lineup", "at"
    )
    number, of_good = pl.col("at") % 40, pl.col("lineup") == "good"
    ballots = voted.with_columns(day=1, ballot=1, voter=pl.lit("Alice"), voter_role=pl.lit("town"))
    found = pl.when(of_good).then(number % 2 == 0).otherwise(pl.lit(False))
    votes = ballots.with_columns(
        target=pl.when(found).then(pl.lit("Bob")).otherwise(pl.lit("Alice")), drawn=~of_good & (number >= 4)
    )
    frames = replace(good, games=both, seats=seats, votes=votes)
    table = influence(frames).filter(left_out="drawn votes", result="town: votes for a deceiver")
    assert table.select("games", "mean").row(0) == (44, 20 / 44)
    assert table.select("difference", "same_lineups").row(0) == pytest.approx((0, 0))


def test_a_selection_that_keeps_no_game_has_no_row() -> None:
    assert influence(games(("always silent", 1, 30, 20))).is_empty()


def test_games_in_which_the_rules_chose_nothing_need_no_such_table() -> None:
    (analysis,) = ANALYSES_OF_INFLUENCE
    frames = games(("a", 0, 4, 2))
    assert analysis.lacks(frames) == ["no game has a silence, an unusable reply or a drawn vote"]
    assert influence(frames).is_empty()


def test_with_all_games_the_results_are_those_of_the_other_analyses() -> None:
    frames = load_frames([mini_mafia(model, seed) for model in ("a", "b") for seed in range(15)])
    table = influence(frames)
    whole = {row["result"]: row["mean"] for row in table.filter(pl.col("left_out") == NOTHING).to_dicts()}
    by_model = {
        row["model"]: row["mean"] for row in vote_accuracy(frames).to_dicts() if row["voter_role"] == "villager"
    }
    assert {model: whole[f"villager {model}: votes for a deceiver"] for model in "ab"} == pytest.approx(by_model)
    gains = last_word(frames).filter(pl.col("measure") == GAIN)
    for role, gain in gains.select("role", "rate").iter_rows():
        assert whole[f"{role}: win rate with the last word minus without"] == pytest.approx(gain)
    drawn = frames.votes.filter("drawn")["game_id"].n_unique()
    kept = table.filter((pl.col("result") == "mafia: win rate") & (pl.col("left_out") == "drawn votes"))
    assert kept["games"].item() == frames.games.height - drawn
    assert not any(column.is_nan().any() for column in table.select(cs.float()).get_columns())


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_games_give_a_figure_or_none_and_never_nan(count: int) -> None:
    frames = load_frames([mini_mafia("a", seed) for seed in range(count)])
    table = influence(frames)
    assert not any(column.is_nan().any() for column in table.select(cs.float()).get_columns())
    if table.height:
        plot_influence(table)


def test_a_figure_is_drawn_where_only_some_kind_can_be_left_out() -> None:
    """Every game has a silence; some have an unusable reply too."""
    frames = games(("a", 1, 30, 20))
    some = frames.games.with_columns(fallbacks=pl.int_range(pl.len(), dtype=pl.Int64) % 2)
    table = influence(replace(frames, games=some))
    assert set(table["left_out"]) == {NOTHING, "unusable replies"}
    plot_influence(table)
