"""People who annotated statements in Label Studio, beside detectors on the same statements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.common.errors import BadData
from liescope.detectors.study.beside_players import read_people
from liescope.detectors.study.evaluation_report import report
from tests.detectors.judge_stub import with_logprobs

JUDGED = "test:judged-by-people"


def annotation(number: int, who: Any, answer: str, **more: Any) -> dict[str, Any]:
    """One as Label Studio 1.x exports it."""
    value = {"value": {"choices": [answer]}, "id": f"r{number}", "from_name": "deceptive", "to_name": "statement"}
    return {
        "id": number,
        "completed_by": who,
        "result": [{**value, "type": "choices", "origin": "manual"}] if answer else [],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": f"2026-01-01T00:00:{number % 60:02}.893565Z",
        "updated_at": f"2026-01-01T00:00:{number % 60:02}.893578Z",
        "lead_time": 8.65,
        "result_count": 1,
        "task": 1,
        "project": 29,
        **more,
    }


def task(data: dict[str, Any], annotations: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counted = {"total_annotations": len(annotations), "cancelled_annotations": 0}
    return {"id": 87, "annotations": list(annotations), "drafts": [], "predictions": [], "data": data, **counted}


def written(path: Path, tasks: Sequence[object]) -> Path:
    path.write_text(json.dumps(tasks))
    return path


def answers(path: Path) -> list[tuple[str, str, bool]]:
    return sorted(read_people(path).select("statement_id", "observer_model", "flag").iter_rows())


def test_answers_are_read_from_both_exports_without_what_was_skipped(tmp_path: Path) -> None:
    first, second = ({"statement_id": f"game-1:{at}", "statement": "I am."} for at in (4, 7))
    some = [
        annotation(1, 5, "Deceptive"),
        annotation(2, {"id": 7, "email": "anna@example.org"}, "Honest"),
        annotation(3, 5, "Honest"),  # a change of mind
        annotation(4, 8, "Deceptive", was_cancelled=True),
        annotation(5, 8, ""),
    ]
    whole = written(tmp_path / "whole.json", [task(first, some), task(second, [annotation(6, 7, "Deceptive")])])
    expected = [("game-1:4", "person-1", False), ("game-1:4", "person-2", False), ("game-1:7", "person-2", True)]
    assert answers(whole) == expected
    assert "anna" not in str(read_people(whole).to_dicts())
    plain = {"annotation_id": 1, "created_at": "2026-01-01T00:00:01Z", "updated_at": "2026-01-01T00:00:01Z"}
    least = [
        {**first, "id": 87, "deceptive": "Honest", "annotator": 5, **plain},
        {**first, "id": 87, "deceptive": "Honest", "annotator": 7, **plain},
        {**second, "id": 88, "deceptive": "Deceptive", "annotator": 7, **plain},
        {**second, "id": 88, "annotator": 8, **plain},
    ]
    assert answers(written(tmp_path / "min.json", least)) == expected


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([task({"text": "of somebody else"}, [annotation(1, 5, "Honest")])], "statement_id"),
        ([task({"statement_id": "g:1"}, [annotation(1, 5, "Maybe")])], "'Maybe'"),
        ({"detail": "Not found."}, "no answer"),
    ],
)
def test_what_is_no_export_of_these_tasks_is_refused_in_one_line(tasks: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadData, match=said):
        read_people(written(tmp_path / "export.json", tasks))


@pytest.mark.long
def test_people_stand_beside_a_detector_and_a_chat_model_on_what_they_annotated(serve: Any, tmp_path: Path) -> None:
    """Three people: the first always right by the role, the second always wrong, the third as the first."""
    run = tmp_path / "run"
    liescope.play("mini-mafia", games=60, players=["scripted:bold"], out=run)
    liescope.train("tfidf", run, out=tmp_path / "tfidf", folds=0)
    liescope.export(run, to="label-studio", out=tmp_path / "tasks")
    tasks = json.loads((tmp_path / "tasks" / "tasks.json").read_text())
    corpus = liescope.build(run, out=tmp_path / "corpus")
    rows = liescope.read(corpus.folder, "statements").filter(split="test").collect()
    lies = dict(rows.select("statement_id", "label_role").iter_rows())
    games = sorted(set(rows["game_id"]))[:3]
    done = []
    for one in tasks:
        lie = lies.get(one["data"]["statement_id"])
        if one["data"]["game_id"] in games and lie is not None:
            right, wrong = ("Deceptive", "Honest") if lie else ("Honest", "Deceptive")
            done.append(task(one["data"], [annotation(who, who, (right, wrong, right)[who]) for who in range(3)]))
    elsewhere = next(one for one in tasks if one["data"]["statement_id"] not in lies)
    done.append(task(elsewhere["data"], [annotation(0, 0, "Honest")]))
    wise = f"openai:wise@{serve(with_logprobs).url}"
    found = liescope.evaluate(
        tmp_path / "tfidf",
        run,
        split="test",
        people=written(tmp_path / "export.json", done),
        judge=wise,
        judge_limit=1,
        judge_cache=tmp_path / "cache",
    )
    assert any("1 annotated statements are not among those of test" in note for note in found.notes)
    judged = {(r.scorer, r.metric, r.against): r for r in found.rows if (r.where, r.target) == (JUDGED, "role")}
    values = {key: row.value for key, row in judged.items()}
    people = "observers:flags"
    assert values[people, "auroc", None] == 1
    assert judged[people, "auroc", None].statements == judged["tfidf", "auroc", None].statements == len(done) - 1
    # a chat model is asked first about what people judged
    assert judged["judge:wise", "auroc", None].games in (1, 2, 3)
    assert values["tfidf", "auroc_difference", people] == pytest.approx(values["tfidf", "auroc", None] - 1)
    assert [values[f"observer:person-{n}", "recall", None] for n in (1, 2, 3)] == [1, 0, 1]
    sections = {section.name: section for section in report(found).sections}
    assert sections["observers"].table is not None
    assert len(list(sections["observers"].table.rows())) == 3
    assert "Judged by people" in " ".join(sections["beside"].paragraphs)
