"""Silences, drawn choices and lost words: what is counted, of what."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from liescope.benchmark.analyses.frames import Frames, load_frames
from liescope.games.core import EventKind
from liescope.games.record import DRAWN
from liescope.labeling.label import CUT_TEXT, LOST_TEXT
from tests.benchmark.analyses.made import made, table_of
from tests.benchmark.random_play import mini_mafia, werewolf

cut_statements = table_of("cut_statements")
mishaps = table_of("mishaps")
statement_lengths = table_of("statement_lengths")


def test_silences_and_drawn_votes_are_those_of_the_events() -> None:
    records = [mini_mafia("a", seed) for seed in range(30)]
    events = [event for record in records for event in record.events]
    frames = load_frames(records)
    found = mishaps(frames).with_columns(count=pl.col("mean") * pl.col("n"))
    of = {kind: (count, n) for kind, count, n in found.group_by("kind").agg(pl.col("count", "n").sum()).iter_rows()}
    silent = sum(event.kind is EventKind.SILENCE for event in events)
    assert 0 < of["silent turns"][0] == pytest.approx(silent)
    assert frames.turns.height == silent + sum(event.kind is EventKind.STATEMENT for event in events)
    drawn = sum(event.kind is EventKind.VOTE and bool(event.fallback) for event in events)
    assert 0 < of["drawn votes"][0] == pytest.approx(drawn)
    assert "drawn night acts" not in of, "Mini-Mafia's nights are drawn by its rules, not for an unusable reply"


def test_only_choices_that_a_player_was_asked_for_can_be_left_to_the_rules() -> None:
    night = {"game": "mafia", "act": "kill", "actor": "Bob", "actor_role": "mafioso"}
    frames = made(
        nights=[
            {**night, "game_id": "g1", "drawn": True, "fallback": DRAWN},
            {**night, "game_id": "g2", "drawn": True, "fallback": "no name in the reply"},
            {**night, "game_id": "g3", "drawn": False, "fallback": ""},
        ]
    )
    (row,) = mishaps(frames).to_dicts()
    assert (row["kind"], row["role"], row["mean"], row["n"]) == ("drawn night acts", "mafioso", 0.5, 2)


def test_what_never_happened_is_left_out() -> None:
    frames = load_frames([werewolf("a", 1, assess=False)])
    quiet = frames.votes.with_columns(drawn=pl.lit(False))
    assert "drawn votes" not in set(mishaps(replace(frames, votes=quiet))["kind"])


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
