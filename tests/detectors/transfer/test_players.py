"""Players judged after the whole game: who is named, what a detector of whole games is shown, what its scores keep."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from liescope.detectors.detector import silent
from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.study.transfer import TransferResult, transfer
from liescope.detectors.study.trials import LEFT_OUT, learned_in, plan
from liescope.detectors.study.units import UnitTable, read_table
from liescope.detectors.text_form import TextConfig
from liescope.detectors.training import Recipe
from liescope.detectors.view.transcript import GameMoment
from tests.detectors.conftest import Rows
from tests.detectors.transfer.conftest import Planted, each_fold, rows_of
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
def table(corpora: list[Path]) -> UnitTable:
    return read_table(corpora, "role")


@pytest.fixture
def whole_games(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[RecordingTables]]:
    monkeypatch.setitem(DETECTORS, RecordingTables.kind, "tests.detectors.transfer.recording:RecordingTables")
    RecordingTables.seen.clear()
    yield RecordingTables
    RecordingTables.seen.clear()


@pytest.mark.parametrize("by", ["model", "corpus"])
def test_a_detector_of_whole_games_is_never_given_a_transcript_that_it_will_be_scored_on(
    by: str, table: UnitTable, whole_games: type[RecordingTables]
) -> None:
    recipe = Recipe(whole_games.kind, "", TextConfig(), {}, 0)
    games = table.frame["game_id"].to_numpy()
    for trial, fit in each_fold(table, by):
        whole_games.seen.clear()
        list(learned_in(table, [trial], recipe, silent))
        (last, learned), (online, said), (after, whole) = whole_games.seen
        assert (last, online, after) == ("fit", "score", "score")
        assert learned == set(games[fit.learn])
        assert said == whole == set(games[fit.score])
        assert not learned & whole


def test_players_follow_from_the_scores_of_statements_as_they_do_for_a_single_detector(
    table: UnitTable, recording: type[RecordingDetector]
) -> None:
    (trial,) = [one for one in plan(table, "corpus", 0) if (one.protocol, one.unit) == (LEFT_OUT, "south")]
    (fit,) = trial.folds
    recipe = Recipe(recording.kind, "", TextConfig(), {"smoothing": 1.0}, 0)
    (scores,) = learned_in(table, [trial], recipe, silent)
    players = scores.score[table.frame.height :]
    examples = table.examples(0)
    detector = recipe.untrained().fit([examples[i] for i in fit.learn], table.y[fit.learn], table.games[fit.learn])
    seats = table.players[table.seats(fit.score)]
    moments = [GameMoment(table.transcripts[key]) for key in seats["game_id"].unique(maintain_order=True)]
    expected = [p for game in detector.player_posteriors(moments) for p in game.values()]
    assert seats["player"].to_list() == [name for moment in moments for name in moment.transcript.names]
    assert players[table.seats(fit.score)] == pytest.approx(expected)
    assert np.isnan(players).sum() == table.players.filter(pl.col("corpus") == "north").height


@pytest.fixture(scope="module")
def found(corpora: list[Path], tmp_path_factory: pytest.TempPathFactory) -> TransferResult:
    out = tmp_path_factory.mktemp("transfer") / "report"
    return transfer(corpora, by="corpus", context=0, strength=4.0, protocols="left-out", out=out)


def test_figures_of_players_are_those_of_their_posteriors(found: TransferResult, table: UnitTable) -> None:
    mine = found.scores.filter(scorer="tfidf", unit="south").drop_nulls("player")
    seats = mine.join(table.players, on=["game_id", "player"]).filter(~pl.col("killed"))
    assert seats.height == 3 * 24
    every = found.of("corpus", LEFT_OUT)
    mine = [row for at, row in every if (at.test, at.end, at.after, row.scorer) == ("south", "", True, "tfidf")]
    rows = {row.metric: row for row in mine}
    values = {metric: row.value for metric, row in rows.items()}
    assert values["player_auroc"] == pytest.approx(roc_auc_score(seats["deceives"], seats["score"]))


def test_after_the_whole_game_figures_have_places_of_their_own_and_the_pairs_can_be_left_out(
    found: TransferResult,
) -> None:
    assert {place.protocol for place in found.places.values()} == {LEFT_OUT}
    ((_, online),) = rows_of(found, LEFT_OUT, "auroc_within", end="worst")
    ((_, afterwards),) = rows_of(found, LEFT_OUT, "player_auroc_within", end="worst", after=True)
    assert afterwards.where == f"{online.where}:after the game"
    assert (afterwards.value or 0) > (online.value or 1)
    words = next(file for file in found.files if file.name == "report.md").read_text(encoding="utf-8")
    assert {f"| tfidf | AUROC{of} within games |" in words for of in ("", " of players")} == {True}
