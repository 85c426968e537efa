"""One table gives one answer: whatever its file is called, in whatever order its rows stand and whether it comes as a
file or as data at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

import liescope
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.training import TrainResult
from tests.detectors.conftest import TELLS
from tests.generate.importers.test_own_data import lines, table

_DRAWN = Random(1)
TEXTS = [
    {
        "text": f"{_DRAWN.choice(TELLS[_DRAWN.random() < 0.7 * lie + 0.15])} words of number {n} are said",
        "deceptive": lie,
        "group": f"talk {n // 4}",
    }
    for n, lie in enumerate([True, False] * 120)
]
COPIES = [{**row, "deceptive": not row["deceptive"]} for row in TEXTS[::9]]


def shuffled(rows: list[dict[str, Any]], groups: bool) -> list[dict[str, Any]]:
    """The rows in another order; those of a group stay in theirs, which is that of a talk."""
    if not groups:
        return _DRAWN.sample(rows, len(rows))
    order = _DRAWN.sample(range(60), 60)
    return sorted(rows, key=lambda row: order[int(row["group"].split()[1])])


def imported(path: Path) -> Path:
    liescope.import_games("text", path, out=path.parent / "run")
    return path.parent / "run"


def columns(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


ROUTES: dict[str, Callable[[Path, list[dict[str, Any]]], tuple[Any, Mapping[str, Any]]]] = {
    "csv": lambda folder, rows: (imported(table(folder / "Final (2).csv", rows)), {}),
    "json lines": lambda folder, rows: (imported(lines(folder / "talks.jsonl", rows)), {}),
    "pandas": lambda folder, rows: (pd.DataFrame(rows), {}),
    "lists": lambda folder, rows: (
        columns(rows)["text"],
        {"labels": columns(rows)["deceptive"], "groups": columns(rows).get("group")},
    ),
}


def answer(data: Any, given: Mapping[str, Any], folder: Path) -> tuple[TrainResult, EvaluationResult]:
    trained = liescope.train("tfidf", data, folds=2, out=folder / "m", **given)
    return trained, liescope.evaluate(folder / "m", data, **given)


@pytest.mark.parametrize("groups", [False, True], ids=["alone", "in groups"])
def test_scores_figures_and_sentences_are_the_same_on_every_route(groups: bool, tmp_path: Path) -> None:
    rows = TEXTS if groups else [{"text": row["text"], "deceptive": row["deceptive"]} for row in TEXTS + COPIES]
    found = {}
    for name, route in ROUTES.items():
        (folder := tmp_path / name).mkdir()
        data, given = route(folder, shuffled(rows, groups))
        found[name] = answer(data, given, folder)
    trained, evaluated = found["csv"]
    assert evaluated.plan.split == "out-of-fold"
    assert trained.file.training.statements > 100
    named = {"corpus", "files", "training"}  # with the corpus's name, hashes of files with addresses in them, seconds
    for one, other in found.values():
        assert one.scores.equals(trained.scores)
        assert one.rows == trained.rows
        assert one.file.corpus.id == trained.file.corpus.id
        assert one.file.model_dump(exclude=named) == trained.file.model_dump(exclude=named)
        assert other.rows == evaluated.rows
        assert str(other) == str(evaluated)


def test_the_ids_that_a_source_gives_its_conversations_change_no_score_and_no_figure(tmp_path: Path) -> None:
    rows = [
        {
            "messages": [{"role": "user", "content": "And?"}, {"role": "assistant", "content": row["text"]}],
            "deceptive": row["deceptive"],
        }
        for row in TEXTS
    ]
    found = []
    for name, ids in (("unnamed", None), ("up", range(240)), ("down", range(240, 0, -1))):
        (tmp_path / name).mkdir()
        named = rows if ids is None else [{**row, "id": f"c{n}"} for n, row in zip(ids, rows, strict=True)]
        found.append(answer(named, {}, tmp_path / name))
    for one, other in found[1:]:
        assert one.scores["score"].equals(found[0][0].scores["score"])
        assert (one.rows, other.rows) == (found[0][0].rows, found[0][1].rows)
