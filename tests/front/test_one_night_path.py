"""The third game through every room: play, build, train, evaluate, analyse, label. No room was written for it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import liescope
from liescope import cli

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("one-night")
    players = [word for name in ("bold", "steady") for word in ("--player", f"scripted:{name}")]
    run, corpus, model = (str(folder / name) for name in ("run", "corpus", "model"))
    for words in (
        ["play", "one-night-werewolf", *players, "--games", "6", "--assess", "--rounds", "1", "--out", run],
        ["build", run, "--out", corpus],
        ["train", "tfidf", "--corpus", corpus, "--target", "role", "--out", model],
        ["evaluate", model, "--corpus", corpus, "--draws", "50", "--out", str(folder / "report")],
        ["analyse", run, "--out", str(folder / "analyses")],
        ["label", run, "--judge", "scripted:novice", "--share", "0.1", "--roles", "--out", str(folder / "judged")],
    ):
        assert cli.main(words) == 0, words
    return folder


def test_a_detector_is_trained_and_evaluated_on_a_run_as_on_its_corpus(folder: Path) -> None:
    trained = liescope.train("tfidf", folder / "run", out=folder / "from-run")
    scores = pl.read_parquet(folder / "model" / "scores.parquet")
    assert_frame_equal(trained.scores.drop("detector"), scores.drop("detector"), abs_tol=1e-9)
    on_run, on_corpus = (liescope.evaluate(folder / "model", folder / name, draws=20) for name in ("run", "corpus"))
    assert_frame_equal(on_run.metrics, on_corpus.metrics, abs_tol=1e-9)


def test_every_statement_has_the_labels_of_its_game(folder: Path) -> None:
    statements = pl.concat(pl.read_parquet(path) for path in (folder / "corpus").rglob("statements*/*.parquet"))
    assert set(statements["speaker_role"].unique()) == {"werewolf", "seer", "villager"}
    assert statements.filter(pl.col("label_role") != (pl.col("speaker_role") == "werewolf")).is_empty()
    lies = statements.filter("label_claim")
    assert lies.height
    assert set(lies["speaker_role"].unique()) == {"werewolf"}


def test_the_card_describes_the_game(folder: Path) -> None:
    card = (folder / "corpus" / "README.md").read_text(encoding="utf-8")
    assert "**one-night-werewolf** (48)" in card
    assert "cards in the centre" in card


def test_the_report_has_figures(folder: Path) -> None:
    report = json.loads((folder / "report" / "report.json").read_text(encoding="utf-8"))
    assert report
    assert (folder / "analyses" / "report.html").exists()
