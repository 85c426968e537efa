"""Reasoning stays the speaker's own, wherever an endpoint puts it: in no other seat's prompt nor any table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.data_cards.tables import TABLES
from liescope.games.core import AskKind
from liescope.generate.runs.journal import Journal

SAID = '"I am a villager."'
ROWS = (Path(__file__).parent / "messages_with_reasoning.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("row", [json.loads(row) for row in ROWS], ids=lambda row: row["of"])
def test_the_speech_is_what_remains_when_the_reasoning_is_taken_out_and_reasoning_alone_is_never_said(
    serve, stubs, desk, asked, row: dict[str, Any]
) -> None:
    one = desk(f"tiny@{serve(stubs.says(**row['message'])).url}")
    (reply,) = one.ask(asked[AskKind.SPEAK])
    assert reply.text == ("I am a villager." if row["said"] else None)
    assert bool(reply.problem) is not row["said"]
    assert not row["said"] or reply.private == {"reasoning": "I lie."}


@pytest.mark.parametrize(
    "value", [7, True, {}, [], [[[[[["deep"]]]]]], [{"type": "thinking"}], {"text": {"text": {"text": {"text": {}}}}}]
)
def test_fields_of_another_shape_are_no_reasoning(serve, stubs, desk, asked, value: Any) -> None:
    stub = serve(stubs.says(SAID, reasoning=value, reasoning_details=value, thinking_blocks=value))
    (reply,) = desk(f"tiny@{stub.url}").ask(asked[AskKind.SPEAK])
    assert (reply.text, reply.private) == ("I am a villager.", {})


def test_reasoning_is_in_the_journal_in_no_prompt_and_in_columns_of_its_own(serve, stubs, tmp_path: Path) -> None:
    def script(request, number):
        mark = f"SECRET{number}."
        fields = ({"reasoning_content": mark}, {"reasoning_details": [{"type": "reasoning.text", "text": mark}]}, {})
        chosen = fields[number % 3]
        text = f'"Statement {number}. Alice did it."'
        if not chosen:
            return stubs.says([{"type": "thinking", "thinking": [{"type": "text", "text": mark}]}, {"text": text}])
        return stubs.says(text, **chosen)

    stub = serve(script)
    run, corpus = tmp_path / "run", tmp_path / "corpus"
    player = f"openai:tiny@{stub.url}?json=none"
    liescope.play("mini-mafia", players=[player], games=3, assess=True, out=run, preflight=False)
    assert len(stub.requests) > 20
    assert "SECRET" not in json.dumps([request.body for request in stub.requests])
    with Journal.open(run) as journal:
        kept = [reply.private for game in journal.game_ids() for reply in journal.answers(game).values()]
    assert len(kept) == len(stub.requests)
    assert all(private["reasoning"].startswith("SECRET") for private in kept)
    liescope.build([run], out=corpus)
    tables = {name: liescope.read(corpus, name).collect() for name in TABLES}
    assert "Statement 1" in tables["statements"].write_json()
    thought = {name: table["reasoning"].drop_nulls() for name, table in tables.items() if "reasoning" in table.columns}
    assert {name for name, column in thought.items() if len(column)} == {"statements", "calls", "events"}
    assert all(column.str.starts_with("SECRET").all() for column in thought.values())
    assert tables["statements"]["reasoning"].null_count() == 0
    rest = {name: table.drop("reasoning", strict=False).write_json() for name, table in tables.items()}
    assert not [name for name, rows in rest.items() if "SECRET" in rows]
