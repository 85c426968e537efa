"""Words counted, hashed and weighed in numpy are what scikit-learn makes of them, and so are regressions and folds."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.pipeline import FeatureUnion
from sklearn.utils import murmurhash3_32

from liescope.common.statistics import expit
from liescope.detectors import tf_idf
from liescope.detectors.folds import fold_of
from liescope.detectors.learned_from import is_long, signatures
from liescope.detectors.logistic import ScaledLogistic, fit_logistic
from liescope.detectors.tf_idf import Ngrams, hashed, murmur

DRAW = random.Random(0)
STOCK = [
    "i",
    "checked",
    "bob",
    "who",
    "is",
    "certain;",
    "İstanbul",
    "straße",
    "naïve",
    "日本",
    "x",
    "_y",
    "12",
    "🙂",
    "it's",
]
TEXTS = [" ".join(DRAW.choices(STOCK, k=DRAW.randint(0, 25))) for _ in range(200)] + ["", "a", "a"]
Y = np.array([DRAW.random() < 0.4 for _ in TEXTS])


def vectorizer(words: int, chars: int) -> FeatureUnion:
    how = {"min_df": 2, "sublinear_tf": True}
    parts = [("words", TfidfVectorizer(ngram_range=(1, words), token_pattern=r"(?u)\b\w+\b", **how))]
    if chars:
        parts.append(("chars", TfidfVectorizer(analyzer="char_wb", ngram_range=(2, chars), **how)))
    return FeatureUnion(parts)


@pytest.mark.parametrize(("words", "chars"), [(1, 0), (2, 0), (2, 3), (3, 5)])
def test_features_are_those_of_a_tfidf_vectorizer(words: int, chars: int) -> None:
    theirs, ours = vectorizer(words, chars), Ngrams(words, chars)
    fields, learned = ours.learned(TEXTS, 2)
    assert np.allclose(theirs.fit_transform(TEXTS).toarray(), learned.toarray(), rtol=0, atol=1e-15)
    assert [f"{name}__{gram}" for name, one in fields.items() for gram in one.place] == [
        *theirs.get_feature_names_out()
    ]
    asked = ["bob is unheard of", *reversed(TEXTS)]
    assert np.allclose(theirs.transform(asked).toarray(), ours.weighed(asked, fields).toarray(), rtol=0, atol=1e-15)


@pytest.mark.parametrize("at_once", [1, 7, 202])
def test_texts_weighed_a_few_at_a_time_give_the_same_bits(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Ngrams(2, 3).learned(TEXTS, 2)[1]
    monkeypatch.setattr(tf_idf, "AT_ONCE", at_once)
    values = Ngrams(2, 3).learned(TEXTS, 2)[1]
    assert values.shape == whole.shape
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(values, name), getattr(whole, name))


def test_a_regression_is_that_of_scikit_learn_where_it_stops() -> None:
    _, values = Ngrams(2, 0).learned(TEXTS, 2)
    dense = np.random.default_rng(0).normal(size=(len(Y), 5)) + Y[:, None]
    for features in (values, dense):
        theirs = LogisticRegression(C=4.0, max_iter=2000).fit(features, Y)
        weights, offset = fit_logistic(features, Y, 4.0)
        assert np.allclose(weights, theirs.coef_[0], rtol=0, atol=1e-6)
        assert np.allclose(expit(features @ weights + offset), theirs.predict_proba(features)[:, 1], rtol=0, atol=1e-6)
    scaled = ScaledLogistic.learned(dense.astype(np.float32), Y, 1.0)
    moved = ScaledLogistic.learned(1000 * dense + 7, Y, 1.0)
    assert np.allclose(scaled.odds(dense), moved.odds(1000 * dense + 7), rtol=0, atol=1e-3)


def test_hashes_are_those_of_scikit_learn() -> None:
    words = [*sorted({word for text in TEXTS for word in text.split()}), "", "abcd", "abcdefgh"]
    assert murmur(words).tolist() == [murmurhash3_32(word.encode(), 0) for word in words]
    theirs = HashingVectorizer(n_features=256, token_pattern=r"(?u)\b\w+\b").transform(TEXTS).toarray()
    assert np.array_equal(hashed([re.findall(r"\w+", text.lower()) for text in TEXTS], 256), theirs)


def test_texts_that_share_most_pieces_share_most_of_a_signature_and_others_hardly_any() -> None:
    long = [text for text in TEXTS if is_long(text)][:40]
    found = signatures([*long, *(f"{text} x" for text in long)], 0)
    same, other = (found[:, :40] == found[:, 40:]).mean(axis=0), (found[:, :39] == found[:, 1:40]).mean(axis=0)
    assert same.min() > 0.7
    assert np.median(other) < 0.6


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("folds", [2, 5])
def test_folds_are_dealt_as_a_stratified_group_k_fold_deals_them(folds: int, seed: int) -> None:
    groups = np.array([f"g{DRAW.randint(0, 40)}" for _ in Y])
    ours, theirs = fold_of(Y, groups, folds, seed), np.full(len(Y), -1)
    splits = StratifiedGroupKFold(folds, shuffle=True, random_state=seed).split(np.zeros(len(Y)), Y, groups)
    for number, (_, out) in enumerate(splits):
        theirs[out] = number
    assert np.array_equal(ours, theirs)


def test_a_frame_is_learned_from_without_pandas_or_scikit_learn(tmp_path: Path) -> None:
    train = f"""
import sys, liescope, polars
texts = [f"{{word}} words are said by number {{n}}" for n in range(40) for word in ("honest", "lying")]
frame = polars.DataFrame({{"text": texts, "deceptive": [False, True] * 40}})
liescope.train("tfidf", frame, folds=2, out={str(tmp_path / "m")!r})
print({{"pandas", "sklearn", "aiohttp", "openai", "datasets"}} & set(sys.modules))"""
    done = subprocess.run([sys.executable, "-c", train], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["tfidf", "duo"])
def test_a_statement_is_scored_without_what_only_training_takes(kind: str, corpus: Path, tmp_path: Path) -> None:
    train = f"import liescope; liescope.train({kind!r}, {str(corpus)!r}, folds=0, out={str(tmp_path / 'm')!r})"
    subprocess.run([sys.executable, "-c", train], check=True, capture_output=True)
    heavy = "{'scipy.optimize', 'sklearn', 'pandas', 'datasets', 'aiohttp', 'openai', 'torch'}"
    score = f"""
import sys
from liescope.cli import main
assert main(["score", {str(tmp_path / "m")!r}, "I am Bob."]) == 0
print(len(sys.modules), {heavy} & set(sys.modules), file=sys.stderr)"""
    done = subprocess.run([sys.executable, "-c", score], capture_output=True, text=True, check=True)
    modules, loaded = done.stderr.splitlines()[-1].split(" ", 1)
    assert int(modules) < 1100
    assert loaded == "set()"
