"""An evaluation of verdicts: what was promised, and what was kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from liescope import evaluate
from liescope.common.report.contents import terminal
from liescope.detectors.study.evaluation_report import report
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.findings import EvaluationResult
from liescope.detectors.study.metrics import Scored
from liescope.detectors.study.verdicts import kept

Found = dict[tuple[str, str], Figure]


@pytest.fixture(scope="module")
def evaluation(large_model: Path, large: Path) -> EvaluationResult:
    return evaluate([large_model], large, split="test")


def shown(evaluation: EvaluationResult, **values: float) -> str:
    """What the terminal says once these metrics of the detector have other values."""
    rows = tuple(
        replace(row, value=values[row.metric]) if row.scorer == "tfidf" and row.metric in values else row
        for row in evaluation.rows
    )
    return " ".join(" ".join(terminal(report(replace(evaluation, rows=rows)))).split())


def test_a_recall_comes_with_its_realised_rate_and_not_at_all_where_that_is_far_from_the_promised_one(
    evaluation: EvaluationResult,
) -> None:
    assert " 0.31 at 0.06 " in shown(evaluation, recall_at_5pct_fpr=0.31, realised_fpr_at_5pct=0.06)
    broken = shown(evaluation, recall_at_5pct_fpr=0.77, realised_fpr_at_5pct=0.998)
    assert " – at 1.00 " in broken
    assert " 0.77 at " not in broken


def test_a_detector_that_never_answers_is_called_unusable_and_not_always_right(
    evaluation: EvaluationResult,
) -> None:
    values = {"abstained": 1.0, "deceptive_covered": 1.0, "honest_covered": 1.0}
    assert "It gives no verdict on any of these statements." in shown(evaluation, **values)
    rows = tuple(replace(row, value=values.get(row.metric, row.value)) for row in evaluation.rows)
    (verdicts,) = (s for s in report(replace(evaluation, rows=rows)).sections if s.name == "verdicts")
    assert "tfidf gives no verdict on any of these statements (test split: 90% promised)." in verdicts.paragraphs


def by_place(rows: Sequence[Figure]) -> Found:
    return {(row.where, row.metric): row for row in rows if row.scorer == "tfidf"}


def value(found: Found, split: str, metric: str) -> float:
    return found[split, metric].value


def test_each_class_is_covered_about_as_often_as_promised(evaluation: EvaluationResult) -> None:
    found = by_place(evaluation.rows)
    for promised in (0.8, 0.9, 0.95):
        for metric in ("deceptive_covered", "honest_covered"):
            row = found[f"test:promised={promised:.0%}", metric]
            assert row.hi >= promised
    abstained = [value(found, f"test:promised={promised}%", "abstained") for promised in (80, 90, 95)]
    assert abstained == sorted(abstained)
    assert 0 < abstained[-1] < 1


def test_games_count_alike_however_much_is_said() -> None:
    """One game with four lies, of which one is covered, and one with a single lie that is: 0.625, not 0.4."""
    data = Scored(np.array([True] * 5), np.zeros(5), np.array([0, 0, 0, 0, 1]), 2)
    held, everyone = np.array([False] * 3 + [True] * 2), np.ones(5, dtype=bool)
    found = kept(data, held, everyone, {"deceptive_covered": data.y, "honest_covered": ~data.y}, 0)
    assert found["deceptive_covered"][0] == pytest.approx(0.625)
    assert found["answered_accuracy"][0] == pytest.approx(0.625)
    assert found["abstained"][0] == 0
    assert found["honest_covered"][0] is None
