"""What a speaker thought before a statement, as one of three views of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import liescope
from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.detector_settings import VIEWS
from liescope.detectors.examples import Example, read_statements
from liescope.detectors.study.audit import AuditResult
from liescope.detectors.study.figures import SERIOUS, Figure
from liescope.detectors.study.findings import EvaluationResult
from liescope.detectors.study.metrics import DIFFERENCE, WITHIN
from liescope.detectors.text_form import TextConfig, textualize
from tests.detectors.conftest import SHARED, Corpus, Rows
from tests.detectors.judge_stub import material, prompt_of
from tests.generate.players.openai.stub import Answer, Request, says

TELL = {True: "mislead", False: "verify"}
HELD = 0.75  # of the statements keep reasoning

Think = Callable[[random.Random, dict[str, Any]], str]


def telling(draw: random.Random, row: dict[str, Any]) -> str:
    """The reasoning gives the lie away."""
    return f"{noise(draw, row)} I want to {TELL[row['label_role']]} them."


def noise(draw: random.Random, _row: dict[str, Any]) -> str:
    """The reasoning says nothing."""
    return f"Let me think: {' '.join(draw.choice(SHARED) for _ in range(10))}."


def restating(draw: random.Random, row: dict[str, Any]) -> str:
    """The reasoning names the speaker's role, and says nothing else."""
    return f"As the {row['speaker_role']}, I should be careful. {noise(draw, row)}"


def thinking(think: Think, words: bool) -> Callable[[Rows], None]:
    """Reasoning beside three quarters of the statements. words: keep their own tell."""

    def change(rows: Rows) -> None:
        draw = random.Random(7)
        for row in rows["statements"]:
            if not words:
                row["text"] = " ".join(draw.choice(SHARED) for _ in range(9)) + "."
            row["reasoning"] = think(draw, row) if draw.random() < HELD else None

    return change


@pytest.fixture(scope="module")
def planted(make_corpus: Corpus) -> dict[str, Path]:
    return {
        "told": make_corpus(games=150, change=thinking(telling, words=False)),
        "noise": make_corpus(games=150, tell=0.9, change=thinking(noise, words=True)),
    }


@pytest.fixture(scope="module")
def views(planted: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Path]]:
    """By corpus: a detector for each view."""
    found: dict[str, dict[str, Path]] = {}
    for name, shown in (("told", VIEWS), ("noise", ("words", "reasoning"))):
        folder, corpus = tmp_path_factory.mktemp(name), planted[name]
        found[name] = {
            view: liescope.train("tfidf", corpus, target="role", view=view, folds=2, out=folder / view).model
            for view in shown
        }
    return found


SAID = Example(
    "s", "g", "Bob", "m", "I trust\nAnna.", ("Anna", "Bob"), (("Anna", "Bob lies."),), reasoning="Anna\nknows."
)


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (TextConfig(), "I trust player1."),
        (TextConfig(view="reasoning"), "player1 knows."),
        (TextConfig(view="both"), "speaker thinks: player1 knows.\nspeaker: I trust player1."),
        (TextConfig(view="reasoning", context=1), "player1: speaker lies.\nspeaker thinks: player1 knows."),
    ],
)
def test_a_view_shows_the_words_the_reasoning_or_both(config: TextConfig, text: str) -> None:
    assert textualize(SAID, config) == text


def test_reasoning_alone_scores_only_statements_that_keep_it(views: dict[str, dict[str, Path]]) -> None:
    detector = liescope.load(views["told"]["reasoning"])
    said = {"text": "we should talk"}
    found = detector.score(
        [
            {**said, "reasoning": "I want to mislead them."},
            {**said, "reasoning": "I want to verify them."},
            said,
            "hello",
        ]
    )
    lie, truth = found["score"].to_list()[:2]
    assert lie > 0.5 > truth
    assert found["score_null"].to_list() == [None, None, "no reasoning", "no reasoning"]
    assert any("2 statements come without reasoning" in note for note in detector.notes)


