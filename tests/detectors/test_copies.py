"""Copies of what a detector learned from are found among the evaluated games, in its own corpus and in another."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liescope
from liescope import cli
from liescope.detectors.examples import Example
from liescope.detectors.learned_from import LearnedStatements
from liescope.detectors.study.checks import COPIES, Check
from liescope.detectors.study.findings import EvaluationResult
from tests.detectors.conftest import Corpus, Rows, elsewhere

Change = Callable[[Rows], None]

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def gibberish(rows: Rows, seed: int = 1) -> None:
    """Words that tell nothing about a label, each said by few."""
    draw = random.Random(seed)
    vocabulary = ["".join(draw.choices(LETTERS, k=4)) for _ in range(1500)]
    for row in rows["statements"]:
        row["text"] = " ".join(draw.choices(vocabulary, k=9))


def copied(take: Callable[[dict[str, Any]], bool], change: Callable[[str], str] = str) -> Change:
    """Statements of the wanted games become those of a game of train, with its labels."""

    def planted(rows: Rows) -> None:
        gibberish(rows)
        by_game: dict[str, list[dict[str, Any]]] = {}
        for row in rows["statements"]:
            by_game.setdefault(row["game_id"], []).append(row)
        train = [game for game in by_game.values() if game[0]["split"] == "train"]
        wanted = [game for game in by_game.values() if take(game[0])]
        for game, other in zip(wanted, train, strict=False):
            for row, source in zip(game, other, strict=True):
                row["text"], row["label_role"] = change(source["text"]), source["label_role"]

    return planted


def some_of_test(row: dict[str, Any]) -> bool:
    return row["split"] == "test" and int(row["game_id"][-1]) % 2 == 0


def copies_in(result: EvaluationResult) -> list[Check]:
    return [check for check in result.checks if check.name == COPIES]


def trained(corpus: Path, out: Path) -> Path:
    liescope.train("tfidf", corpus, out=out, folds=2)
    return out


@pytest.mark.long
def test_copies_of_train_in_the_test_split_take_the_first_sentence(
    make_corpus: Corpus, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = make_corpus(90, change=copied(some_of_test))
    model = trained(corpus, tmp_path / "tfidf")
    words = ["evaluate", str(model), "--corpus", str(corpus), "--split", "test"]
    assert cli.main([*words, "--out", str(tmp_path / "r")]) == 0
    test = liescope.read(corpus, "games").filter(split="test").select("game_id").collect()["game_id"]
    again = {game for game in test if int(game[-1]) % 2 == 0}
    data = json.loads((tmp_path / "r" / "report.json").read_text(encoding="utf-8"))
    (found,) = (check for check in data["checks"] if check["name"] == COPIES)
    assert found["bad"]
    said = f"{len(again)} of the {len(test)} evaluated games ({min(again)!r}"
    assert found["sentences"][0].startswith(said)
    (without,) = found["figures"]
    (every,) = (
        row
        for row in data["figures"]
        if (row["scorer"], row["where"], row["metric"], row["against"]) == ("tfidf", "test", without["metric"], None)
    )
    assert every["value"] > without["value"] + 0.1
    assert " ".join(capsys.readouterr().out.split()).startswith(f"No: {said}")
    for name in ("report.md", "report.html"):
        assert "repeat one that tfidf learned from" in (tmp_path / "r" / name).read_text(encoding="utf-8")
    # Judged whole, the copies of one another stand in folds that did not learn from each other.
    (words_of_whole,) = (check.sentences for check in liescope.evaluate(model, corpus).checks if check.bad)
    assert "repeat one that tfidf learned from" in words_of_whole[0]


@pytest.mark.parametrize("change", [str.upper, lambda text: f"{text} so"], ids=["word for word", "nearly"])
@pytest.mark.long
def test_copies_in_another_corpus_are_found_under_other_ids(
    change: Callable[[str], str], make_corpus: Corpus, tmp_path: Path
) -> None:
    model = trained(make_corpus(60, change=gibberish), tmp_path / "tfidf")

    def other(rows: Rows) -> None:
        gibberish(rows)
        learned = [row["text"] for row in rows["statements"] if row["split"] == "train"]
        gibberish(rows, seed=2)
        for row, text in zip(rows["statements"][:180], learned, strict=False):
            row["text"] = change(text)
        elsewhere(rows)

    (found,) = copies_in(liescope.evaluate(model, make_corpus(60, change=other)))
    exact = change is str.upper
    assert any(words.startswith("30 of the 60 evaluated games") for words in found.sentences) == exact
    assert f"names masked ({0.5 * exact:.0%} word for word)" in found.sentences[-1]
    assert found.sentences[-1].startswith("50% of the statements of 5 words or more ")


@pytest.mark.long
def test_players_with_stock_phrases_repeat_no_game(make_corpus: Corpus, tmp_path: Path) -> None:
    """Half of what they say stands in a list of forty sentences, and no game is another over again."""

    def stock(rows: Rows) -> None:
        gibberish(rows)
        phrases = [row["text"] for row in rows["statements"][:40]]
        draw = random.Random(5)
        gibberish(rows, seed=2)
        for row in rows["statements"]:
            row["text"] = draw.choice(phrases) if draw.random() < 0.5 else row["text"]

    corpus = make_corpus(60, change=stock)
    (found,) = copies_in(liescope.evaluate(trained(corpus, tmp_path / "tfidf"), corpus))
    assert not found.bad
    (said,) = found.sentences
    assert "share stock phrases with" in said
    assert "repeat" not in said


@pytest.mark.long
def test_where_nothing_is_repeated_nothing_is_said(make_corpus: Corpus, tmp_path: Path) -> None:
    corpus = make_corpus(60, change=gibberish)
    model = trained(corpus, tmp_path / "tfidf")
    for split in (None, "test"):
        result = liescope.evaluate(model, corpus, split=split)
        assert result.warnings == ()
        assert not [note for note in result.notes if "learned" in note]
        assert copies_in(result) == []


def test_sketches_tell_near_copies_from_others_after_a_trip_to_disk(tmp_path: Path) -> None:
    draw = random.Random(2)
    texts = [" ".join("".join(draw.choices(LETTERS, k=4)) for _ in range(12)) for _ in range(400)]
    asked = [f"{text} too" for text in texts[:200]] + [text[: len(text) // 2] + " other" for text in texts[200:]]

    def examples(said: list[str]) -> list[Example]:
        return [Example(str(at), str(at // 4), "Ada", "", text, ("Ada",)) for at, text in enumerate(said)]

    LearnedStatements.of(examples(texts), np.array([str(at // 4) for at in range(400)])).write(tmp_path)
    learned = LearnedStatements.read(tmp_path)
    copies = learned.copies(examples(asked))
    assert not copies.exact.any()
    assert copies.near[:200].mean() > 0.97
    assert not copies.near[200:].any()
