"""A trained detector is calibrated, abstains where it must, and is silent elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from liescope import evaluate, load, train
from liescope.common.errors import UnknownName
from liescope.detectors import LoadedDetector
from liescope.detectors.calibrate import UNLIKE
from liescope.detectors.commands import app
from liescope.detectors.examples import examples_of, labelled, make_examples, read_statements
from liescope.detectors.study.verdicts import PROMISED
from liescope.detectors.view.transcript import GameMoment, read_transcripts
from tests.detectors.conftest import Corpus, Rows, elsewhere

CALM = "calm down and trust me, a random rush is wrong, Bob."


@pytest.fixture(scope="module")
def model(large_model: Path) -> LoadedDetector:
    return load(large_model)


def test_every_score_that_leaves_a_model_is_calibrated(model: LoadedDetector, large: Path) -> None:
    """Its own scores of validation are those that it gives anew, and not the raw ones."""
    confidence = model.file.confidence
    assert confidence.statements != 1
    statements = read_statements(large, ["validation"])
    raw = model.detector.predict_proba(make_examples(statements, 0))[:, 1]
    given = model.score(statements)["score"].to_numpy()
    assert given == pytest.approx(confidence.of_scores(raw))
    saved = model.scores.filter(pl.col("fold") == -1)
    assert statements.join(saved, on="statement_id")["score"].to_numpy() == pytest.approx(given)


def test_the_verdicts_hold_each_class_as_often_as_promised(model: LoadedDetector, large: Path) -> None:
    statements = read_statements(large, ["test"])
    data = labelled(statements, "role", 0)
    abstained = []
    for coverage in (0.7, 0.9):
        verdict = model.score(statements, coverage=coverage)["verdict"].to_numpy()
        wrong = [(verdict[data.y] == "honest").mean(), (verdict[~data.y] == "deceptive").mean()]
        assert max(wrong) <= 1 - coverage + 0.1  # about 60 games
        abstained.append((verdict == "abstain").mean())
    assert 0 < abstained[0] < abstained[1] < 1


def test_what_is_said_of_a_game_is_calibrated_and_adds_up(model: LoadedDetector, large: Path) -> None:
    game = next(iter(read_transcripts(large, ["test"]).values()))
    followed = model.predict_game(game, 3)
    assert all(chance == followed.players[game.turns[at].player] for at, chance in followed.statements.items())
    whole, (raw,) = model.predict_game(game).players, model.detector.player_posteriors([GameMoment(game)])
    assert set(whole) == set(game.alive())
    assert sorted(whole, key=whole.__getitem__) == sorted(whole, key=raw.__getitem__)
    assert any(whole[name] != raw[name] for name in whole)  # calibrated


def test_games_with_other_words_get_no_verdict_and_one_sentence_says_so(
    model: LoadedDetector, large: Path, make_corpus: Corpus, tmp_path: Path
) -> None:
    statements = read_statements(large, ["test"])
    model.score(statements)
    assert model.notes == ()

    def in_other_words(rows: Rows) -> None:
        elsewhere(rows)
        for row in rows["statements"]:
            row["text"] = f"zebra quilt {row['text']} lantern"

    odd = make_corpus(games=60, tell=0.5, change=in_other_words)
    rows = read_statements(odd).select("statement_id", "game_id", "speaker", "names", "text").to_dicts()
    found = model.score(rows)
    assert found["verdict"].null_count() == found["abstains"].null_count() == found.height
    assert found["score"].null_count() == 0
    sentence = UNLIKE.format(len(rows))
    assert model.notes == (sentence,)
    given = tmp_path / "said.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = CliRunner().invoke(app, ["score", str(model.folder), "--in", str(given), "--json"])
    assert json.loads(done.stdout)["notes"] == [sentence]
    result = evaluate(model, odd)
    assert f"{model.name}: {sentence}" in result.notes
    assert not [row for row in result.rows if PROMISED in row.where]
    assert [row for row in result.rows if row.metric == "auroc"]


def test_other_targets_have_verdicts_and_judge_no_players(corpus: Path, tmp_path: Path) -> None:
    model = load(train("tfidf", corpus, out=tmp_path / "m", target="claim", folds=2).model)
    assert model.score([CALM])["verdict"].null_count() == 0
    game = next(iter(read_transcripts(corpus, ["test"]).values()))
    whole = model.predict_game(game)
    assert whole.players == {}
    assert set(whole.statements) == set(examples_of(GameMoment(game), 0, "claim"))


def test_without_calibration_scores_are_the_detectors_own(corpus: Path, tmp_path: Path) -> None:
    model = load(train("tfidf", corpus, out=tmp_path / "m", folds=2, calibrate="none").model)
    assert (model.file.confidence.statements, model.file.confidence.players) == (None, None)
    assert model.file.confidence.labels is not None
    with pytest.raises(UnknownName, match="--calibrate"):
        train("tfidf", corpus, out=tmp_path / "n", calibrate="magic")


def test_a_detector_of_players_gives_no_verdict_on_a_text_without_its_game(corpus: Path, tmp_path: Path) -> None:
    model = load(train("linear", corpus, out=tmp_path / "m", folds=0).model)
    rows = read_statements(corpus, ["test"]).select("text", "speaker", "game_id", "names", deceivers=1).to_dicts()
    there = model.score(rows, coverage=0.5)
    assert there.filter(pl.col("verdict") != "abstain").height > len(rows) / 2
    assert "it comes without the game that this detector reads" not in set(there["abstains"])
    alone = model.score([{"text": row["text"], "speaker": row["speaker"]} for row in rows], coverage=0.5)
    assert set(alone["verdict"]) == {"abstain"}
    assert set(alone["abstains"]) == {"it comes without the game that this detector reads"}
