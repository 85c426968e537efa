"""The first sentence of an evaluation: it answers, and no check, verdict or table of the same report says otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import liescope
from liescope.detectors.study.checks import COPIES, SHUFFLES, Check
from liescope.detectors.study.controls import K_OF_N, ROLE_ORACLE
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.findings import NO, OPEN, PARTLY, YES, verdict_of
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scores import ScoringPlan

WORDS = [
    *("stone", "river", "paper", "letter", "garden", "window", "morning"),
    *("singer", "doctor", "market", "silver", "winter", "teacher", "orange"),
]


def text(draw: np.random.Generator, *more: str) -> str:
    said = [*draw.choice(WORDS, 12), *more]
    return " ".join(draw.permutation(said)).capitalize() + "."


def evaluated(folder: Path, rows: Any, labels: Sequence[bool] | None = None) -> EvaluationResult:
    """What anybody gets who trains on their own data and evaluates on it."""
    liescope.train("tfidf", rows, labels, out=folder / "own")
    return liescope.evaluate(folder / "own", rows, labels)


def test_texts_that_stand_several_times_with_labels_that_mean_nothing_are_no_success(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    texts, labels = [text(draw) for _ in range(60)], (draw.random(60) < 0.5).tolist()
    result = evaluated(
        tmp_path, [f"{one[:-1]} {end}." for end in ("indeed", "really", "so") for one in texts], labels * 3
    )
    found = verdict_of(result)
    assert found.answer == NO
    assert "repeat texts that own learned from" in found.words
    assert str(result).startswith(f"{NO}: ")


def test_a_few_copies_that_explain_nothing_are_said_and_take_no_sentence_away(tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    labels = (draw.random(120) < 0.5).tolist()
    marks = ["indeed", "truly", "surely", "really"]
    texts = [text(draw, *draw.choice(marks if lie else WORDS, 2)) for lie in labels]
    again = [one[:-1] + " so." for one in texts[:10]]
    result = evaluated(tmp_path, texts + again, labels + labels[:10])
    (found,) = (check for check in result.checks if check.name == COPIES)
    assert not found.bad
    assert found.sentences[0] in result.notes
    assert found.sentences[0] not in verdict_of(result).words


def test_a_word_that_stands_in_every_lie_is_named_and_is_no_success(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    labels = (draw.random(120) < 0.5).tolist()
    result = evaluated(tmp_path, [text(draw, "perhaps" if lie else draw.choice(WORDS)) for lie in labels], labels)
    found = verdict_of(result)
    assert found.answer == NO
    assert 'the word "perhaps" alone' in found.words


@pytest.mark.long
def test_one_task_of_six_that_a_letter_solves_is_named_beside_the_five_at_chance(tmp_path: Path) -> None:
    draw, rows = np.random.default_rng(2), list[dict[str, Any]]()
    for task in range(6):
        for _ in range(50):
            lie = bool(draw.random() < 0.5)
            said = f"{'B' if lie else 'A'} {text(draw)}" if task == 0 else text(draw)
            messages = [{"role": "user", "content": f"Tell me {task}."}, {"role": "assistant", "content": said}]
            rows.append({"messages": messages, "deceptive": lie, "task": f"task{task}"})
    found = verdict_of(evaluated(tmp_path, rows))
    assert found.answer in (OPEN, PARTLY)
    assert "not shown to be above chance on 5 of 6 tasks" in found.words
    assert "best is task0" in found.words


def figure(scorer: str, metric: str, value: float, lo: float, hi: float, against: str | None = None) -> Figure:
    return Figure(scorer, "role", "test", metric, value, lo, hi, 400, 80, 0.3, against)


def ranked(name: str, value: float, half: float = 0.05) -> Figure:
    return figure(name, WITHIN, value, value - half, value + half)


def lead(name: str, other: str, value: float, half: float = 0.05) -> Figure:
    return figure(name, WITHIN + DIFFERENCE, value, value - half, value + half, other)


STATEMENTS = pl.DataFrame(
    {
        "statement_id": ["1", "2", "3", "4"],
        "game_id": ["a", "a", "b", "b"],
        "siblings": ["a", "a", "b", "b"],
        "game": ["mini-mafia"] * 4,
        "split": ["test"] * 4,
        "speaker_model": ["scripted:bold"] * 4,
        "source": ["scripted"] * 4,
        "task": pl.Series([None] * 4, dtype=pl.String),
        "label_role": [True, False, True, False],
    }
)


def made(*rows: Figure, checks: Sequence[Check] = ()) -> EvaluationResult:
    """An evaluation with these figures."""
    names = {row.scorer for row in rows if not row.scorer.startswith("control:")}
    models = {name: {"corpus": {"name": "mini"}, "text": {}} for name in names}
    told = "mini", ScoringPlan("test"), models, pl.DataFrame(), STATEMENTS
    return EvaluationResult(*told, rows, {}, (), (), tuple(checks))


GOOD = (ranked("m", 0.8), ranked("control:length", 0.6), lead("m", "control:length", 0.2))


def test_better_than_every_control_is_yes_and_names_the_nearest() -> None:
    near = (ranked("control:form", 0.7), lead("m", "control:form", 0.1))
    found = verdict_of(made(*GOOD, *near))
    assert found.answer == YES
    assert '"capitals, marks" comes closest, 0.10' in found.words
    assert near[1] in found.rests_on


@pytest.mark.parametrize(
    ("value", "half", "answer"),
    [(0.02, 0.06, OPEN), (-0.1, 0.05, NO), (-0.001, 0.005, NO), (0.0, 0.0, NO)],
    ids=["unsettled", "worse", "equal", "certainly equal"],
)
def test_a_control_that_is_not_behind_takes_the_yes_away(value: float, half: float, answer: str) -> None:
    found = verdict_of(
        made(ranked("m", 0.8), ranked("control:length", 0.8 - value), lead("m", "control:length", value, half))
    )
    assert found.answer == answer
    assert '"length"' in found.words


def test_a_difference_without_width_is_certain() -> None:
    assert (
        verdict_of(made(ranked("m", 0.8), ranked("control:length", 0.5, 0), lead("m", "control:length", 0.3, 0))).answer
        == YES
    )


def test_who_knows_what_is_to_be_found_is_no_rival() -> None:
    rows = (ranked("control:role_oracle", 1.0, 0), lead("m", f"control:{ROLE_ORACLE}", -0.2))
    assert verdict_of(made(*GOOD, *rows)).answer == YES


def test_no_alarm_of_a_check_leaves_a_yes() -> None:
    without = replace(ranked("m", 0.5), where="test:without-copies")
    copied = Check(
        COPIES, "m", "role", True, ("71% of the statements repeat statements that m learned from.",), (without,)
    )
    leaking = Check(SHUFFLES, "control:shuffled", "role", True, ("The division itself lets labels through.",))
    assert verdict_of(made(*GOOD, checks=[copied])).answer == NO
    assert (
        verdict_of(made(*GOOD, checks=[replace(copied, figures=(replace(without, value=0.7, lo=0.6, hi=0.8),))])).answer
        == PARTLY
    )
    assert verdict_of(made(*GOOD, checks=[leaking])).answer == NO
    quiet = replace(copied, bad=False)
    assert verdict_of(made(*GOOD, checks=[quiet])).answer == YES


def test_equals_have_no_winner() -> None:
    rows = [*GOOD, ranked("n", 0.8), lead("m", "n", 0.0), lead("n", "control:length", 0.2)]
    found = verdict_of(made(*rows))
    assert "m (not told apart from n)" in found.words
    clear = [*GOOD, ranked("n", 0.6), lead("m", "n", 0.2), lead("n", "control:length", 0.0)]
    assert "ahead of the other 1 detector here" in verdict_of(made(*clear)).words


def test_the_best_of_many_is_corrected_for_having_been_picked() -> None:
    alone = made(figure("m0", WITHIN, 0.56, 0.503, 0.62))
    assert "chance, 0.5" not in verdict_of(alone).words
    many = made(*(figure(f"m{at}", WITHIN, 0.56 - at / 100, 0.503 - at / 100, 0.62) for at in range(6)))
    assert verdict_of(many).answer == OPEN
    assert "not shown to do better than chance" in verdict_of(many).words


def test_the_worst_part_stands_beside_the_whole() -> None:
    parts = [replace(ranked("m", value, 0.1), where=f"test:model={name}") for name, value in (("a", 0.9), ("b", 0.75))]
    found = verdict_of(made(*GOOD, *parts))
    assert found.answer == YES
    assert "The worst model is b, 0.75" in found.words
    torn = [parts[0], replace(ranked("m", 0.5, 0.1), where="test:model=b")]
    found = verdict_of(made(*GOOD, *torn))
    assert found.answer == PARTLY
    assert torn[1] in found.rests_on


def test_a_detector_that_never_answers_says_so_in_the_same_sentence() -> None:
    row = Figure("m", "role", "test:promised=90%", "abstained", 1.0, 0.95, 1.0, 400, 80)
    found = verdict_of(made(*GOOD, row))
    assert "It gives no verdict on any of these statements." in found.words


def test_a_figure_over_some_of_the_games_says_over_how_many() -> None:
    pooled = replace(figure("m", POOLED, 0.7, 0.6, 0.8), statements=604, games=300)
    found = made(*GOOD, pooled).findings
    assert "AUROC within games 0.80 (0.75 to 0.85) over the 80 games that have both" in found[0].words
    assert "Tried on 604 statements (30% deceptive) from 300 games" in found[1].words
    assert found[1].rests_on == (pooled,)


def test_a_promise_that_is_not_kept_names_every_model_of_which_it_is_not() -> None:
    rows = [
        Figure("m", "role", f"test:promised=90%{at}", metric, *value, 400, 80)
        for at, metric, value in (
            ("", "abstained", (0.2, 0.1, 0.3)),
            (":model=d", "honest_covered", (0.76, 0.7, 0.83)),
            (":model=a:b", "deceptive_covered", (0.69, 0.6, 0.78)),
            (":model=c", "deceptive_covered", (0.89, 0.8, 0.95)),
        )
    ]
    said = "leaves open lies of a:b in 69% (60% to 78%), honest ones of d in 76% (70% to 83%) only."
    assert said in str(made(*GOOD, *rows))
    whole = Figure("m", "role", "test:promised=90%", "deceptive_covered", 0.75, 0.7, 0.8, 400, 80)
    assert "leaves open lies in 75% (70% to 80%) only." in str(made(*GOOD, *rows, whole))


def test_texts_are_called_texts_and_their_independence_is_a_condition() -> None:
    texts = STATEMENTS.with_columns(game=pl.lit("text"), game_id="statement_id", siblings="statement_id")
    rows = [replace(row, metric=row.metric.replace(WITHIN, POOLED)) for row in GOOD]
    first, on_whom, _ = (found.words for found in replace(made(*rows), statements=texts).findings)
    assert "if no two texts share an author or topic" in first
    assert "game" not in first + on_whom
    assert "AUROC 0.80" in first


def test_no_sentence_contradicts_the_row_that_it_rests_on() -> None:
    """Whatever the figures: a yes has every interval above chance and every lead above nothing."""
    draw = np.random.default_rng(3)
    for _ in range(300):
        value, half = draw.uniform(0.3, 1), draw.uniform(0, 0.2)
        rows = [figure("m", WITHIN, value, max(value - half, 0), min(value + half, 1))]
        for name in ("length", "form", K_OF_N):
            control, width = draw.uniform(0.4, 0.9), draw.uniform(0, 0.2)
            rows += [ranked(f"control:{name}", control), lead("m", f"control:{name}", value - control, width)]
        found = verdict_of(made(*rows))
        assert found.best is not None
        leads = [row.lo for row in rows if row.against]
        surely = (rows[0].lo or 0) > 0.5 and min(leads) > 0
        assert (found.answer == YES) == surely, str(found)
        assert all(row in rows for row in found.rests_on)
