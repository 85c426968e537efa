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


def test_a_saved_detector_scores_plain_strings(played_model: Path) -> None:
    texts = ["I investigated Bob. He is the mafioso.", "I saw nothing.", ""]
    scores = liescope.load(str(played_model)).score(texts)
    assert scores["score"].is_between(0, 1).to_list() == [True, True, None]
    assert scores.equals(liescope.score(str(played_model), texts))


def test_a_corpus_is_read_as_frames_and_evaluated(played_corpus: Path, played_model: Path, tmp_path: Path) -> None:
    statements = liescope.read(str(played_corpus), "statements").collect()
    assert isinstance(statements, pl.DataFrame)
    assert statements.height == 24 * 6
    report = liescope.evaluate([str(played_model)], str(played_corpus), out=f"{tmp_path}/report")
    assert (tmp_path / "report" / "report.json").exists()
    assert len(repr(report).splitlines()) == 1


def test_a_detector_is_trained_and_evaluated_on_a_run_as_on_its_corpus(
    played: Path, played_corpus: Path, tmp_path: Path
) -> None:
    trained = [liescope.train("tfidf", one, out=tmp_path / one.parent.name) for one in (played, played_corpus)]
    assert_frame_equal(*(one.scores.drop("scorer") for one in trained), abs_tol=1e-9)
    found = [liescope.evaluate(trained[0].model, one) for one in (played, played_corpus)]
    assert_frame_equal(*(one.metrics for one in found), abs_tol=1e-9)
    assert max(len(repr(result)) for result in trained) < 200
    assert not any("\n" in repr(result) for result in (*trained, *found))
