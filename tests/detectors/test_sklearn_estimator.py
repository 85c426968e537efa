"""Any classifier of scikit-learn as a detector: tried on a made-up sample, saved by skops, and trusted or refused."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import skops.io
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import liescope
from liescope import cli
from liescope.common.errors import BadData, UnknownName, UsageError
from liescope.detectors import LieDetector
from liescope.detectors.detector_registry import detector_class, kind_of, load_parts, make, versions_of
from liescope.detectors.kinds.ensemble import read_members
from liescope.detectors.kinds.sklearn_estimator import TRUST, read_params
from liescope.detectors.textualize import TextConfig
from tests.detectors.test_classifier import LABELS, TEXTS, UNHEARD

FOREST = "sklearn:sklearn.ensemble.RandomForestClassifier"
OWN = '''
from sklearn.base import BaseEstimator, ClassifierMixin

class Keyword(ClassifierMixin, BaseEstimator):
    """Knows a lie by one word."""

    def __init__(self, word="calm"):
        self.word = word

    def fit(self, X, y):
        self.classes_ = [0, 1]
        return self

    def decision_function(self, X):
        return [3.0 if self.word in text else -3.0 for text in X]

class NoScores(Keyword):
    decision_function = property()

    def predict(self, X):
        return [0 for _ in X]
'''


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's own with a classifier of texts; its name."""
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(OWN, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv(TRUST, raising=False)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("name", "options", "trusted"),
    [
        (FOREST, {"params": "n_estimators=20"}, "sklearn.tree._tree.Tree"),
        ("sklearn:sklearn.naive_bayes.ComplementNB", {"words": 1, "chars": 3}, ""),
        ("sklearn:sklearn.svm.LinearSVC", {"params": {"C": 0.5}, "context": 1}, ""),
        (
            "sklearn:sklearn.ensemble.HistGradientBoostingClassifier",
            {"dense": True, "params": {"min_samples_leaf": 2, "max_iter": 10}},
            "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        ),
        ("sklearn:sklearn.neighbors.KNeighborsClassifier", {"features": "embedding", "params": "n_neighbors=3"}, ""),
    ],
)
def test_a_classifier_by_its_name_is_trained_saved_and_opened(
    name: str, options: dict[str, Any], trusted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRUST, trusted)
    trained = liescope.train(name, TEXTS, LABELS, folds=2, out=tmp_path / "m", **options)
    assert trained.file.kind == name
    again = liescope.score(tmp_path / "m", UNHEARD)["score"].to_list()
    assert again[0] > again[1]
    untrusted = [skops.io.get_untrusted_types(file=path) for path in (tmp_path / "m").glob("*.skops")]
    assert {one for types in untrusted for one in types} == ({trusted} if trusted else set())
    card = (tmp_path / "m" / "README.md").read_text(encoding="utf-8")
    assert f"| `estimator` | {name.removeprefix('sklearn:')} |" in card.replace("\\", "")
    assert "Only Liescope opens it. `estimator.skops` holds" in card
    model = LieDetector(name, **options).fit(TEXTS, LABELS)
    assert model.predict(UNHEARD).tolist() == [True, False]
    if trusted:
        monkeypatch.delenv(TRUST)
        with pytest.raises(UsageError, match=f"{TRUST}={trusted} whenever"):
            liescope.train(name, tmp_path / "no corpus", out=tmp_path / "n", **options)
        with pytest.raises(UsageError, match=f"{TRUST}={trusted} whenever"):
            liescope.load(tmp_path / "m")


def test_the_seed_is_the_estimators_random_state() -> None:
    made = [make(FOREST, TextConfig(), {"seed": seed, "params": "n_estimators=3"}) for seed in (1, 1, 2)]
    assert [detector._untrained().random_state for detector in made] == [1, 1, 2]
    assert make(FOREST, TextConfig(), {"params": "random_state=7"})._untrained().random_state == 7


def test_the_help_of_a_name_is_that_of_its_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", FOREST, "--help"]) == 0
    said = capsys.readouterr().out
    assert "Options of sklearn" in said
    assert "--params" in said


def test_the_command_takes_the_name_and_transfer_tells_two_classes_apart(corpus: Path, tmp_path: Path) -> None:
    bayes = ["sklearn:sklearn.naive_bayes.ComplementNB", "sklearn:sklearn.naive_bayes.BernoulliNB"]
    line = ["train", bayes[0], "--corpus", str(corpus), "--out", str(tmp_path / "m"), "--params", "alpha=0.5"]
    assert cli.main([*line, "--folds", "2"]) == 0
    assert json.loads((tmp_path / "m" / "model.json").read_text())["options"]["params"] == '{"alpha": 0.5}'
    found = liescope.transfer([corpus], by=["model"], detector=bayes, context=0, draws=10, out=tmp_path / "r")
    assert set(found.headline["detector"]) == set(bayes)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("sklearn", {}, "name the module and the class of a classifier, as in sklearn:sklearn.svm.LinearSVC"),
        ("sklearn:Forest", {}, "name the module and the class"),
        ("sklearn:nowhere.at.All", {}, "nowhere.at cannot be imported .*install the package"),
        ("sklearn:ensemble.RandomForestClassifier", {}, "did you mean sklearn:sklearn.ensemble.RandomForestClassifier"),
        ("sklearn:sklearn.ensemble.Forest", {}, "sklearn.ensemble has no 'Forest'"),
        ("sklearn:sklearn.base.clone", {}, "is no class of estimators"),
        ("sklearn:sklearn.linear_model.LinearRegression", {}, "is no classifier"),
        ("sklearn:sklearn.linear_model.RidgeClassifierCV", {"params": "alpha=1"}, "cannot be made with these --params"),
        (FOREST, {"params": "max_depth=-3"}, "cannot learn from a made-up sample of 400 texts .*max_depth"),
        (FOREST, {"params": "deep"}, "'deep' is no parameter"),
        (FOREST, {"features": "sound"}, "'sound' is none of tfidf, embedding, text"),
        (FOREST, {"features": "text"}, "cannot learn from a made-up sample"),
        ("sklearn:sklearn.naive_bayes.GaussianNB", {}, "give it dense features with --dense"),
        ("sklearn:sklearn.naive_bayes.ComplementNB", {"features": "embedding"}, "Negative values"),
    ],
)
def test_what_cannot_be_trained_is_said_before_anything_is_read(
    name: str, options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=words):
        liescope.train(name, tmp_path / "no corpus", out=tmp_path / "m", **options)
    with pytest.raises(UsageError, match=words):
        liescope.transfer([tmp_path / "no corpus"], by=["model"], detector=[name], out=tmp_path / "r", **options)
    with pytest.raises(ValueError, match=words):
        LieDetector(name, **options).fit(TEXTS, LABELS)


