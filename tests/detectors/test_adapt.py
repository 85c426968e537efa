"""Adapting to games of another corpus: what is used of them, what is compared, and what the model says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from scipy.special import logit
from typer.testing import CliRunner

from liescope.common.errors import UsageError
from liescope.common.report.plain_text import terminal
from liescope.detectors import AdaptResult, LoadedDetector, adapt, load, propose, train
from liescope.detectors.adapt.compare import (
    NEW,
    ONLINE,
    OWN,
    POOLED,
    TOP,
    WHOLE,
    drawn,
    gains,
    unsure_and_drawn,
    unsureness,
)
from liescope.detectors.commands import app
from liescope.detectors.detector import silent
from liescope.detectors.evaluation.evaluate import check_unseen
from liescope.detectors.examples import labelled, read_statements
from liescope.detectors.judge.prompt import DEFAULT
from liescope.detectors.view.transcript import read_deceivers, read_transcripts
from tests.detectors.judge_stub import with_logprobs

Corpus = Callable[..., Path]
Rows = dict[str, list[dict[str, Any]]]


ABROAD = {"calm": "amber", "rush": "cobalt", "random": "jade", "trust": "ruby"}
ABROAD |= {"evidence": "onyx", "checked": "pearl", "certain": "topaz", "night": "zinc"}


def some_more(rows: Rows, after: int = 12) -> None:
    """Games after the first ones."""
    for table in rows.values():
        table[:] = [row for row in table if int(row["game_id"].removeprefix("game-")) >= after]
        for row in table:
            for name in {"game_id", "statement_id"} & row.keys():
                row[name] = row[name].replace("game-", "new-")


def abroad(rows: Rows) -> None:
    """Games after the first eighty, by another model, which gives itself away by other words."""
    some_more(rows, 80)
    for row in rows["statements"]:
        row["text"] = re.sub(r"\w+", lambda word: ABROAD.get(word.group(), word.group()), row["text"])


@pytest.fixture(scope="module")
def base(make_corpus: Corpus) -> Path:
    return make_corpus(games=80)


@pytest.fixture(scope="module")
def new(make_corpus: Corpus) -> Path:
    return make_corpus(games=150, models=("model-c",), change=abroad)


@pytest.fixture(scope="module")
def model(base: Path, tmp_path_factory: pytest.TempPathFactory) -> LoadedDetector:
    return load(train("tfidf", base, out=tmp_path_factory.mktemp("m") / "plain", folds=2).model)


@pytest.fixture(scope="module")
def adapted(model: LoadedDetector, base: Path, new: Path, tmp_path_factory: pytest.TempPathFactory) -> AdaptResult:
    out = tmp_path_factory.mktemp("m") / "adapted"
    return adapt(model, new, base=base, out=out, labels=20, draws=100)


def test_a_few_labels_teach_a_detector_the_words_of_other_games(adapted: AdaptResult) -> None:
    found = {(gain.where, gain.metric): gain for gain in adapted.gains}
    assert set(found) == {(where, metric) for where in (NEW, OWN) for metric in (ONLINE, WHOLE, *POOLED.values(), TOP)}
    online = found[NEW, ONLINE]
    assert online.games == 50
    assert online.before is not None
    assert online.after is not None
    assert online.lo is not None
    assert abs(online.before - 0.5) < 0.1
    assert online.after > 0.7
    assert online.lo > 0
    assert online.verdict == "better"


def test_the_model_says_what_it_has_learned_from_and_what_that_has_brought(
    adapted: AdaptResult, model: LoadedDetector, new: Path
) -> None:
    loaded = load(adapted.model)
    assert loaded.file.adapted == adapted.adapted
    assert adapted.adapted.labelled == len(set(adapted.labelled)) == 20
    assert loaded.games == model.games | set(adapted.labelled)
    assert "model-c" in loaded.file.training.models
    assert loaded.file.corpus.id == model.file.corpus.id
    card = (adapted.model / "README.md").read_text(encoding="utf-8")
    assert f"adapted to games of {new.name}" in card
    assert card.count("| new games |") == 5
    lines = list(terminal(adapted.report))
    assert max(map(len, lines)) <= 80
    assert sum(line.endswith("better") for line in lines) >= 1


@pytest.mark.parametrize("kind", ["tfidf", "linear"])
def test_more_is_learned_of_labelled_games_that_weigh_more(kind: str, base: Path, new: Path, tmp_path: Path) -> None:
    plain = train(kind, base, out=tmp_path / "plain", folds=0).model
    apart = []
    for weight in (1, 10):
        found = adapt(plain, new, base=base, out=tmp_path / f"{weight}", labels=10, weight=weight, draws=10)
        used = read_statements(new).filter(pl.col("game_id").is_in(found.labelled))
        data = labelled(used, "role", 0, read_transcripts(new))
        score = logit(load(found.model).detector.predict_proba(data.examples)[:, 1])
        apart.append(score[data.y].mean() - score[~data.y].mean())
    assert apart[1] > 1.3 * apart[0] > 0


def test_its_own_figures_are_of_its_own_corpus_alone(adapted: AdaptResult, model: LoadedDetector) -> None:
    found = load(adapted.model)
    assert set(found.scores["statement_id"]) == set(model.scores["statement_id"])


def test_the_labels_of_the_other_games_change_nothing(
    adapted: AdaptResult, model: LoadedDetector, base: Path, make_corpus: Corpus, tmp_path: Path
) -> None:
    def relabelled(rows: Rows) -> None:
        abroad(rows)
        for row in rows["statements"]:
            if row["game_id"] not in adapted.labelled:
                row["label_role"] = not row["label_role"]

    other = make_corpus(games=150, models=("model-c",), change=relabelled)
    again = adapt(model, other, base=base, out=tmp_path / "again", labels=20, draws=100)
    assert again.labelled == adapted.labelled
    text = "amber and jade tonight."
    assert load(again.model).score(text)["score"].item() == load(adapted.model).score(text)["score"].item()


def test_a_detector_against_itself_has_no_gain(model: LoadedDetector, new: Path) -> None:
    data = labelled(read_statements(new), "role", 0, read_transcripts(new))
    detector = model.detector
    for gain in gains(NEW, detector, detector, data, read_deceivers(new), 50, 0, silent):
        assert gain.before == gain.after
        assert (gain.lo, gain.hi) == (0, 0)
        assert gain.verdict == "no clear difference"


def test_without_labels_a_detector_learns_new_words_from_games_it_is_sure_of(
    make_corpus: Corpus, tmp_path: Path
) -> None:
    """Half of the words are those it knows; it learns the others beside them."""

    def half(rows: Rows) -> None:
        abroad(rows)
        known = {there: here for here, there in ABROAD.items()}
        draw = Random(3)
        for row in rows["statements"]:
            row["text"] = re.sub(
                r"\w+",
                lambda word: known.get(word.group(), word.group()) if draw.random() < 0.5 else word.group(),
                row["text"],
            )

    known, mixed = make_corpus(games=80, tell=1.0), make_corpus(games=230, tell=1.0, models=("model-c",), change=half)
    plain = train("linear", known, out=tmp_path / "plain", folds=0, strength=20.0).model
    found = adapt(plain, mixed, base=known, out=tmp_path / "self", labels=0, self_training=2, draws=50)
    assert found.labelled == ()
    assert found.adapted.guessed > 20
    online = next(gain for gain in found.gains if (gain.where, gain.metric) == (NEW, ONLINE))
    assert online.verdict == "better"


def test_games_to_label_are_half_those_it_is_least_sure_of(model: LoadedDetector, new: Path) -> None:
    games = read_transcripts(new)
    unsure = unsureness(model.detector, games, "role", silent)
    found = propose(model, new, games=10)
    assert len(set(found)) == 10
    assert found[:5] == sorted(unsure, key=lambda name: (-unsure[name], name))[:5]
    assert found == unsure_and_drawn(unsure, 10, 0)
    assert set(drawn(games, 10, 0)) != set(found)


def test_games_it_has_seen_are_left_out_and_those_of_its_test_split_with_them(
    model: LoadedDetector, base: Path, make_corpus: Corpus, tmp_path: Path
) -> None:
    assert set(propose(model, base, games=100)) == set(read_statements(base, ["test"])["game_id"])
    with pytest.raises(UsageError, match="or has it in its own corpus"):
        adapt(model, base, base=base, out=tmp_path / "m", labels=3, draws=20)
    own = set(read_statements(base)["game_id"])
    larger = make_corpus(games=90)
    new = set(read_statements(larger)["game_id"]) - own
    found = adapt(model, larger, base=base, out=tmp_path / "m", labels=3, draws=20)
    assert set(found.labelled) < new
    assert any("80 games that" in note for note in found.notes)


def test_a_model_that_learned_from_test_games_is_not_evaluated_on_them(model: LoadedDetector, base: Path) -> None:
    test = read_statements(base, ["test"])
    own = model.file.corpus.id
    check_unseen({"m": model}, own, test, "test")
    seen = replace(model, games=model.games | {test["game_id"][0]})
    with pytest.raises(UsageError, match=r"on 1 of the \d+ games of this split; train it on this corpus"):
        check_unseen({"m": seen}, own, test, "test")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"labels": 0}, "give labels"),
        ({"labels": 70}, "leave none to compare on"),
        ({"choose": "nowhere.txt"}, "no file"),
        ({"weight": 0}, "--weight must be 1 or more, got 0"),
    ],
)
def test_what_cannot_be_done_is_refused(
    model: LoadedDetector, base: Path, new: Path, tmp_path: Path, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        adapt(model, new, base=base, out=tmp_path / "m", **options)
    assert not (tmp_path / "m").exists()


def test_a_base_that_is_another_corpus_is_refused(model: LoadedDetector, new: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="was not trained on"):
        adapt(model, new, base=new, out=tmp_path / "m")


def test_the_command_adapts_with_games_named_in_a_file_and_proposes(
    adapted: AdaptResult, model: LoadedDetector, base: Path, new: Path, tmp_path: Path
) -> None:
    plain = train("tfidf", base, out=tmp_path / "plain", folds=0).model
    done = CliRunner().invoke(app, ["adapt", str(plain), "--corpus", str(new), "--propose", "3"])
    assert done.exit_code == 0, done.output
    named = tmp_path / "games.txt"
    named.write_text(done.stdout, encoding="utf-8")
    options = ["--corpus", str(new), "--base", str(base), "--choose", str(named), "--draws", "20", "--json"]
    done = CliRunner().invoke(app, ["adapt", str(plain), *options, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["labelled_games"] == named.read_text(encoding="utf-8").split()
    assert facts["labelled"] == 3
    assert len(facts["gains"]) == 10
    named.write_text("no-such-game", encoding="utf-8")
    done = CliRunner().invoke(app, ["adapt", str(plain), *options, "--out", str(tmp_path / "other")])
    assert isinstance(done.exception, UsageError)


_PROMPT = DEFAULT.read_text(encoding="utf-8").replace("secretly work", "is it late?")
_QUESTIONS = 'intro = "{speaker}!"\nask = "{question}"\nyes = ["Yes"]\nno = ["No"]\nquestions = ["is it late?"]\n'


@pytest.mark.parametrize("kind", ["judge", "ensemble", "follow-up"])
def test_what_asks_a_model_in_its_users_words_is_adapted_in_them(
    kind: str,
    make_corpus: Corpus,
    serve: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    old, new = make_corpus(games=12), make_corpus(games=22, models=("model-c",), change=some_more)
    path, stub = tmp_path / "mine.toml", serve(with_logprobs)
    path.write_text(_QUESTIONS if kind == "follow-up" else _PROMPT, encoding="utf-8")
    model = f"openai:wise@{stub.url}"
    options = {
        "judge": {"model": model, "prompt": str(path), "fit_limit": 5},
        "ensemble": {"members": f"judge:model={model},prompt={path},fit_limit=5;tfidf"},
        "follow-up": {"model": model, "questions": str(path), "folds": 0},
    }[kind]
    before = train(kind, old, out=tmp_path / "before", **options)
    path.unlink()
    adapt(before.model, new, base=old, out=tmp_path / "after", labels=5, draws=10)
    assert load(tmp_path / "after").file.adapted is not None
    asked = [json.dumps(request.body["messages"]) for request in stub.requests]
    assert len(set(asked)) > 20
    assert all("is it late?" in words for words in asked)


@pytest.mark.parametrize("kind", ["embedding", "encoder", "follow-up", "ensemble"])
def test_weights_that_came_from_a_folder_are_said_to_be_what_cannot_learn_again(
    kind: str, make_corpus: Corpus, tiny_encoder: Path, tiny_suspect: Path, tmp_path: Path
) -> None:
    old, new = make_corpus(games=12), make_corpus(games=22, models=("model-c",), change=some_more)
    options = {
        "embedding": {"encoder": str(tiny_encoder)},
        "encoder": {"encoder": str(tiny_encoder), "max_steps": 1},
        "follow-up": {"model": str(tiny_suspect), "most_questions": 1},
        "ensemble": {"members": f"embedding:encoder={tiny_encoder};tfidf"},
    }[kind]
    model = train(kind, old, out=tmp_path / "before", folds=0, **options).model
    with pytest.raises(UsageError, match="Train a new one on both corpora"):
        adapt(model, new, base=old, out=tmp_path / "after", labels=5, draws=10)
