"""What evaluate, transfer, bench and audit print with --json has one shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

import liescope
from liescope.detectors.study.figures import FIGURES
from tests.detectors.conftest import Corpus


@pytest.fixture(scope="module")
def printed(make_corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By command, of the same games."""
    folder, corpus = tmp_path_factory.mktemp("printed"), make_corpus(games=40)
    liescope.train("tfidf", corpus, folds=0, out=folder / "model")
    suite = folder / "suite.toml"
    suite.write_text(f'[[data]]\nname = "games"\nfile = "{corpus}"\nsplit = "test"\n')
    found = {
        "evaluate": liescope.evaluate(folder / "model", corpus, split="test"),
        "transfer": liescope.transfer(corpus, by="model", protocols="pair", context=0, words=1, strength=4.0),
        "bench": liescope.bench(folder / "model", suite=suite, leave_out=[]),
        "audit": liescope.audit(corpus, split="out-of-fold"),
    }
    return {name: json.loads(json.dumps(result.to_json())) for name, result in found.items()}


@pytest.mark.parametrize("command", ["evaluate", "transfer", "bench", "audit"])
def test_figures_and_findings_of_every_command_have_the_same_keys(printed: dict[str, Any], command: str) -> None:
    said = printed[command]
    assert {*said["figures"][0]} == {*FIGURES}
    assert all(figure.keys() == said["figures"][0].keys() for figure in said["figures"])
    assert all(found.keys() == {"words", "rests_on", "severity"} for found in said["findings"])
    assert all(isinstance(note, str) for note in said["notes"])


@pytest.mark.parametrize("command", ["evaluate", "transfer", "bench", "audit"])
def test_a_sentence_rests_on_figures_that_are_told(printed: dict[str, Any], command: str) -> None:
    findings, figures = printed[command]["findings"], printed[command]["figures"]
    assert any(found["rests_on"] for found in findings)
    assert all(figure in figures for found in findings for figure in found["rests_on"])
