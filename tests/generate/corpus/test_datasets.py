"""A corpus in the hands of `datasets` and of trainers: fresh rows, labels that are classes, no join needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liescope.generate.corpus import pack, read
from tests.generate.corpus.games import play, stream

Load = Callable[..., Any]


def ids(dataset: Any) -> set[str]:
    return {game for split in dataset.values() for game in split["game_id"]}


def test_two_corpora_in_folders_of_one_name_are_two_datasets(tmp_path: Path, load: Load) -> None:
    for place, numbers in (("a", range(4)), ("b", range(4, 9))):
        pack(stream([play(number) for number in numbers]), tmp_path / place / "corpus")
        for config in ("statements", "games", "votes"):
            expected = set(read(tmp_path / place / "corpus", config).collect()["game_id"])
            assert ids(load(tmp_path / place / "corpus", config)) == expected


def test_a_corpus_that_is_built_again_is_loaded_again_although_no_row_is_new(tmp_path: Path, load: Load) -> None:
    said = []
    for text, games in (("I am the mafioso.", 3), ("I am the detective.", 3), ("I am the detective.", 4)):
        pack(stream([play(number, said=text) for number in range(games)]), tmp_path / "corpus")
        loaded = load(tmp_path / "corpus")
        said.append((len(ids(loaded)), {row for split in loaded.values() for row in split["text"]}))
    assert said == [(3, {"I am the mafioso."}), (3, {"I am the detective."}), (4, {"I am the detective."})]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("statements") / "corpus"
    pack(stream(map(play, range(30))), folder, transcript=True)
    return folder


@pytest.fixture
def statements(corpus: Path, load: Load) -> Any:
    return load(corpus)


def test_labels_and_types_are_classes_and_their_nulls_stay_nulls(statements: Any, corpus: Path) -> None:
    rows = read(corpus, "statements", "train").collect()
    train = statements["train"]
    for label in ("label_role", "label_claim", "label_self", "label_peer"):
        assert train.features[label].names == ["honest", "deceptive"]
        assert train[label][:] == [None if value is None else int(value) for value in rows[label]]
    kinds = train.features["self_type"]
    named = [None if value is None else kinds.int2str(value) for value in train["self_type"]]
    assert named == rows["self_type"].to_list()
    assert None in named


def test_scikit_learn_trains_on_texts_with_what_was_said_before(statements: Any) -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    train = statements["train"].to_pandas()
    model = make_pipeline(TfidfVectorizer(), LogisticRegression())
    model.fit(train["transcript"] + "\n" + train["text"], train["label_role"])
    test = statements["test"].to_pandas()
    assert model.predict_proba(test["transcript"] + "\n" + test["text"]).shape == (len(test), 2)


def test_the_transcript_is_what_was_said_before(tmp_path: Path) -> None:
    games = [play(number, said="I am\nhere.") for number in range(2)]
    pack(stream(games), tmp_path / "corpus", transcript=True)
    for row in read(tmp_path / "corpus", "statements").collect().iter_rows(named=True):
        lines = row["transcript"].splitlines()
        assert len(lines) == row["position"] - 1
        assert all(line.endswith(": I am here.") for line in lines)
    pack(stream(games), tmp_path / "plain")
    assert set(read(tmp_path / "plain", "statements").collect()["transcript"]) == {None}
