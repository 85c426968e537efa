"""Marks of labels: how often they are judged wrong, how far markers agree, and what is no mark."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import liescope
from liescope import cli
from liescope.common.errors import BadData, UsageError
from liescope.detectors.audit.marks import Mark, last_of_each, marked, read_marks
from tests.detectors.audit.conftest import Planted

Plant = Callable[..., Planted]

MARK = Mark("game-0:5", "claim", True, "right", "", "anna", "2026-11-22T06:00:00+00:00", True, 1)
STATEMENTS = pl.DataFrame({"statement_id": [f"game-{number}:5" for number in range(40)]})


def marks(wrong: int, of: int = 40, **more: object) -> list[Mark]:
    """Marks of so many statements, each of its own game; the first ones say that the label is wrong."""
    return [
        replace(MARK, statement_id=f"game-{number}:5", mark="wrong" if number < wrong else "right", **more)  # type: ignore[arg-type]
        for number in range(of)
    ]


def test_the_share_judged_wrong_comes_with_an_interval_for_each_label() -> None:
    rows, found = marked([*marks(10), *marks(0, label="self")], STATEMENTS, 500, 0)
    row = {row.name: row for row in rows}["claim, blind: wrong"]
    assert row.value == 0.25
    assert row.lo is not None
    assert row.hi is not None
    assert 0.1 < row.lo < 0.25 < row.hi < 0.43
    assert (row.statements, row.games) == (40, 40)
    none = {row.name: row for row in rows}["self, blind: wrong"]
    assert (none.value, none.lo) == (0.0, 0.0)
    assert none.hi == pytest.approx(0.0876, abs=1e-3)  # Wilson's for none of 40
    assert [one.severity for one in found] == ["notable", "plain"]


def test_blind_and_sighted_marks_are_never_counted_together() -> None:
    rows, _ = marked([*marks(20), *marks(0, blind=False)], STATEMENTS, 50, 0)
    shares = {row.name: row.value for row in rows if row.name.endswith("wrong")}
    assert shares == {"claim, blind: wrong": 0.5, "claim, labels in sight: wrong": 0.0}


def test_two_passes_and_two_people_give_a_kappa_with_its_counts() -> None:
    rows, found = marked([*marks(20), *marks(10, pass_number=2), *marks(20, 30, who="bert")], STATEMENTS, 50, 0)
    kappas = {row.name: row for row in rows if row.metric == "kappa"}
    passes = kappas["anna (pass 1) and anna (pass 2), blind"]
    # 10 wrong twice, 10 once, 20 never: 0.75 alike, 0.5 by chance
    assert passes.value == pytest.approx(0.5)
    assert passes.statements == 40
    people = kappas["anna (pass 1) and bert (pass 1), blind"]
    assert (people.value, people.statements) == (1.0, 30)
    assert any("Cohen's kappa 0.50" in one.sentence for one in found)
    by = {row.name: row.value for row in rows}
    assert by["claim, blind: wrong, says bert"] == pytest.approx(2 / 3)


def test_unsure_is_counted_apart_and_the_last_word_counts() -> None:
    rows, _ = marked([*marks(40), *(replace(mark, mark="unsure") for mark in marks(0, 10))], STATEMENTS, 50, 0)
    values = {row.name: (row.value, row.statements) for row in rows}
    assert values == {"claim, blind: wrong": (1.0, 30), "claim, blind: unsure": (0.25, 40)}
    assert last_of_each([MARK, replace(MARK, mark="wrong")]) == (replace(MARK, mark="wrong"),)


def test_marks_of_another_corpus_are_refused_and_some_are_said() -> None:
    with pytest.raises(UsageError, match="none of the marks"):
        marked(marks(0), pl.DataFrame({"statement_id": ["other:1"]}), 50, 0)
    _, found = marked(marks(0), STATEMENTS.head(30), 50, 0)
    assert found[-1].sentence == "10 marked statements are not in this corpus."


def test_a_file_is_read_back_without_the_end_that_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "marks.jsonl"
    file.write_text("".join(mark.line() for mark in marks(1, 2)) + '{"statement_id": "ga')
    assert read_marks(file) == tuple(marks(1, 2))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mark": "maybe"}, "mark"),
        ({"value": "yes"}, "value"),
        ({"pass_number": 0}, "pass_number"),
        ({"statement_id": "nowhere"}, "statement_id"),
        ({"more": 1}, "more"),
    ],
)
def test_a_line_that_is_no_mark_is_named(change: dict[str, object], said: str, tmp_path: Path) -> None:
    file = tmp_path / "marks.jsonl"
    file.write_text(MARK.line() + json.dumps(json.loads(MARK.line()) | change) + "\n")
    with pytest.raises(BadData, match=rf"line 2 is no mark: {said}"):
        read_marks(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_marks(tmp_path / "none")


def test_audit_says_it_in_its_report_its_json_and_on_the_terminal(
    plant: Plant, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = plant(games=40).folder
    said = liescope.read(corpus, "statements").select("statement_id").collect()["statement_id"]
    file, out = tmp_path / "marks.jsonl", tmp_path / "report"
    file.write_text(
        "".join(
            replace(MARK, statement_id=one, mark="wrong" if place % 4 == 0 else "right", pass_number=number).line()
            for number in (1, 2)
            for place, one in enumerate(said)
        )
    )
    words = ["audit", str(corpus), "--marks", str(file), "--draws", "20", "--split", "out-of-fold", "--out", str(out)]
    assert cli.main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "marks of claim, blind, 25% (" in shown
    assert "Cohen's kappa 1.00" in shown
    data = json.loads((out / "report.json").read_text())["audit"]
    assert data["marks"] == str(file)
    kappa = [row for row in data["rows"] if row["metric"] == "kappa"]
    assert [(row["value"], row["statements"]) for row in kappa] == [(1.0, len(said))]
    assert "Labels that people marked" in (out / "report.md").read_text()
    assert "Labels that people marked" in (out / "report.html").read_text()
