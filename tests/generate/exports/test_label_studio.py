"""Tasks for Label Studio: what a reader is shown, and the ids that lead back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from liescope.games.core import EventKind
from liescope.games.record import GameRecord
from liescope.generate.exports import export
from liescope.generate.runs.journal import Journal


def exported(run: Path, out: Path, **options: Any) -> tuple[list[dict[str, Any]], dict[str, GameRecord]]:
    """The data of the tasks, and the games by id."""
    export(run, to="label-studio", out=out, **options)
    with Journal.open(run) as journal:
        records = {record.game_id: record for record in journal.records()}
    return [task["data"] for task in json.loads((out / "tasks.json").read_text())], records


def told(task: dict[str, Any]) -> str:
    return "\n".join(f"{line['author']}: {line['text']}" for line in task["so_far"])


def test_from_outside_every_public_statement_is_asked_with_all_that_was_said_before_and_no_secret(
    scripted: Path, tmp_path: Path
) -> None:
    tasks, records = exported(scripted, tmp_path / "out")
    assert len(tasks) == sum(e.kind is EventKind.STATEMENT for r in records.values() for e in r.events)
    for task in tasks:
        record = records[task["game_id"]]
        at = int(task["statement_id"].removeprefix(f"{record.game_id}:"))
        said = record.events[at]
        assert (said.kind, said.actor, said.text) == (EventKind.STATEMENT, task["speaker"], task["statement"])
        before = [(e.actor, e.text) for e in record.events[:at] if e.kind is EventKind.STATEMENT]
        assert [(line["author"], line["text"]) for line in task["so_far"] if line["author"]] == before
        assert "The role of" not in told(task)
        assert "investigat" not in "".join(line["text"] for line in task["so_far"] if not line["author"])
        assert not any(seat.model in json.dumps(task) for seat in record.seats)


def test_a_seat_sees_what_it_knew_and_is_not_asked_about_its_own_words(scripted: Path, tmp_path: Path) -> None:
    tasks, records = exported(scripted, tmp_path / "out", view="detective")
    for task in tasks:
        (me,) = (seat.name for seat in records[task["game_id"]].seats if seat.role == "detective")
        assert task["speaker"] != me
        assert f"The role of {me}: detective." in told(task)
        assert f"{me} investigates" in told(task)
        assert told(task).count("The role of") == 1


def test_a_view_that_no_game_has_gives_nothing(scripted: Path, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="in a game without such a role or seat"):
        exported(scripted, tmp_path / "out", view="pope")


def test_the_configuration_shows_what_the_tasks_hold(scripted: Path, tmp_path: Path) -> None:
    tasks, _ = exported(scripted, tmp_path / "out")
    tree = ElementTree.parse(tmp_path / "out" / "labeling-config.xml")
    shown = {value[1:] for one in tree.iter() if (value := one.get("value", "")).startswith("$")}
    assert shown == {"so_far", "speaker", "statement"} <= set(tasks[0])
    (choices,) = tree.iter("Choices")
    assert choices.get("toName") in {one.get("name") for one in tree.iter("Text")}
    assert [one.get("value") for one in choices] == ["Deceptive", "Honest"]
