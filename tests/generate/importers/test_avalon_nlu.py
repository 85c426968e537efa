"""Avalon-NLU's games: the chat, what the table saw, and the annotators' view of what evil players said."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from liescope.games.core import Event, EventKind, Outcome, Phase
from liescope.games.record import GameRecord, Source, Status
from liescope.games.record_checks import check_record
from liescope.generate.importers import Rejected, read_games
from liescope.generate.importers.avalon_nlu import TYPES
from liescope.labeling.label import NOT_ASKED, NOT_STATED, label_game
from tests.generate.importers.avalon_game import CHAT, SYSTEM, game, write_games


def read(file: Path) -> list[GameRecord | Rejected]:
    return list(read_games("avalon-nlu", file))


def of(game: GameRecord, kind: EventKind) -> list[Event]:
    return [event for event in game.events if event.kind is kind]


@pytest.fixture
def avalon(tmp_path: Path) -> GameRecord:
    (found,) = read(write_games(tmp_path / "games.jsonl", [game()]))
    assert isinstance(found, GameRecord)
    return found


def test_a_game_is_a_record_with_people_at_the_table(avalon: GameRecord) -> None:
    check_record(avalon)
    assert {(seat.model, seat.source) for seat in avalon.seats} == {("human", Source.HUMAN)}
    assert {seat.role for seat in avalon.seats if not seat.deceives} == {"merlin", "percival", "servant"}
    assert {seat.role for seat in avalon.seats if seat.deceives} == {"morgana", "assassin"}
    assert avalon.outcome == Outcome("evil", ("player-5", "player-6"), "the assassin identified merlin", 2)


def test_the_chat_and_what_the_table_saw_are_in_order(avalon: GameRecord) -> None:
    told = [event for event in avalon.events if event.kind in (EventKind.STATEMENT, EventKind.ACT)]
    assert [(event.actor or SYSTEM, event.text, event.day, event.round) for event in told] == list(CHAT)
    assert [event.phase for event in told].count(Phase.VOTING) == 3
    assert of(avalon, EventKind.VOTE) == [], "a vote on a party is no vote for a player"
    assert [event.day for event in of(avalon, EventKind.DAY)] == [1, 2, 3]


def test_beliefs_are_the_players_own_and_stand_where_they_were_given(avalon: GameRecord) -> None:
    first, second = of(avalon, EventKind.ROLES_NAMED)
    assert (first.actor, first.audience, first.data["roles"]) == ("player-1", ("player-1",), {"player-6": ["morgana"]})
    assert "judge" not in first.data
    assert avalon.events[second.index + 1].text == "I trust player-5."


def test_what_the_annotators_say_is_a_rating_of_the_evil_players_only(avalon: GameRecord) -> None:
    labels = label_game(avalon)
    assert {row.text: (row.label_peer, row.peer_type) for row in labels.statements if row.label_role} == {
        "Fine by me, I am good.": (True, "omission"),
        "No reason to say no.": (True, "persuasive_manipulation"),
        "It must have been player-1.": (True, "fabrication"),
    }
    assert all(row.label_gold for row in labels.statements if row.label_role)
    good = [row for row in labels.statements if not row.label_role]
    assert {(row.label_gold, row.label_gold_null) for row in good} == {(None, NOT_STATED)}
    assert {(row.label_peer, row.label_peer_null, row.label_self) for row in good} == {(None, NOT_ASKED, None)}
    assert {(row.observer, row.observer_role, row.observer_model) for row in labels.ratings} == {
        ("annotators", "", "annotators")
    }
    assert [row.reason for row in labels.ratings] == ["omission", "influence", "commission"]
    assert {row.null for row in labels.ratings} == {"confidence, suspicion not asked"}


def test_a_game_without_its_end_has_failed_and_one_without_annotations_has_no_ratings(tmp_path: Path) -> None:
    cut = {**game(), "messages": dict(list(game()["messages"].items())[:8])}
    del cut["persuasion"]
    (found,) = read(write_games(tmp_path / "games.jsonl", [cut]))
    assert (found.status, found.outcome) == (Status.FAILED, None)
    assert (of(found, EventKind.RATING), "judge" in found.meta) == ([], False)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"users": {"1": {"name": "A", "role": "jester"}, "2": {"name": "B", "role": "merlin"}}}, "is a 'jester'"),
        ({"persuasion": {"1": {"mid": "m3", "persuasion": "x", "deception": "fib"}}}, "deception"),
        ({"messages": {"1": {"player": "who", "msg": "?", "mid": "m", "quest": 1, "turn": 1}}}, "not in the game"),
    ],
)
def test_a_game_that_does_not_fit_is_rejected(change: dict[str, Any], reason: str, tmp_path: Path) -> None:
    good, bad = read(write_games(tmp_path / "games.jsonl", [game(1), {**game(2), **change}]))
    assert isinstance(good, GameRecord)
    assert reason in bad.reason


def test_the_published_annotations_are_all_there(shared_data: Path) -> None:
    """432 of the 2,405 rows name a deception; 21 rows say once more what another says of the same message."""
    file = shared_data / "avalon_nlu" / "games.jsonl.gz"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        raw = [json.loads(line) for line in lines]
    rows = [(game["game_id"], row) for game in raw for row in game["persuasion"].values()]
    assert len(rows) == 2405
    assert sum(row["deception"] is not None for _, row in rows) == 432
    distinct = {(game_id, row["mid"]): row["deception"] for game_id, row in rows}
    assert all(distinct[game_id, row["mid"]] == row["deception"] for game_id, row in rows), "repeats agree"

    games = [game for game in read(file) if isinstance(game, GameRecord)]
    assert len(games) == len(raw) == 20
    for game_ in games:
        check_record(game_)
    statements = [event for game_ in games for event in of(game_, EventKind.STATEMENT)]
    own = Counter(event.data["private"]["deception"] for event in statements)
    assert own == Counter(distinct.values()) == {None: 1956, "influence": 189, "commission": 157, "omission": 82}
    ratings = [row for game_ in games for row in label_game(game_).ratings]
    assert Counter(row.flag for row in ratings) == {True: 428, False: 283}
    assert Counter(row.type for row in ratings if row.flag) == {TYPES[k].value: n for k, n in own.items() if k}
    assert sum(len(of(game_, EventKind.ROLES_NAMED)) for game_ in games) == 485
    assert Counter(game_.outcome.winner for game_ in games if game_.outcome) == {"evil": 13, "good": 7}
    said = Counter(m["msg"] for game_ in raw for m in game_["messages"].values() if m["player"] == SYSTEM)
    assert Counter(event.text for game_ in games for event in of(game_, EventKind.ACT)) == said