def test_training_says_how_many_statements_keep_no_reasoning(planted: dict[str, Path], tmp_path: Path) -> None:
    trained = liescope.train("tfidf", planted["told"], target="role", view="both", folds=2, out=tmp_path / "m")
    learned = pl.read_parquet(planted["told"] / "statements" / "train*.parquet")
    without = learned["reasoning"].null_count()
    facts = trained.file.training
    assert (facts.without_reasoning, facts.statements) == (without, learned.height - without)
    assert any(f"{without:,} of {learned.height:,} labelled statements of train" in note for note in trained.notes)
    card = (tmp_path / "m" / "README.md").read_text()
    assert "what its speaker thought before it" in card
    assert "| `view` | both |" in card


def test_a_view_that_a_kind_a_corpus_or_nobody_has_is_refused(
    corpus: Path, planted: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(UnknownName, match="view"):
        liescope.train("tfidf", corpus, view="thoughts", out=tmp_path / "m")
    with pytest.raises(UsageError, match="linear reads what was said"):
        liescope.train("linear", planted["told"], view="both", out=tmp_path / "m")
    with pytest.raises(UsageError, match="keeps what its speaker thought"):
        liescope.train("tfidf", corpus, target="role", view="reasoning", out=tmp_path / "m")


@pytest.fixture(scope="module")
def evaluated(planted: dict[str, Path], views: dict[str, dict[str, Path]]) -> dict[str, EvaluationResult]:
    return {
        name: liescope.evaluate(list(models.values()), planted[name], split="test", observers=name == "told")
        for name, models in views.items()
    }


def reads_thoughts(request: Request, _number: int) -> Answer:
    """A judge that knows what the planted reasoning gives away, as far as it is shown."""
    shown = material(request)
    yes = 0.9 if TELL[True] in shown else 0.1 if TELL[False] in shown else 0.5
    top = [{"token": token, "logprob": log(share)} for token, share in ((" Yes", yes), (" No", 1 - yes))]
    found = says("Yes" if yes > 0.5 else "No")
    found.body["choices"][0]["logprobs"] = {"content": [{**top[0], "top_logprobs": top}]}
    return found


def test_judges_are_shown_what_is_asked_for_and_told_so(
    serve: Any, planted: dict[str, Path], views: dict[str, dict[str, Path]], tmp_path: Path
) -> None:
    stub = serve(reads_thoughts)
    found = liescope.evaluate(
        views["told"]["words"],
        planted["told"],
        split="test",
        judge=[f"openai:wise@{stub.url}"],
        judge_view=VIEWS,
        judge_cache=tmp_path / "cache",
    )
    words, thoughts, both = "judge:wise", "judge:wise (reasoning)", "judge:wise (both)"
    assert {judge.name: judge.view for judge in found.judges} == {words: "words", thoughts: "reasoning", both: "both"}
    assert one_row(found, WITHIN, words).value == 0.5
    assert one_row(found, WITHIN, thoughts).value == one_row(found, WITHIN, both).value == 1.0
    for request in stub.requests:
        asked, shown = prompt_of(request), material(request)
        assert ("thought in private" in asked or "thought in\nprivate" in asked) == ("think" in shown)
        assert ("The statement itself is not shown" in asked) == ("speaker: " not in shown and "think" in shown)


def one_row(result: EvaluationResult, metric: str, detector: str, against: str | None = None) -> Figure:
    wanted = ("test", metric, detector, against)
    (found,) = (row for row in result.rows if (row.where, row.metric, row.scorer, row.against) == wanted)
    return found


def test_detectors_of_different_views_are_compared_on_the_statements_that_both_score(
    planted: dict[str, Path], evaluated: dict[str, EvaluationResult]
) -> None:
    told, noisy = evaluated["told"], evaluated["noise"]
    assert one_row(told, WITHIN, "reasoning").value == one_row(told, WITHIN, "both").value == 1.0
    words, test = one_row(told, WITHIN, "words"), read_statements(planted["told"], ["test"])
    assert (words.lo or 1.0) < 0.5 < (words.hi or 0.0)
    for metric in (WITHIN, "matched_recall_1pct", "matched_recall_5pct"):
        lead = one_row(told, metric + DIFFERENCE, "words", "reasoning")
        assert lead.hi < -0.2
        assert lead.statements <= test["reasoning"].count() < test.height
    assert any(f"{test['reasoning'].null_count():,} of {test.height:,}" in note for note in told.notes)
    assert "control:reasoning_length" in set(told.metrics["scorer"])
    assert one_row(noisy, WITHIN + DIFFERENCE, "words", "reasoning").lo > 0.1
    alone = one_row(noisy, WITHIN, "reasoning")
    assert (alone.lo or 1.0) < 0.5 < (alone.hi or 0.0)


def test_players_who_saw_no_reasoning_are_not_beside_detectors_that_did(evaluated: dict[str, EvaluationResult]) -> None:
    found = evaluated["told"]
    beside = [row for row in found.rows if "observers:" in (row.against or "")]
    assert {row.scorer for row in beside if not row.scorer.startswith("control:")} == {"words"}
    assert any("who saw no reasoning" in note for note in found.notes)


def test_a_corpus_without_reasoning_is_refused(corpus: Path, views: dict[str, dict[str, Path]]) -> None:
    with pytest.raises(UsageError, match="no evaluated statement keeps any of it"):
        liescope.evaluate(views["told"]["reasoning"], corpus)


def about_reasoning(audited: AuditResult) -> dict[str, Figure]:
    return {
        row.scorer.removeprefix("control:") + f":{row.where}" * (row.metric == "share"): row
        for row in audited.rows
        if row.against is None
    }


def test_an_audit_says_that_reasoning_hangs_on_the_word_for_the_role(make_corpus: Corpus) -> None:
    corpus = make_corpus(games=100, change=thinking(restating, words=False))
    audited = liescope.audit(corpus, target="role", split="out-of-fold")
    found = about_reasoning(audited)
    assert found["reasoning"].value == pytest.approx(1.0)
    bare = found["reasoning, words for roles masked"]
    assert (bare.lo or 1.0) < 0.5 < (bare.hi or 0.0)
    (alarm,) = (one for one in audited.findings if "thoughts that name the speaker's role" in one.words)
    assert alarm.severity == SERIOUS


def test_an_audit_does_not_blame_reasoning_that_gives_away_more_than_the_role(planted: dict[str, Path]) -> None:
    audited = liescope.audit(planted["told"], target="role", split="out-of-fold")
    found = about_reasoning(audited)
    assert found["reasoning, words for roles masked"].value == pytest.approx(1.0)
    assert (found["words, where there is reasoning"].value or 1.0) < 0.6
    assert not [one for one in audited.findings if "thoughts that name the speaker's role" in one.words]
    assert found["reasoning"].statements == read_statements(planted["told"])["reasoning"].count()


def chat(lies: bool, number: int, field: str = "reasoning_content") -> list[dict[str, str]]:
    """A conversation as a provider sends it: what gives the lie away stands in the reasoning."""
    thought = f"I want to {TELL[lies]} them about number {number}."
    return [
        {"role": "user", "content": "What do you say?"},
        {"role": "assistant", "content": f"I say number {number} is fine.", field: thought},
    ]


def test_conversations_with_reasoning_are_learned_from_and_scored_as_they_are_sent(tmp_path: Path) -> None:
    chats, labels = zip(*((chat(lies, 2 * n + lies), lies) for n in range(40) for lies in (True, False)), strict=True)
    liescope.train("tfidf", list(chats), labels, view="reasoning", folds=2, out=tmp_path / "m")
    silent = chat(True, 3)
    del silent[-1]["reasoning_content"]
    lie, truth, unread = liescope.score(tmp_path / "m", [chat(True, 5, "reasoning"), chat(False, 7), silent])["score"]
    assert lie > 0.5 > truth
    assert unread is None
