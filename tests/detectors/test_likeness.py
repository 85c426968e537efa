"""Verdicts on texts that are not like those they were chosen on: when that is said, and what is left of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from liescope.common.errors import BadData, UsageError
from liescope.detectors import LoadedDetector, evaluate, load, train
from liescope.detectors.calibrate import LabelSets, PlayerSets, level_of
from liescope.detectors.commands import app
from liescope.detectors.examples import Example, read_statements
from liescope.detectors.likeness import ALPHA, Likeness, warning
from liescope.detectors.view.transcript import read_transcripts

Corpus = Callable[..., Path]
PLAIN, ODD = ["we", "should", "talk", "about", "this", "and", "vote"], ["zebra", "quilt", "harbour", "lantern"]


def said(
    rng: np.random.Generator, games: int, odd: float, each: int = 4, named: bool = True
) -> tuple[list[Example], NDArray[np.bool_], NDArray[np.float64]]:
    """(statements, who lies, scores) of games, a share of them `odd`: other words, on which the scores are worse."""
    examples, y, score = [], [], []
    for number in range(games):
        strange = rng.random() < odd
        for _ in range(each):
            lie = bool(rng.random() < 0.4)
            words = [*rng.choice(PLAIN, 6), *(rng.choice(ODD, 3) if strange else [])]
            examples.append(Example("", f"g{number}" if named else "", "A", "", " ".join(words), ("A",)))
            y.append(lie)
            score.append(1 / (1 + np.exp(-(0.3 if strange else 2.0) * (1 if lie else -1) - rng.normal())))
    return examples, np.array(y), np.array(score)


def covered(sets: NDArray[np.bool_], y: NDArray[np.bool_]) -> tuple[float, float]:
    held = sets[np.arange(len(y)), y.astype(int)]
    return float(held[y].mean()), float(held[~y].mean())


@pytest.mark.parametrize(("named", "games"), [(True, 40), (False, 40), (True, 6)])
def test_further_games_of_the_same_kind_are_rarely_taken_for_others(named: bool, games: int) -> None:
    rng, fired, times = np.random.default_rng(games), 0, 60
    for _ in range(times):
        examples, y, score = said(rng, 60, odd=0.3)
        likeness = Likeness.of(examples, score, y.tolist(), 0)
        others, _, found = said(rng, games, odd=0.3, each=4 if named else 1, named=named)
        fired += likeness.unlike(others, found) is not None
    assert fired <= times * ALPHA + 3 * np.sqrt(times * ALPHA)


def test_sets_keep_their_promise_where_games_that_are_hard_to_judge_are_more_common() -> None:
    rng = np.random.default_rng(0)
    examples, y, score = said(rng, 400, odd=0.2)
    likeness, sets = Likeness.of(examples, score, y.tolist(), 0), LabelSets.of(y, score, games_of(examples))
    others, truth, found = said(rng, 400, odd=0.8)
    usual = sets.allowed(found, 0.9)
    unlike = likeness.unlike(others, found)
    assert unlike
    assert unlike.rows.all()
    assert max(covered(usual, truth)) < 0.85
    assert min(covered(usual | unlike.allowed(0.9), truth)) >= 0.88
    assert (unlike.allowed(0.9).sum(axis=1) == 1).mean() > 0.1


def test_suspects_keep_their_promise_where_games_that_are_hard_to_judge_are_more_common() -> None:
    rng = np.random.default_rng(1)

    def played(games: int, odd: float) -> tuple[list[Example], NDArray[np.float64], dict[str, float]]:
        """(statements, scores, by game how probable its deceiver was), less so in games with other words."""
        examples, _, score = said(rng, games, odd)
        strange = {one.game_id: any(word in one.text for word in ODD) for one in examples}
        return examples, score, {game: rng.beta(2, 4) if hard else rng.beta(6, 2) for game, hard in strange.items()}

    examples, score, least = played(400, odd=0.2)
    likeness = Likeness.of(examples, score, [None] * len(examples), 0, suspect=least)
    usual = PlayerSets.of(np.array([*least.values()])).limits[level_of(0.9)]
    assert usual is not None
    others, found, there = played(400, odd=0.9)
    unlike = likeness.unlike(others, found)
    assert unlike
    wider = unlike.least(0.9)
    assert set(wider) == set(there)
    assert np.mean([chance >= usual for chance in there.values()]) < 0.85
    held = np.mean([chance >= min(usual, wider[game]) for game, chance in there.items()])
    assert 0.87 <= held < 1


def test_where_nothing_is_alike_no_verdict_is_left() -> None:
    rng = np.random.default_rng(0)
    examples, y, score = said(rng, 100, odd=0.0)
    likeness = Likeness.of(examples, score, y.tolist(), 0)
    others = [Example("", f"h{at}", "A", "", " ".join(ODD), ("A",)) for at in range(60)]
    unlike = likeness.unlike(others, np.linspace(0.01, 0.99, 60))
    assert unlike
    assert unlike.allowed(0.9).all()
    assert unlike.told_apart > 0.99
    assert unlike.units == 60


def test_a_single_game_may_be_unlike_all_the_others_and_nobody_says_how_well_it_is_told_apart() -> None:
    rng = np.random.default_rng(0)
    examples, y, score = said(rng, 200, odd=0.0)
    likeness = Likeness.of(examples, score, y.tolist(), 0)
    unlike = likeness.unlike([Example("", "h", "A", "", " ".join(ODD), ("A",))] * 4, np.full(4, 0.99))
    assert unlike
    assert unlike.allowed(0.9).all()
    assert unlike.told_apart is None
    assert "AUROC" not in warning([unlike], 0)


def games_of(examples: Sequence[Example]) -> NDArray[np.str_]:
    return np.array([one.game_id for one in examples], dtype=np.str_)


def test_a_saved_one_says_the_same_and_a_damaged_one_is_refused(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    examples, y, score = said(rng, 50, odd=0.2)
    least = {one.game_id: float(at) for one, at in zip(examples[4:], score[4:], strict=True)}  # not known of one game
    likeness, path = Likeness.of(examples, score, y.tolist(), 0, suspect=least), tmp_path / "likeness.parquet"
    likeness.save(path)
    others, _, found = said(rng, 50, odd=1.0)
    one, other = (which.unlike(others, found) for which in (likeness, Likeness.load(path)))
    assert one
    assert other
    assert np.array_equal(one.allowed(0.8), other.allowed(0.8))
    assert one.least(0.8) == other.least(0.8)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(BadData, match=r"likeness\.parquet"):
        Likeness.load(path)


@pytest.fixture(scope="module")
def small(make_corpus: Corpus) -> Path:
    return make_corpus(games=300, tell=0.9)


@pytest.fixture(scope="module")
def model(small: Path, tmp_path_factory: pytest.TempPathFactory) -> LoadedDetector:
    return load(train("tfidf", small, out=tmp_path_factory.mktemp("m") / "m", folds=0).model)


def foreign(small: Path) -> list[dict[str, Any]]:
    """The words of games of the test split, most of them other words."""
    rows = read_statements(small, ["test"]).select("statement_id", "game_id", "speaker", "names", "text").to_dicts()
    return [{**row, "text": f"{' '.join(ODD)} {row['text']} {' '.join(ODD)}"} for row in rows]


def test_games_of_the_same_corpus_get_verdicts_and_no_warning(model: LoadedDetector, small: Path) -> None:
    found = model.score(read_statements(small, ["test"]))
    assert model.notes == ()
    usual = model.file.confidence.labels
    assert usual
    assert found.filter(found["verdict"] != "abstain").height
    assert found.filter(found["verdict"] == "abstain")["abstains"].null_count() == 0
    assert found.filter(found["verdict"] != "abstain")["abstains"].drop_nulls().is_empty()


def test_games_of_the_same_corpus_have_the_suspects_that_each_has_alone(model: LoadedDetector, small: Path) -> None:
    games = [*read_transcripts(small, ["test"]).values()]
    alone = [model.predict_game(game) for game in games]
    assert {one.unlike for one in alone} == {None}
    assert model.predict_games(games) == [replace(one, unlike=False) for one in alone]
    with pytest.raises(UsageError, match="one game_id"):
        model.predict_games([games[0], games[0]])


def test_games_with_other_words_get_a_warning_and_no_verdict_that_nothing_backs(
    model: LoadedDetector, small: Path, tmp_path: Path
) -> None:
    rows = foreign(small)
    found = model.score(rows)
    assert set(found["verdict"]) == {"abstain"}
    assert "not like the games that verdicts were chosen on" in found["abstains"].unique().to_list()
    (words,) = model.notes
    assert f"{len(rows):,} statements" in words
    assert "0 of their verdicts" in words
    given = tmp_path / "said.jsonl"
    given.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = tmp_path / "m"
    train("tfidf", small, out=out, folds=0)
    done = CliRunner().invoke(app, ["score", str(out), "--in", str(given), "--json"])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["notes"] == [words]
    assert {row["abstains"] for row in facts["rows"]} == set(found["abstains"])


def test_the_figures_of_an_evaluation_are_those_of_the_verdicts_and_suspects_that_others_are_given(
    model: LoadedDetector, make_corpus: Corpus
) -> None:
    def change(rows: Any) -> None:
        for row in rows["statements"]:
            row["text"] = f"{' '.join(ODD)} {row['text']}"
            row["game_id"] = row["game_id"].replace("game", "odd")
            row["statement_id"] = row["statement_id"].replace("game", "odd")
        for name in ("games", "votes", "ratings"):
            for row in rows[name]:
                row["game_id"] = row["game_id"].replace("game", "odd")

    other = make_corpus(games=60, change=change)
    result = evaluate(model, other, draws=20)
    abstained = next(row for row in result.rows if row.metric == "abstained" and "90%" in row.split)
    assert abstained.value == 1
    games = read_transcripts(other)
    suspects = next(row for row in result.rows if row.metric == "suspects" and "players:promised=90%" in row.split)
    found = model.predict_games([*games.values()], coverage=0.9)
    assert suspects.value == np.mean([len(one.suspects or ()) for one in found])
    assert all(
        one.unlike and set(one.suspects or ()) == set(game.names)
        for one, game in zip(found, games.values(), strict=True)
    )
    assert any("not like the games that verdicts were chosen on" in note for note in result.notes)
