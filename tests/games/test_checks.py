"""A record that does not hold together is named with the place and the reason, and every fact is declared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from liescope.games.core import Assessment, EventKind, Reply
from liescope.games.facts import AssessmentData, EventData
from liescope.games.game_registry import game_options
from liescope.games.record import GameRecord
from liescope.games.record_checks import KINDS, NotARecord, check_record, check_reply
from tests.benchmark.random_play import judged, mini_mafia


@pytest.fixture(scope="module")
def game() -> GameRecord:
    return judged(mini_mafia("m", 1))


def changed(game: GameRecord, kind: EventKind, **facts: Any) -> GameRecord:
    """The game with its first event of a kind changed."""
    place = next(event.index for event in game.events if event.kind is kind)
    events = list(game.events)
    events[place] = replace(events[place], **facts)
    return replace(game, events=tuple(events))


@pytest.mark.parametrize(
    ("kind", "facts", "words"),
    [
        (EventKind.STATEMENT, {"actor": None}, "no actor"),
        (EventKind.STATEMENT, {"actor": "Zoe"}, "'Zoe' has no seat"),
        (EventKind.STATEMENT, {"index": 3}, "index"),
        (EventKind.STATEMENT, {"index": True}, "index"),
        (EventKind.STATEMENT, {"day": -1}, "is impossible"),
        (EventKind.STATEMENT, {"day": 1.0}, "day"),
        (EventKind.STATEMENT, {"text": None}, "text"),
        (EventKind.STATEMENT, {"audience": ("Zoe",)}, "audience"),
        (EventKind.STATEMENT, {"data": {"notes": [3]}}, "notes"),
        (EventKind.STATEMENT, {"data": {"claims": {}}}, "claims cannot be right"),
        (EventKind.STATEMENT, {"data": {"claims": [{"subject": "Bob"}]}}, "claims cannot be right"),
        (EventKind.STATEMENT, {"data": {"claims": [{"kind": "role", "verdict": "maybe"}]}}, "claims cannot be right"),
        (EventKind.STATEMENT, {"data": {"claims": [{"kind": "role", "start": 3, "end": 99}]}}, "span 3 to 99"),
        (EventKind.STATEMENT, {"data": {"claims": [{"kind": "role", "start": 3}]}}, "span 3 to None"),
        (EventKind.STATEMENT, {"data": {"claims": [{"kind": "role", "evidence": [9999]}]}}, "not there"),
        (EventKind.RATING, {"about": 0}, "refer to a statement"),
        (EventKind.RATING, {"about": 9999}, "not before it"),
        (EventKind.RATING, {"data": {}}, "assessment is missing"),
        (EventKind.RATING, {"data": {"assessment": {"suspicion": 1.5}}}, "assessment"),
        (EventKind.RATING, {"data": {"assessment": {"suspicion": float("nan")}}}, "assessment"),
        (EventKind.RATING, {"data": {"assessment": {"deceptive": 1}}}, "assessment"),
        (EventKind.VOTE, {"target": None}, "no target"),
        (EventKind.ARREST, {"data": {"tied": ["Zoe"]}}, "tied"),
        (EventKind.END, {"data": {}}, "winner is missing"),
    ],
)
def test_an_event_that_cannot_be_right_is_named(
    game: GameRecord, kind: EventKind, facts: dict[str, Any], words: str
) -> None:
    with pytest.raises(NotARecord, match=rf"event \d+ \({kind.value}\): .*{words}"):
        check_record(changed(game, kind, **facts))


@pytest.mark.parametrize(
    "facts",
    [
        {"game_id": ""},
        {"seed": 2**63},
        {"seed": True},
        {"seats": ()},
        {"outcome": None},
        {"meta": {"turn": "first"}},
        {"meta": {"lessons": [{"kind": "to_do", "text": "Lie.", "kept": True, "nearest": "x"}]}},
        {"meta": {"split": "dev"}},
        {"cell": 3},
    ],
)
def test_a_game_that_cannot_be_right_is_refused(game: GameRecord, facts: dict[str, Any]) -> None:
    with pytest.raises(NotARecord):
        check_record(replace(game, **facts))


@pytest.mark.parametrize(
    "facts",
    [
        {"choice": 3},
        {"text": ["a"]},
        {"problem": None},
        {"notes": (3,)},
        {"form": {"Ann": "villager"}},
        {"private": []},
        {"assessment": Assessment(confidence=2.0)},
        {"assessment": Assessment(**{"deceptive": "yes"})},
    ],
)
def test_a_reply_that_cannot_be_right_is_refused(facts: dict[str, Any]) -> None:
    with pytest.raises(NotARecord):
        check_reply(replace(Reply(text="a"), **facts))


GOLDEN = Path(__file__).parents[1] / "golden"


def test_every_kind_of_event_has_its_check_and_every_fact_that_a_game_logs_or_a_check_names_is_declared() -> None:
    assert set(KINDS) == set(EventKind)
    used, assessed, options = set(), set(), {option.name for option in game_options()}
    for file in GOLDEN.glob("*.jsonl"):
        for line in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            event = line.get("event", {})
            data = event.get("data", {})
            if event.get("kind") != "act":
                used |= data.keys() - (options if event.get("kind") == "setup" else set())
            assessed |= data.get("assessment", {}).keys()
    checked = {name for kind in KINDS.values() for name in kind.facts}
    assert used | checked <= EventData.__annotations__.keys()
    assert assessed == AssessmentData.__annotations__.keys()
