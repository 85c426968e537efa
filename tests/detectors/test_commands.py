"""`train` and `evaluate` as a user types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.commands import app

Corpus = Callable[..., Path]


def run(*words: str) -> str:
    return CliRunner().invoke(app, list(words), catch_exceptions=False).stdout


def test_train_and_evaluate_print_one_json_object_and_write_their_folders(corpus: Path, tmp_path: Path) -> None:
    model, report = tmp_path / "m", tmp_path / "r"
    trained = json.loads(
        run("train", "tfidf", "--corpus", str(corpus), "--out", str(model), "--context", "2", "--json")
    )
    assert trained["kind"] == "tfidf"
    assert trained["text"]["context"] == 2
    assert {row["split"] for row in trained["rows"]} == {"train", "validation"}
    evaluated = json.loads(
        run(
            "evaluate",
            str(model),
            "--corpus",
            str(corpus),
            "--observers",
            "--draws",
            "50",
            "--out",
            str(report),
            "--json",
        )
    )
    assert set(evaluated) == {"rows", "notes"}
    fields = {"detector", "target", "split", "metric", "value", "lo", "hi", "statements", "games", "prevalence"}
    assert all(set(row) == fields for row in evaluated["rows"])
    assert (report / "report.md").is_file()


def test_fine_tuning_leaves_standard_output_to_the_object(corpus: Path, tiny_encoder: Path, tmp_path: Path) -> None:
    words = ["--encoder", str(tiny_encoder), "--max-steps", "2", "--folds", "0", "--json"]
    out = run("train", "encoder", "--corpus", str(corpus), "--out", str(tmp_path / "m"), *words)
    assert json.loads(out)["kind"] == "encoder"


def test_tables_show_the_headline_beside_its_controls(corpus: Path, tmp_path: Path) -> None:
    model = str(tmp_path / "m")
    train = ["train", "tfidf", "--corpus", str(corpus), "--target", "claim"]
    assert "train has no scores" in run(*train, "--out", str(tmp_path / "unscored"), "--folds", "0")
    said = run(*train, "--out", model)
    assert "tfidf trained on" in said
    assert "scored out of fold" in said
    shown = run("evaluate", model, "--corpus", str(corpus), "--draws", "20", "--out", str(tmp_path / "r"))
    for words in ("control:role_oracle", "AUROC [95%]", "claim, test", "report.md"):
        assert words in shown


def test_an_option_of_another_kind_is_refused_with_those_that_fit(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="tfidf has no option --epochs; it takes --words"):
        run("train", "tfidf", "--corpus", str(corpus), "--out", str(tmp_path / "m"), "--epochs", "3")


def test_an_unknown_kind_names_the_choices(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="embedding, encoder, tfidf"):
        run("train", "svm", "--corpus", str(corpus), "--out", str(tmp_path / "m"))


@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_help_has_an_example(command: str) -> None:
    assert f"Example: liescope {command}" in " ".join(run(command, "--help").split())
