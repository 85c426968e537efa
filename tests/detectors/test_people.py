"""People who read games, beside detectors, on the items that people judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import liescope
from liescope.common.agreement import alpha
from liescope.common.errors import UsageError
from liescope.detectors.display import people_lines
from liescope.detectors.evaluation.beside_people import PeoplesAnswers, on_judged_statements, read_people
from liescope.detectors.evaluation.score_rows import MetricRow, ScoringPlan
from liescope.games.judging import ReaderSpec
from liescope.generate.runs.sitting import Assignment, Sitting
from tests.detectors.judge_stub import with_logprobs

PLAN = ScoringPlan("test", draws=20)
ONE = np.ones((1, 1), dtype=np.float32)


def test_alpha_is_krippendorffs() -> None:
    """Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section A: two observers, ten items, 0.095."""
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    item = np.repeat(np.arange(10), 2)
    yes = np.array([one for pair in zip(first, second, strict=True) for one in pair], dtype=bool)
    found = alpha(item, yes, np.zeros(20, dtype=np.int64), ONE)
    assert found[0] == pytest.approx(0.095, abs=5e-4)


def test_alpha_is_one_for_people_who_agree_and_leaves_out_what_one_person_judged() -> None:
    item, yes = np.array([0, 0, 1, 1, 2, 3]), np.array([1, 1, 0, 0, 1, 0], dtype=bool)
    assert alpha(item, yes, np.zeros(6, dtype=np.int64), ONE)[0] == 1
    assert np.isnan(alpha(item[:2], yes[:2], np.zeros(2, dtype=np.int64), ONE)[0])


def judged(scores: Sequence[float], answers: dict[str, Sequence[float]], lies: Sequence[bool]) -> list[MetricRow]:
    """The rows for a detector and people, a statement in each place, two in a game."""
    ids = [f"s{at}" for at in range(len(lies))]
    games = [f"g{at // 2}" for at in range(len(lies))]
    facts = {"statement_id": ids, "game_id": games, "speaker": "A", "label_role": lies, "split": "test"}
    statements = pl.DataFrame(facts).with_columns(speaker_model=pl.lit("m"), models=pl.lit(["m"]), names=pl.lit(["A"]))
    table = pl.DataFrame({"statement_id": ids, "detector": "d", "target": "role", "score": scores, "fold": -1})
    said = [
        {"statement_id": ids[at], "game_id": games[at], "observer": who, "yes": share > 0.5, "score": share}
        for who, shares in answers.items()
        for at, share in enumerate(shares)
    ]
    people = PeoplesAnswers(pl.DataFrame(said), pl.DataFrame())
    rows, _ = on_judged_statements(table, statements, people, PLAN, {})
    return rows


def value(rows: Sequence[MetricRow], detector: str, metric: str, against: str | None = None) -> float | None:
    (found,) = [r.value for r in rows if (r.detector, r.metric, r.against) == (detector, metric, against)]
    return found


def test_at_equal_rates_nobody_leads_over_itself() -> None:
    random = Random(1)
    lies = [random.random() < 0.4 for _ in range(60)]
    said = [random.choice([0.1, 0.3, 0.51, 0.7, 0.9]) for _ in lies]
    rows = judged(said, {"ada": said}, lies)
    for other in ("people", "observer:ada"):
        assert value(rows, "d", "lead_at_people_fpr", other) == pytest.approx(0, abs=1e-12)
        assert value(rows, "d", "auroc_difference", other) == 0
    right = np.mean([(share > 0.5) == lie for share, lie in zip(said, lies, strict=True)])
    assert value(rows, "people", "accuracy") == pytest.approx(right)


def test_people_together_are_the_mean_of_those_who_judged_and_are_compared_on_what_they_judged() -> None:
    lies = [True, False, True, False]
    rows = judged([0.9, 0.1, 0.2, 0.8], {"ada": [0.9, 0.6], "bo": [0.7, 0.2]}, lies)
    assert {row.statements for row in rows} == {2}
    assert (value(rows, "observer:ada", "accuracy"), value(rows, "observer:bo", "accuracy")) == (0.5, 1)
    assert value(rows, "people", "accuracy") == 1
    assert value(rows, "d", "accuracy") is None  # it has no threshold
    lines = [line for line, _ in people_lines(rows)]
    assert all(len(line) <= 80 for line in lines)
    assert any("2 statements of 1 games, 2 observers" in line for line in lines)


def judge(run: Path, person: str, folder: Path, games: int | None = None, split: str | None = None) -> None:
    """A person who always guesses that a statement is honest, and suspects everybody a little."""
    with Sitting(Assignment.draw(run, ReaderSpec(), games, split), person, folder) as sitting:
        while question := sitting.question():
            if question.about_players:
                sitting.suspect(dict.fromkeys(question.ask.options, 0.2), None)
            else:
                sitting.say(False, 0.5, None)


def test_answers_are_read_from_the_runs_of_people_and_from_no_others(tmp_path: Path) -> None:
    run = tmp_path / "run"
    liescope.play("mini-mafia", games=3, players=["scripted:bold"], out=run)
    for person in ("ada", "bo"):
        judge(run, person, tmp_path / person)
    answers = read_people([tmp_path / "ada", tmp_path / "bo"])
    assert set(answers.statements["observer"]) == {"ada", "bo"}
    assert set(answers.statements["score"]) == {1 - 0.51}  # a guess leans to its side
    assert answers.players.height == 2 * 3 * 4
    assert answers.players["y"].sum() == 2 * 3
    with pytest.raises(UsageError, match="no answers of a person"):
        read_people([run])
    with pytest.raises(UsageError, match="one person"):
        read_people([tmp_path / "ada", tmp_path / "ada"])


def test_a_chat_model_is_asked_about_what_people_judged_before_anything_else(serve: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    liescope.play("mini-mafia", games=60, players=["scripted:bold"], out=run)
    judge(run, "ada", tmp_path / "ada", 1, "test")
    liescope.train("tfidf", run, out=tmp_path / "tfidf", folds=0)
    wise = f"openai:wise@{serve(with_logprobs).url}"
    options: Any = {"judge_limit": 1, "judge_cache": tmp_path / "c", "draws": 10}
    found = liescope.evaluate(tmp_path / "tfidf", run, split="test", people=[tmp_path / "ada"], judge=wise, **options)
    counted = {
        row.detector: row.statements
        for row in found.rows
        if (row.split, row.metric, row.against) == ("test:judged-by-people", "auroc", None)
    }
    assert counted["judge:wise"] == counted["people"] == counted["tfidf"]
