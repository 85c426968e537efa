"""The Python API: what `import liescope` offers, and that it is what the commands do."""

from __future__ import annotations

import inspect
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import liescope


@pytest.mark.parametrize("name", sorted({*liescope.__all__} - {"LiescopeError"}))
def test_every_function_is_typed_and_documented(name: str) -> None:
    function = getattr(liescope, name)
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(parameter.annotation is not inspect.Parameter.empty for parameter in signature.parameters.values())
    assert len((function.__doc__ or "").split()) > 20


def test_its_names_are_listed_and_another_is_an_attribute_error() -> None:
    assert set(liescope.__all__) <= set(dir(liescope))
    with pytest.raises(AttributeError, match="deceive"):
        getattr(liescope, *["deceive"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("api"))


@pytest.fixture(scope="module")
def made(folder: str) -> str:
    """A run, a corpus and a model, made by functions with paths that are texts."""
    run = liescope.play(
        "mini-mafia", players=["scripted:bold", "scripted:novice"], games=3, assess=True, out=f"{folder}/run"
    )
    assert run.complete
    corpus = liescope.build(f"{folder}/run", out=f"{folder}/corpus")
    model = liescope.train("tfidf", f"{folder}/corpus", out=f"{folder}/model")
    for result in (run, corpus, model):
        assert len(repr(result).splitlines()) == 1
        assert len(repr(result)) < 200
    return folder


def test_a_saved_detector_scores_plain_strings(made: str) -> None:
    detector = liescope.load(f"{made}/model")
    scores = detector.score(["I investigated Bob. He is the mafioso.", "I saw nothing.", ""])
    assert scores["score"].is_between(0, 1).to_list() == [True, True, None]
    assert scores.equals(
        liescope.score(f"{made}/model", ["I investigated Bob. He is the mafioso.", "I saw nothing.", ""])
    )


def test_a_corpus_is_read_as_frames_and_evaluated(made: str) -> None:
    statements = liescope.read(f"{made}/corpus", "statements").collect()
    assert isinstance(statements, pl.DataFrame)
    assert statements.height == 24 * 6
    report = liescope.evaluate([f"{made}/model"], f"{made}/corpus", out=f"{made}/report")
    assert Path(f"{made}/report/report.json").exists()
    assert len(repr(report).splitlines()) == 1


def test_a_detector_is_trained_and_evaluated_on_a_run_as_on_its_corpus(made: str) -> None:
    trained = liescope.train("tfidf", f"{made}/run", out=f"{made}/from-run")
    scores = pl.read_parquet(f"{made}/model/scores.parquet")
    assert_frame_equal(trained.scores.drop("scorer"), scores.drop("scorer"), abs_tol=1e-9)
    on_run, on_corpus = (liescope.evaluate(f"{made}/model", f"{made}/{name}") for name in ("run", "corpus"))
    assert_frame_equal(on_run.metrics, on_corpus.metrics, abs_tol=1e-9)


def test_the_mistakes_of_a_caller_are_errors_of_the_tree(made: str) -> None:
    with pytest.raises(liescope.LiescopeError, match="mini-mafja"):
        liescope.play("mini-mafja", out=f"{made}/other")
    with pytest.raises(liescope.LiescopeError, match="nowhere"):
        liescope.build(f"{made}/nowhere", out=f"{made}/other")
    with pytest.raises(liescope.LiescopeError, match="nowhere"):
        liescope.load(f"{made}/nowhere")
