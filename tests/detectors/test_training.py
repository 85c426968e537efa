"""Training is by game, says what it cannot do, and leaves a folder that holds all it says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from liescope import audit
from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import Example, corpus_id, labelled, make_examples, read_statements
from liescope.detectors.kinds.tfidf import TfidfDetector
from liescope.detectors.model_file import CorpusName
from liescope.detectors.saved import load
from liescope.detectors.text_form import TextConfig
from liescope.detectors.training import Recipe, cross_validate, train
from tests.detectors.conftest import Corpus, Rows

ROLE: dict[str, Any] = {"target": "role", "folds": 2}


def test_no_game_lies_in_two_folds_or_on_both_sides_of_one(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = labelled(read_statements(corpus, ["train"]), "role", 0)
    of = {one.statement_id: group for one, group in zip(data.examples, data.groups, strict=True)}
    sides: list[tuple[set[str], set[str]]] = []

    def fit(detector: TfidfDetector, _examples: Any, _y: Any, groups: np.ndarray, _progress: Any) -> TfidfDetector:
        sides.append((set(groups), set()))
        return detector

    def predict_proba(_detector: TfidfDetector, examples: Sequence[Example], _progress: Any) -> np.ndarray:
        sides[-1][1].update(of[one.statement_id] for one in examples)
        return np.full((len(examples), 2), len(sides) - 1)

    monkeypatch.setattr(TfidfDetector, "fit", fit)
    monkeypatch.setattr(TfidfDetector, "predict_proba", predict_proba)
    fold, score, _ = cross_validate(Recipe("tfidf", "role", TextConfig(), {}, 5), data)
    assert np.array_equal(score, fold)
    assert len(sides) == 5
    for learned, held in sides:
        assert not learned & held
    assert set.union(*(held for _, held in sides)) == set(data.groups)


def test_cross_validation_scores_words_that_tell_nothing_at_chance(make_corpus: Corpus) -> None:
    # Every text is unique to its game, so that a fold that leaked a game would look clever.
    def unique(rows: Rows) -> None:
        for row in rows["statements"]:
            side = "mafia" if row["label_role"] else "town"
            row["text"] = f"{row['game_id'].replace('-', '')}{side} speaks"

    data = labelled(read_statements(make_corpus(change=unique), ["train"]), "role", 0)
    _, score, _ = cross_validate(Recipe("tfidf", "role", TextConfig(), {"min_count": 1}), data)
    assert abs(roc_auc_score(data.y, score) - 0.5) < 0.12


def test_statements_without_the_target_are_dropped_and_counted_but_stay_in_the_context(corpus: Path) -> None:
    statements = read_statements(corpus, ["train"])
    data = labelled(statements, "claim", context=9)
    missing = statements["label_claim"].null_count()
    assert data.dropped == missing > 0
    assert len(data.examples) == statements.height - missing
    place = dict(statements.select("statement_id", "position").iter_rows())
    assert all(len(e.context) == place[e.statement_id] - 1 for e in data.examples)


def test_an_example_knows_every_player_and_no_statement_of_another_game(corpus: Path) -> None:
    statements = read_statements(corpus)
    said = {key: set(part["text"]) for (key,), part in statements.group_by("game_id")}
    for example in make_examples(statements, context=4):
        assert len(example.names) == 4
        assert {text for _, text in example.context} <= said[example.game_id]


def test_the_folder_holds_the_recipe_the_scores_and_the_card(model: Path, corpus: Path) -> None:
    saved = load(model)
    assert saved.file.target == "role"
    assert saved.file.corpus == CorpusName(id=corpus_id(corpus), name="small")
    assert saved.file.text == TextConfig()
    statements = read_statements(corpus, ["train", "validation"])
    assert set(saved.scores["statement_id"]) == set(statements["statement_id"])
    folds = saved.scores.join(statements, on="statement_id").group_by("split").agg(pl.col("fold").unique().sort())
    assert dict(folds.iter_rows()) == {"train": [0, 1, 2, 3, 4], "validation": [-1]}
    assert saved.games == set(statements["game_id"])
    card = (model / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---")
    assert "AUROC" in card


def test_training_again_is_refused_unless_told_and_then_gives_the_same_scores(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "m"
    train("tfidf", corpus, out=out, **ROLE)
    first = load(out).scores
    (out / "left_over").touch()
    with pytest.raises(UsageError, match="add --overwrite"):
        train("tfidf", corpus, out=out, **ROLE)
    assert (out / "left_over").exists()
    train("tfidf", corpus, out=out, overwrite=True, **ROLE)
    assert load(out).scores.equals(first)
    assert not (out / "left_over").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["m"]


def test_without_folds_there_are_no_scores_of_train(corpus: Path, tmp_path: Path) -> None:
    train("tfidf", corpus, out=tmp_path / "m", folds=0)
    assert set(load(tmp_path / "m").scores["fold"]) == {-1}


def _one_class(rows: Rows) -> None:
    for row in rows["statements"]:
        row["label_role"] = False


def _no_labels(rows: Rows) -> None:
    for row in rows["statements"]:
        row["label_role"] = None


def _leak(rows: Rows) -> None:
    first = next(row for row in rows["statements"] if row["split"] == "train")
    first["split"] = "test"


@pytest.mark.parametrize(
    ("games", "change", "error", "words"),
    [
        (40, _one_class, UsageError, "all .* statements are honest"),
        (40, _no_labels, UsageError, "none of [0-9,]+ statements has a label"),
        (4, lambda rows: None, UsageError, "[0-4] games? ha(s|ve) deceptive statements, and 5 folds need 5 such games"),
        (40, _leak, BadData, "more than one split"),
    ],
)
def test_a_training_split_that_cannot_train_says_why(
    games: int, change: Callable[[Rows], None], error: type[Exception], words: str, make_corpus: Corpus, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        train("tfidf", make_corpus(games=games, change=change), out=tmp_path / "m", target="role")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("texts", "groups", "words"),
    [
        (9, 1, "the training split is empty: own data has 9 texts of 1 group, all in validation; add groups"),
        (9, 2, "1 group has deceptive texts, and 5 folds need 5 such groups; add groups"),
        (6, 0, "[1-4] texts? (is|are) (deceptive|honest), and 5 folds need 5 such texts; (add texts|lower --folds)"),
    ],
)
def test_too_few_texts_are_counted_in_texts_or_groups_and_never_called_unlabelled(
    texts: int, groups: int, words: str, tmp_path: Path
) -> None:
    rows = [f"I was at place {number} then." for number in range(texts)]
    belong = ["ab"[number % groups] for number in range(texts)] if groups else None
    with pytest.raises(UsageError, match=words) as refused:
        train("tfidf", rows, [number // 2 % 2 for number in range(texts)], groups=belong, out=tmp_path / "m")
    assert not any(word in str(refused.value) for word in ("game", "statement", "null"))


def test_a_target_without_labels_names_those_that_have_some_and_how_many(make_corpus: Corpus, tmp_path: Path) -> None:
    corpus = make_corpus(games=40, change=_no_labels)
    rows = read_statements(corpus, ["train"])
    counted = f"labels there are: self {rows.height}, claim {rows['label_claim'].count()}"
    with pytest.raises(UsageError, match=counted) as refused:
        train("tfidf", corpus, out=tmp_path / "m", **ROLE)
    assert "--assess" not in str(refused.value)
    with pytest.raises(UsageError, match="labels there are: "):
        audit(corpus)


def test_a_folder_with_something_else_in_it_is_not_overwritten(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(UsageError, match="is not a model"):
        train("tfidf", corpus, out=tmp_path, **ROLE)
    assert (tmp_path / "thesis.txt").exists()


def test_without_a_kind_roles_take_a_whole_game_and_single_statements_their_words(corpus: Path, tmp_path: Path) -> None:
    roles = train(None, corpus, out=tmp_path / "roles", folds=0)
    assert (roles.file.kind, roles.file.corpus.name) == ("duo", corpus.name)
    assert train(None, corpus, out=tmp_path / "claims", target="claim", folds=0).file.kind == "tfidf"
    own = train(None, [f"{n} times {n % 2}" for n in range(60)], [True, False] * 30, out=tmp_path / "own", folds=0)
    assert (own.file.kind, own.file.target) == ("tfidf", "gold")
    with pytest.raises(UsageError, match="--chars"):
        train(None, corpus, out=tmp_path / "wrong", folds=0, chars=3)
