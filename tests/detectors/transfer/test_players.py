"""Players judged after the whole game: who is named, what a detector of whole games is shown, what its scores keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from liescope.common.statistics import at_share, game_weights
from liescope.detectors.detector import silent
from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.study.across import named
from liescope.detectors.study.corpora import TransferTable, read_table
from liescope.detectors.study.fits import Recipe, files_of, fit_all
from liescope.detectors.study.plans import LEFT_OUT, plan
from liescope.detectors.study.transfer import transfer
from liescope.detectors.study.transfer_result import TransferResult
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.transcript import GameMoment, Transcript, TranscriptTurn
from tests.detectors.conftest import Rows
from tests.detectors.transfer.conftest import Planted, each_part, rows_of
from tests.detectors.transfer.recording import RecordingDetector, RecordingTables


def killed(rows: Rows) -> None:
    """As in Mini-Mafia, one villager is found dead before anybody speaks. The last two games share a beginning, by
    whose name statements are sorted, and players are not.
    """
    for game in rows["games"][-2:]:
        game["siblings"] = "a beginning"
    for game in rows["games"]:
        (dead,) = game["killed"]
        for seat in game["seats"]:
            seat["fate"], seat["day_out"] = ("killed", 1) if seat["name"] == dead else ("alive", None)


@pytest.fixture(scope="module")
def corpora(planted: Planted) -> list[Path]:
    return [planted("north", ("ada", "bo"), change=killed), planted("south", ("cy", "di"), change=killed)]


@pytest.fixture(scope="module")
def table(corpora: list[Path]) -> TransferTable:
    return read_table(corpora, "role")


@pytest.fixture
def whole_games(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[RecordingTables]]:
    monkeypatch.setitem(DETECTORS, RecordingTables.kind, "tests.detectors.transfer.recording:RecordingTables")
    RecordingTables.seen.clear()
    yield RecordingTables
    RecordingTables.seen.clear()


@pytest.mark.parametrize("by", ["model", "corpus"])
def test_a_detector_of_whole_games_is_never_given_a_transcript_that_it_will_be_scored_on(
    by: str, table: TransferTable, whole_games: type[RecordingTables]
) -> None:
    recipe = Recipe(whole_games, TextConfig(), {}, whole_games.grid, 0)
    games = table.frame["game_id"].to_numpy()
    for trial, fit in each_part(table, by):
        whole_games.seen.clear()
        fit_all(table, [trial], [recipe], None, silent)
        *inner, (last, learned), (online, said), (after, whole) = whole_games.seen
        assert (last, online, after) == ("fit", "score", "score")
        assert learned == set(games[fit.learn])
        assert said == whole == set(games[fit.score])
        assert not learned & whole
        assert inner
        assert set().union(*(shown for _, shown in inner)) <= learned
        for (_, rest), (_, held_out) in zip(inner[::2], inner[1::2], strict=True):
            assert not rest & held_out


def test_players_follow_from_the_scores_of_statements_as_they_do_for_a_single_detector(
    table: TransferTable, recording: type[RecordingDetector]
) -> None:
    (trial,) = [one for one in plan(table, "corpus", 0) if (one.protocol, one.unit) == (LEFT_OUT, "south")]
    (fit,) = trial.parts
    recipe = Recipe(recording, TextConfig(), {"smoothing": 1.0, "context": 0}, {}, 0)
    (scores,) = fit_all(table, [trial], [recipe], None, silent)
    players = scores.score[table.frame.height :]
    examples = table.examples(0)
    detector = recipe.made({}).fit([examples[i] for i in fit.learn], table.y[fit.learn], table.games[fit.learn])
    seats = table.players[table.seats(fit.score)]
    moments = [GameMoment(table.transcripts[key]) for key in seats["game_id"].unique(maintain_order=True)]
    expected = [p for game in detector.player_posteriors(moments) for p in game.values()]
    assert seats["player"].to_list() == [name for moment in moments for name in moment.transcript.names]
    assert players[table.seats(fit.score)] == pytest.approx(expected)
    assert np.isnan(players).sum() == table.players.filter(pl.col("corpus") == "north").height


@pytest.fixture(scope="module")
def found(corpora: list[Path], tmp_path_factory: pytest.TempPathFactory) -> TransferResult:
    out = tmp_path_factory.mktemp("transfer") / "report"
    return transfer(corpora, by="corpus", context=0, strength=4.0, protocols="left out", out=out)


def test_figures_of_players_are_those_of_their_posteriors(found: TransferResult, table: TransferTable) -> None:
    mine = found.scores.filter(scorer="tfidf", unit="south").drop_nulls("player")
    seats = mine.join(table.players, on=["game_id", "player"]).filter(~pl.col("killed"))
    assert seats.height == 3 * 24
    every = found.of("tfidf", "corpus", LEFT_OUT)
    rows = {row.metric: row for at, row in every if (at.test, at.part, at.after) == ("south", "", True)}
    values = {metric: row.value for metric, row in rows.items()}
    assert values["player_auroc"] == pytest.approx(roc_auc_score(seats["deceives"], seats["score"]))
    top = seats.group_by("game_id").agg(pl.col("deceives").sort_by("score").last())["deceives"]
    assert values["names_deceiver"] == pytest.approx(top.mean())
    assert (values["names_deceiver_villager"] or 0) >= (values["names_deceiver"] or 1)
    assert rows["names_deceiver"].prevalence == pytest.approx(1 / 3)
    assert rows["names_deceiver_villager"].prevalence == pytest.approx(1 / 2)


def test_after_the_whole_game_figures_have_places_of_their_own_and_the_pairs_can_be_left_out(
    found: TransferResult,
) -> None:
    assert {place.protocol for place in found.places.values()} == {LEFT_OUT}
    ((_, online),) = rows_of(found, LEFT_OUT, "auroc_within", part="worst")
    ((_, afterwards),) = rows_of(found, LEFT_OUT, "auroc_within", part="worst", after=True)
    assert afterwards.where == f"{online.where}:after the game"
    assert (afterwards.value or 0) > (online.value or 1)
    words = next(file for file in found.files if file.name == "report.md").read_text(encoding="utf-8")
    assert "| tfidf, while it is played |" in words
    assert "| in a villager's seat |" in words


def seats(*rows: tuple[int, str, bool | None, bool, float]) -> pl.DataFrame:
    """(game, player, deceives, killed, score)"""
    schema = {
        "number": pl.Int64,
        "player": pl.String,
        "deceives": pl.Boolean,
        "killed": pl.Boolean,
        "score": pl.Float64,
    }
    frame = pl.DataFrame(rows, schema=schema, orient="row").with_columns(game_id=pl.col("number").cast(pl.String))
    return frame.with_columns(siblings="game_id", villager=pl.col("player") == "Vi")


def test_equals_share_the_dead_are_not_named_and_a_villager_does_not_name_itself() -> None:
    players = seats(
        *((0, "Ma", True, False, 0.3), (0, "De", False, False, 0.3), (0, "Vi", False, False, 0.0)),
        (0, "Xi", False, True, 0.4),
        *((1, "Ma", True, False, 0.2), (1, "De", False, False, 0.1), (1, "Vi", False, False, 0.7)),
        *((2, "Ma", None, False, 0.9), (2, "De", False, False, 0.1), (2, "Vi", False, False, 0.0)),
    )
    table = named(players)
    assert table["right"].to_list() == [0.5, 0.0]
    assert table["sure"].to_list() == pytest.approx([0.5, 0.7])
    assert table["chance"].to_list() == pytest.approx([1 / 3, 1 / 3])
    seat = named(players, by_villagers=True)
    assert seat["right"].to_list() == [0.5, 1.0]
    assert seat["sure"].to_list() == pytest.approx([0.5, 2 / 3])
    weights = game_weights(2, 0)
    assert at_share(seat["sure"].to_numpy(), seat["right"].to_numpy(), 0.5, weights)[0] == 1.0


def test_what_happened_besides_words_belongs_to_a_fit_and_its_hash_is_the_same_in_every_process(
    table: TransferTable, recording: type[RecordingDetector]
) -> None:
    recipe = Recipe(recording, TextConfig(), {"smoothing": 1.0, "context": 0}, {}, 0)
    fit = next(iter(plan(table, "corpus", 0))).parts[0]
    shared = {("corpus", b""): (fit.learn, fit.score)}
    key = table.frame["game_id"][int(fit.score[0])]
    game = table.transcripts[key]
    silenced = {**table.transcripts, key: replace(game, turns=game.turns[:-1])}
    files = [files_of(Path(), one, recipe, shared) for one in (table, replace(table, transcripts=silenced))]
    assert files[0].keys() == files[1].keys()
    assert files[0] != files[1]
    said = Transcript("g", ("a",), (TranscriptTurn("said", "a", audience=frozenset("abcdefgh")),))
    assert said.digest().hex() == "192556a8cd32217c548dd0496b8b9428a58a0e2c4371d58ec66ff5e228d7cb27"
