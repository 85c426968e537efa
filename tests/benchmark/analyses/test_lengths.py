"""Lengths of statements, and words that were lost: what is counted, of what."""

from __future__ import annotations

from liescope.benchmark.analyses.frames import Frames
from liescope.labeling.label import CUT_TEXT, LOST_TEXT
from tests.benchmark.analyses.made import made, table_of

cut_statements = table_of("cut_statements")
statement_lengths = table_of("statement_lengths")


def said(*statements: dict[str, object]) -> Frames:
    base = {"game": "mafia", "speaker_role": "villager", "truncated": False, "read_notes": []}
    return made(
        statements=[
            {**base, "game_id": f"g{at % 2}", "statement_id": f"s{at}", **statement}
            for at, statement in enumerate(statements)
        ]
    )


def test_lengths_are_of_what_was_heard_and_losses_of_all_that_was_said() -> None:
    frames = said(
        {"text": "x" * 10},
        {"text": "x" * 20},
        {"text": "x" * 60, "truncated": True},
        {"text": "\\", "read_notes": [LOST_TEXT]},
        {"text": "x" * 30, "read_notes": [CUT_TEXT, "another note"]},
    )
    (row,) = statement_lengths(frames).to_dicts()
    assert (row["mean"], row["median"], row["longest"], row["n"]) == (30, 25, 60, 4)
    losses = {row["loss"]: (row["mean"], row["n"]) for row in cut_statements(frames).to_dicts()}
    assert losses == {
        "cut at the limit": (0.2, 5),
        "seems cut by its source": (0.2, 5),
        "lost": (0.2, 5),
    }
    assert cut_statements(said({"text": "whole"})).is_empty()
