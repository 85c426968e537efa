"""Detectors as classifiers of scikit-learn: its own checks, its searches, folds and pipelines."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from sklearn.utils.validation import validate_data

from liescope.common.errors import UsageError
from liescope.detectors import LieDetector
from liescope.detectors.classifier import InputError
from liescope.detectors.detector_registry import DETECTORS
from tests.detectors.test_own_rows import GROUPS, LABELS, TEXTS

ROOT = Path(__file__).parents[2]
UNHEARD = ["calm rush words", "evidence checked words"]


class OfRows(LieDetector):
    """A detector that reads each row of a matrix as words, "x0is3 x1is-2", so that all but reading is checked."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.one_d_array = True, False
        return tags

    def fit(self, X: Any, y: Any, groups: Any = None) -> OfRows:  # noqa: N803
        return super().fit(self._words(X, reset=True), y, groups)

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        sklearn.utils.validation.check_is_fitted(self)
        return super().predict_proba(self._words(X, reset=False))

    def _words(self, X: Any, reset: bool) -> list[str]:  # noqa: N803
        rows = validate_data(self, X, reset=reset)
        return [" ".join(f"x{at}is{int(np.floor(value))}" for at, value in enumerate(row)) for row in rows]


_ASKS = {"check_classifiers_classes": "its labels are 'one' and 'two': a detector asks which of them is the lie"}


@parametrize_with_checks([OfRows(min_count=1)], expected_failed_checks=lambda _: _ASKS)
def test_every_check_of_scikit_learn_passes_where_rows_are_read_as_words(estimator: Any, check: Any) -> None:
    check(estimator)


def test_scikit_learn_is_told_that_texts_are_read_and_no_matrices() -> None:
    tags = get_tags(LieDetector())
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array
    assert not tags.classifier_tags.multi_class
    with pytest.warns(sklearn.exceptions.SkipTestWarning, match="Can't test"):
        checks = [check.func.__name__ for _, check in estimator_checks_generator(LieDetector())]
    assert checks == ["check_estimator_cloneable"]


@pytest.mark.parametrize("kind", ["tfidf", "linear", "embedding"])
def test_a_kind_is_a_classifier(kind: str) -> None:
    model = LieDetector(kind).fit(TEXTS, LABELS)
    assert model.classes_.tolist() == [False, True]
    assert model.predict(UNHEARD).tolist() == [True, False]
    proba = model.predict_proba(UNHEARD)
    assert proba.sum(axis=1) == pytest.approx(1)
    assert model.score(TEXTS, LABELS) > 0.95
    assert pickle.loads(pickle.dumps(model)).predict_proba(UNHEARD) == pytest.approx(proba)


def chats(texts: list[str]) -> list[list[dict[str, str]]]:
    return [[{"role": "user", "content": text}, {"role": "assistant", "content": "Yes."}] for text in texts]


@pytest.mark.parametrize(
    "given",
    [
        pd.Series(TEXTS),
        pl.DataFrame({"text": TEXTS}),
        [{"text": "Yes.", "speaker": "Bo", "context": [("Al", text)]} for text in TEXTS],
        chats(TEXTS),
        [{"messages": messages} for messages in chats(TEXTS)],
    ],
    ids=["series", "frame", "mappings", "conversations", "rows"],
)
def test_what_holds_texts_is_searched_and_cross_validated_by_group(given: Any) -> None:
    model = LieDetector(context=1)
    scores = cross_val_score(model, given, LABELS, groups=GROUPS, cv=GroupKFold(4), scoring="roc_auc")
    assert scores.min() > 0.95


def test_what_was_learned_from_has_a_receipt() -> None:
    frame = pl.DataFrame({"text": TEXTS, "mood": "calm"})
    told = LieDetector("tfidf").fit(frame, ["lie", "truth"] * 40, groups=GROUPS).receipt_
    assert (told.rows, told.kept, told.texts, len(told.groups), told.ignored) == (80, 80, 80, 10, ("mood",))
    assert told.labels == {("lie", True): 40, ("truth", False): 40}
    asked = [{"question": "Well?", "answer": text} for text in TEXTS]
    told = LieDetector("tfidf").fit(asked, [0, 1] * 40).receipt_
    assert ([*told.used], told.ignored) == (["question", "answer"], ())
    assert told.labels == {("0", False): 40, ("1", True): 40}


def test_options_of_the_kind_are_parameters_that_a_search_chooses_and_a_clone_keeps() -> None:
    model = LieDetector("tfidf", words=3)
    options = {name for name in DETECTORS["tfidf"].options_type.model_fields if name != "seed"}
    assert options < model.get_params().keys()
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(strength=0.5, context=2).get_params()["strength"] == 0.5
    search = GridSearchCV(
        make_pipeline(FunctionTransformer(lambda texts: [text.upper() for text in texts]), model),
        [{"liedetector__kind": ["linear"]}, {"liedetector__words": [1, 2], "liedetector__strength": [1e-6, 4.0]}],
        cv=GroupKFold(3),
        scoring="neg_log_loss",
    ).fit(TEXTS, LABELS, groups=GROUPS)
    assert search.best_params_["liedetector__strength"] == 4.0
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert search.predict(UNHEARD).tolist() == [True, False]


