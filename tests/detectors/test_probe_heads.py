"""A probe with each head, on a language model that knows who lies; and a head for each type of deception."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from liescope import load
from liescope.cli import main
from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import Example
from liescope.detectors.kinds.probe import TYPES, ProbeDetector, ProbeOptions
from liescope.detectors.probing.heads import HeadName
from liescope.detectors.text_form import TextConfig
from tests.detectors.planted_model import make_planted, planted_examples

CONTEXT = TextConfig(context=4)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_planted(tmp_path_factory.mktemp("planted") / "model")


def fit(planted: Path, examples: list[Example], y: Any, groups: Any, **more: Any) -> ProbeDetector:
    options = ProbeOptions.of({"model": str(planted), "strength": 1.0, **more})
    detector = ProbeDetector(CONTEXT, options)
    detector.prepare()
    return detector.fit(examples, y, groups)


@pytest.mark.parametrize("head", get_args(HeadName))
def test_each_head_finds_what_the_language_model_knows_and_nothing_where_labels_are_shuffled(
    head: str, planted: Path, tmp_path: Path
) -> None:
    examples, y, groups = planted_examples(160)
    others, truth, _ = planted_examples(seed=1)
    found = fit(planted, examples, y, groups, head=head)
    score = found.predict_proba(others)[:, 1]
    assert roc_auc_score(truth, score) > 0.95
    found.save(tmp_path)
    again = ProbeDetector.load(tmp_path, CONTEXT, found.options)
    assert np.allclose(again.predict_proba(others)[:, 1], score, atol=1e-3)
    nothing = np.zeros(len(y), bool)  # half of the lies, and half of the truths
    for lie in (True, False):
        nothing[np.flatnonzero(y == lie)[::2]] = True
    shuffled = fit(planted, examples, nothing, groups, head=head, layer=2).predict_proba(others)[:, 1]
    assert 0.2 < roc_auc_score(truth, shuffled) < 0.8


def test_attention_weighs_the_tokens_of_a_statement_alone(planted: Path) -> None:
    for more in ({"read": "last"}, {"read": "answer"}, {"states": "somewhere"}):
        with pytest.raises(UsageError, match="--read tokens alone"):
            fit(planted, *planted_examples(), head="attention", **more)


def typed(count: int = 160, seed: int = 0) -> tuple[list[Example], Any, Any]:
    """Half of the statements are lies, whose types are two; those of a rare one and of none that is known say so."""
    examples, y, groups = planted_examples(count, seed=seed)
    kinds = np.where(np.arange(count) % 3, TYPES[0], TYPES[2])
    kinds[np.flatnonzero(y)[:4]], kinds[np.flatnonzero(y)[4:9]] = TYPES[1], ""
    made = zip(examples, y, kinds.tolist(), strict=True)
    return [replace(one, deception=kind if lie else "none") for one, lie, kind in made], y, groups


def test_a_head_for_each_type_learns_from_its_lies_and_what_is_honest(planted: Path, tmp_path: Path) -> None:
    examples, y, groups = typed()
    detector = fit(planted, examples, y, groups, by_type="max", layer=2)
    said = np.array([one.deception for one in examples])
    assert list(detector._heads) == ["", TYPES[0], TYPES[2]]
    assert f"{TYPES[0]} {(y & (said == TYPES[0])).sum()}" in detector.notes[-1]
    rows = np.flatnonzero(~y | (said == TYPES[2]))
    alone = fit(planted, [examples[at] for at in rows], y[rows], groups[rows], layer=2)
    assert np.allclose(detector._heads[TYPES[2]].odds(np.eye(64)), alone._heads[""].odds(np.eye(64)))
    others = [replace(one, deception="") for one in typed(seed=1)[0]]
    score, more = detector.predict_proba(others)[:, 1], detector.parts(others)
    assert list(more) == ["single", "mean", "max"]
    assert np.array_equal(score, more["max"])
    assert (more["max"] >= more["mean"]).all()
    detector.save(tmp_path)
    again = ProbeDetector.load(tmp_path, CONTEXT, detector.options)
    assert np.allclose(again.parts(others)["mean"], more["mean"], atol=1e-3)
    assert fit(planted, examples, y, groups, layer=2).parts(others) == {}


def test_without_a_type_that_is_known_there_is_nothing_to_learn_by(planted: Path) -> None:
    examples, y, groups = planted_examples()
    with pytest.raises(UsageError, match="no lie has a type of deception"):
        fit(planted, examples, y, groups, by_type="mean", layer=2)
    few = [replace(one, deception=TYPES[1]) if at < 8 else one for at, one in enumerate(examples)]
    detector = fit(planted, few, y, groups, by_type="mean", layer=2)  # as may happen in a fold
    assert list(detector._heads) == [""]
    found = detector.parts(examples)
    assert np.array_equal(found["mean"], found["single"])


def test_scores_by_type_stand_in_columns_of_their_own(make_corpus: Any, tiny_lm: Path, tmp_path: Path) -> None:
    def reported(rows: Any) -> None:
        for number, row in enumerate(rows["statements"]):
            row["self_type"] = TYPES[number % 2] if row["label_role"] else "none"

    corpus, out = make_corpus(games=60, tell=1.0, change=reported), tmp_path / "probe"
    command = ["train", "probe", "--corpus", str(corpus), "--model", str(tiny_lm), "--layer", "1", "--folds", "0"]
    assert main([*command, "--by-type", "mean", "--out", str(out)]) == 0
    table = load(out).score(["calm trust", "evidence night", ""])
    assert table.columns[-3:] == ["score_single", "score_mean", "score_max"]
    assert table["score_mean"].null_count() == table["score"].null_count()
    (out / f"head-{TYPES[0]}.safetensors").write_bytes(b"none")
    with pytest.raises(BadData, match="cannot be read"):
        load(out)
