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
from liescope.detectors.study.findings import EvaluationResult
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
    for n, lie in enumerate([True, False] * 80)
]
COPIES = [{**row, "deceptive": not row["deceptive"]} for row in TEXTS[::9]]


def shuffled(rows: list[dict[str, Any]], groups: bool) -> list[dict[str, Any]]:
    """The rows in another order; those of a group stay in theirs, which is that of a talk."""
    if not groups:
        return _DRAWN.sample(rows, len(rows))
    order = _DRAWN.sample(range(40), 40)
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


def trained(data: Any, given: Mapping[str, Any], folder: Path) -> TrainResult:
    return liescope.train("tfidf", data, folds=2, out=folder / "m", **given)


def evaluated(data: Any, given: Mapping[str, Any], folder: Path) -> EvaluationResult:
    return liescope.evaluate(folder / "m", data, **given)


@pytest.mark.long
@pytest.mark.parametrize("groups", [False, True], ids=["alone", "in groups"])
def test_scores_figures_and_sentences_are_the_same_on_every_route(groups: bool, tmp_path: Path) -> None:
    rows = TEXTS if groups else [{"text": row["text"], "deceptive": row["deceptive"]} for row in TEXTS + COPIES]
    routes, models = {}, {}
    for name, route in ROUTES.items():
        (folder := tmp_path / name).mkdir()
        routes[name] = (*route(folder, shuffled(rows, groups)), folder)
        models[name] = trained(*routes[name])
    first = models["csv"]
    assert first.file.training.statements > 80
    named = {"corpus", "files", "training"}  # with the corpus's name, hashes of files with addresses in them, seconds
    for one in models.values():
        assert one.scores.equals(first.scores)
        assert one.rows == first.rows
        assert one.file.corpus.id == first.file.corpus.id
        assert one.file.model_dump(exclude=named) == first.file.model_dump(exclude=named)
    file, hand = (evaluated(*routes[name]) for name in ("csv", "lists"))
    assert file.plan.split == "out-of-fold"
    assert hand.rows == file.rows
    assert str(hand) == str(file)


@pytest.mark.long
def test_the_ids_that_a_source_gives_its_conversations_change_no_score_and_no_figure(tmp_path: Path) -> None:
    rows = [
        {
            "messages": [{"role": "user", "content": "And?"}, {"role": "assistant", "content": row["text"]}],
            "deceptive": row["deceptive"],
        }
        for row in TEXTS
    ]
    found = []
    for name, ids in (("unnamed", None), ("up", range(160)), ("down", range(160, 0, -1))):
        (tmp_path / name).mkdir()
        named = rows if ids is None else [{**row, "id": f"c{n}"} for n, row in zip(ids, rows, strict=True)]
        found.append((trained(named, {}, tmp_path / name), named, tmp_path / name))
    for one, *_ in found[1:]:
        assert one.scores["score"].equals(found[0][0].scores["score"])
        assert one.rows == found[0][0].rows
    first, last = (evaluated(data, {}, folder) for _, data, folder in (found[0], found[-1]))
    assert first.rows == last.rows