def test_another_kind_has_its_own_options_and_keeps_those_that_were_given() -> None:
    model = clone(LieDetector("tfidf", strength=2.0)).set_params(kind="embedding", batch_size=4)
    assert model.get_params()["strength"] == 2.0
    assert "chars" not in model.get_params()
    with pytest.raises(ValueError, match="Invalid parameter 'chars' for a detector of the kind embedding; it takes"):
        model.set_params(chars=3)


def test_groups_reach_the_kind_where_they_are_routed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    fit = DETECTORS["tfidf"].fit

    def spied(self: Any, examples: Any, y: Any, groups: Any, *more: Any) -> Any:
        seen.append(len(set(groups.tolist())))
        return fit(self, examples, y, groups, *more)

    monkeypatch.setattr(DETECTORS["tfidf"], "fit", spied)
    cross_val_score(LieDetector(), TEXTS, LABELS, groups=GROUPS, cv=GroupKFold(5))
    assert seen == [64] * 5
    seen.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        routed = Pipeline([("detector", LieDetector().set_fit_request(groups=True))])
        cross_val_score(routed, TEXTS, LABELS, params={"groups": GROUPS}, cv=GroupKFold(5))
    assert seen == [8] * 5
    seen.clear()
    LieDetector().fit([{"text": text, "game_id": group} for text, group in zip(TEXTS, GROUPS, strict=True)], LABELS)
    assert seen == [10]


@pytest.mark.parametrize(
    ("classes", "lies"),
    [
        (["lie", "truth"], "lie"),
        (["deceptive", "honest"], "deceptive"),
        ([-1, 1], 1),
        (["0", "1"], "1"),
    ],
)
def test_the_class_whose_word_says_so_is_the_deceptive_one(classes: list[Any], lies: Any) -> None:
    honest = next(one for one in classes if one != lies)
    model = LieDetector().fit(TEXTS, [lies if lie else honest for lie in LABELS])
    assert model.classes_.tolist() == sorted(classes)
    assert model.predict(UNHEARD).tolist() == [lies, honest]


def test_two_words_that_say_nothing_of_lies_need_the_one_that_means_it() -> None:
    labels = ["fake" if lie else "real" for lie in LABELS]
    with pytest.raises(ValueError, match="'fake' and 'real': say which one is the lie"):
        LieDetector().fit(TEXTS, labels)
    with pytest.raises(ValueError, match="'fraud' is none of the labels"):
        LieDetector(deceptive="fraud").fit(TEXTS, labels)
    told = LieDetector(deceptive="fake").fit(TEXTS, labels).predict_proba(TEXTS)[:, 0]
    plain = LieDetector().fit(TEXTS, LABELS).predict_proba(TEXTS)[:, 1]
    assert told == pytest.approx(plain)


@pytest.mark.parametrize(
    ("model", "texts", "labels", "words"),
    [
        (LieDetector("no-such"), TEXTS, LABELS, "unknown kind of detector 'no-such'"),
        (LieDetector(wrods=2), TEXTS, LABELS, "unknown option of tfidf '--wrods'"),
        (LieDetector(words=9), TEXTS, LABELS, "--words"),
        (LieDetector(context=-1), TEXTS, LABELS, "context"),
        (LieDetector(target="guilt"), TEXTS, LABELS, "unknown target 'guilt'"),
        (LieDetector(), TEXTS, LABELS[:-1], "inconsistent numbers of samples"),
        (LieDetector(), TEXTS, [True] * 80, "all 80 labels are of one class, True"),
        (LieDetector(), TEXTS, [0, 1, 2, 1] * 20, "Only binary classification is supported"),
        (LieDetector(), TEXTS, None, "the target y is None"),
        (LieDetector(), [], [], "no texts to learn from"),
        (LieDetector(), [3, 4], [True, False], "statement 1 is of type int"),
        (LieDetector(), [{"messages": chats(["a"])[0], "Canary": "x"}] * 2, [1, 0], "2 conversations carry a canary"),
    ],
)
def test_what_cannot_be_learned_from_is_a_value_error_that_says_what_to_do(
    model: LieDetector, texts: Any, labels: Any, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        model.fit(texts, labels)
    with pytest.raises(NotFittedError):
        model.predict(UNHEARD)


def test_errors_are_liescopes_too_and_an_empty_text_is_one_without_words() -> None:
    with pytest.raises(UsageError):
        LieDetector(words=9).fit(TEXTS, LABELS)
    assert issubclass(InputError, ValueError)
    model = LieDetector().fit([*TEXTS, "", None], [*LABELS, True, False])
    assert model.predict_proba(["", None])[:, 1] == pytest.approx([0.5, 0.5], abs=0.1)