def test_types_that_skops_does_not_trust_are_refused_before_training_and_on_opening_unless_the_user_trusts_them(
    own: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, options = f"sklearn:{own}.Keyword", {"features": "text", "params": "word=rush"}
    with pytest.raises(
        UsageError, match=rf"made of types that skops does not trust .*: {own}.Keyword.* set {TRUST}={own}"
    ):
        liescope.train(name, tmp_path / "no corpus", out=tmp_path / "m", **options)
    monkeypatch.setenv(TRUST, f"another.Class, {own}.Keyword")
    liescope.train(name, TEXTS, LABELS, folds=0, out=tmp_path / "m", **options)
    scores = liescope.score(tmp_path / "m", ["rush here", "no hurry"])["score"].to_list()
    assert scores == pytest.approx([1 / (1 + np.exp(-3)), 1 / (1 + np.exp(3))])
    monkeypatch.delenv(TRUST)
    monkeypatch.delitem(sys.modules, own)
    with pytest.raises(UsageError, match=rf"estimator.skops holds types .*{own}.Keyword.*set {TRUST}={own}.Keyword"):
        liescope.load(tmp_path / "m")
    assert own not in sys.modules


def test_a_class_without_probabilities_or_decisions_is_refused(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRUST, f"{own}.NoScores")
    with pytest.raises(UsageError, match="gives classes alone; name a class with predict_proba or decision_function"):
        make(f"sklearn:{own}.NoScores", TextConfig(), {"features": "text"}).prepare()


def test_a_strangers_file_holds_the_class_that_it_names_and_reads_no_files(tmp_path: Path) -> None:
    model = LieDetector("sklearn:sklearn.naive_bayes.ComplementNB").fit(TEXTS, LABELS).save(tmp_path / "m")
    other = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    reads = make_pipeline(CountVectorizer(input="filename"), LogisticRegression())
    for name in ("a", "b"):
        (tmp_path / name).write_text(f"{name * 3} words", encoding="utf-8")
    reads.fit([str(tmp_path / "a"), str(tmp_path / "b")], [0, 1])
    for estimator, given, words in (
        (other, {}, "holds a LogisticRegression, not a sklearn.naive_bayes.ComplementNB"),
        (reads, {"estimator": "sklearn.pipeline.Pipeline", "features": "text"}, "may be told to read files"),
    ):
        folder = Path(shutil.copytree(model, tmp_path / words[:5]))
        skops.io.dump(estimator, folder / "estimator.skops")
        with pytest.raises(BadData, match=words):
            load_parts("sklearn", folder, TextConfig(), {"estimator": "sklearn.naive_bayes.ComplementNB", **given})


def test_parameters_are_json_or_pairs() -> None:
    assert read_params('{"a": [1, 2], "b": null}') == {"a": [1, 2], "b": None}
    assert read_params("a=1,b=0.5,c=l1,d=None,e=True,f=[1,2],g=") == {
        **{"a": 1, "b": 0.5, "c": "l1", "d": None, "e": True, "f": [1, 2], "g": ""}
    }


def test_a_name_with_a_colon_is_a_kind_and_one_of_its_options() -> None:
    assert kind_of(FOREST) == "sklearn"
    assert detector_class(FOREST) is detector_class("sklearn")
    assert make(FOREST, TextConfig(), {}).options.estimator == "sklearn.ensemble.RandomForestClassifier"
    assert "scikit-learn" in versions_of(FOREST)
    for name in ("tfidf:words", "nothing:at.all"):
        with pytest.raises(UnknownName, match="unknown kind of detector"):
            detector_class(name)
    members = read_members(f"tfidf;{FOREST},params=max_depth=3,min_count=1")
    assert members[1].options == {"estimator": FOREST.partition(":")[2], "params": "max_depth=3", "min_count": "1"}
