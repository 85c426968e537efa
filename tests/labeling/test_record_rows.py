"""A record goes into rows and comes out again, whatever is in it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.facts import EventData, GameMeta
from liescope.games.record import GameRecord, Seat, Source, Status, record_to_json
from liescope.games.record_checks import NotARecord
from liescope.labeling.record_rows import event_rows, game_row, record_of

NAMES = ("Ann", "Bob", "Cy")
_words = st.text(st.sampled_from('aB é\n\t"\\{}[]:,\x00\u2028\U0001f43a'), max_size=8)
_plain = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-1, 1) | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=5,
)
_facts = st.dictionaries(st.sampled_from(["other", "thing", "said"]), _plain, max_size=2)
_name = st.sampled_from(NAMES)


def _event(index: int, draw: st.DrawFn) -> Event:
    return Event(
        index,
        draw(st.sampled_from([EventKind.ACT, EventKind.NIGHT, EventKind.STATEMENT])),
        draw(st.integers(0, 9)),
        draw(st.sampled_from(Phase)),
        draw(st.integers(0, 9)),
        draw(_name),
        draw(st.none() | _name),
        draw(_words),
        draw(st.none() | st.integers(0, index - 1)) if index else None,
        draw(st.none() | st.lists(_name, unique=True).map(tuple)),
        draw(_words),
        cast(EventData, draw(_facts)),
    )


@st.composite
def games(draw: st.DrawFn) -> GameRecord:
    """Any game that a record can hold, finished or not, of rules that nobody knows."""
    seats = tuple(
        Seat(name, draw(_words), draw(_words), draw(st.none() | st.booleans()), draw(_words), Source.IMPORTED)
        for name in NAMES
    )
    outcome = Outcome(draw(_words), tuple(draw(st.lists(_name, unique=True))), draw(_words), draw(st.integers(0, 9)))
    failed = draw(st.booleans())
    return GameRecord(
        "game-1",
        "parlour",
        draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        draw(_words),
        seats,
        tuple(_event(index, draw) for index in range(draw(st.integers(0, 4)))),
        Status.FAILED if failed else Status.DONE,
        draw(st.none() | st.just(outcome)) if failed else outcome,
        draw(_words) if failed else "",
        cast(GameMeta, draw(_facts)),
    )


def rows_of(record: GameRecord) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return asdict(game_row(record, "run")), [asdict(row) for row in event_rows(record)]


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(games())
def test_rows_of_a_record_make_that_record(record: GameRecord) -> None:
    again = record_of(*rows_of(record))
    assert again == record
    assert json.dumps(record_to_json(again)) == json.dumps(record_to_json(record))


RECORD = GameRecord(
    "game-1",
    "parlour",
    None,
    "",
    tuple(Seat(name, "guest", "", None, "x", Source.IMPORTED) for name in NAMES),
    (Event(0, EventKind.STATEMENT, 1, Phase.DISCUSSION, actor="Ann", text="Good evening."),),
    Status.DONE,
    Outcome("", (), "", 1),
)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("kind", "a kind that is none"),
        ("phase", "lunch"),
        ("actor", "Zoe"),
        ("audience", ["Zoe"]),
        ("index", 7),
        ("about", 0),
        ("day", -1),
        ("payload", "[]"),
        ("payload", "{"),
        ("payload", "[" * 100_000),
        ("payload", '{"private": 1}'),
        ("meta", "7"),
        ("meta", '{"turn": "x"}'),
        ("status", "lost"),
        ("winners", ["Zoe"]),
        ("reason", None),
    ],
)
def test_rows_that_make_no_game_are_refused(column: str, value: object) -> None:
    game, (event,) = rows_of(RECORD)
    row = game if column in game and column not in event else event
    row[column] = value
    with pytest.raises(NotARecord):
        record_of(game, [event])


def test_addresses_of_endpoints_do_not_go_out() -> None:
    meta = {"settings": {"player": "openai:x@http://10.0.0.1:8000/v1"}}
    record = replace(RECORD, status=Status.FAILED, failure="http://10.0.0.1:8000/v1 is down", meta=meta)
    assert "10.0.0.1" not in json.dumps(rows_of(record))
