"""A scripted judge of a frozen game of Mafia: it rates every statement and names roles from what each seat knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from liescope.games.core import Event, EventKind
from liescope.games.judging import JudgeSpec, Judging
from liescope.games.mafia import MINI_MAFIA, MafiaSpec
from liescope.games.session import drive, start

Play = Callable[..., Any]
TABLES = {"mini": MINI_MAFIA, "two mafiosos": MafiaSpec(2, 1, 4), "two detectives": MafiaSpec(1, 2, 3)}


@pytest.fixture(params=TABLES)
def judged(request: pytest.FixtureRequest, play: Play, player: Any, answer: Any) -> list[tuple[dict[str, str], Event]]:
    """(true roles, event) of every judgement of 25 games."""
    judge = player("steady")

    def events() -> Iterator[tuple[dict[str, str], Event]]:
        for seed in range(25):
            played = play(seed, spec=TABLES[request.param])
            session = start(partial(Judging, played.record, JudgeSpec(share=0.3, roles=True), judge.model))
            drive(session, partial(answer, judge))
            yield from ((played.game.roles, event) for event in session.events if "judge" in event.data)

    return list(events())


def test_every_judgement_is_usable(judged: list[tuple[dict[str, str], Event]]) -> None:
    assert {event.kind for _, event in judged} == {EventKind.SELF_REPORT, EventKind.RATING, EventKind.ROLES_NAMED}
    assert not [event for _, event in judged if event.fallback]


def test_named_roles_fit_the_table_and_beat_chance(judged: list[tuple[dict[str, str], Event]]) -> None:
    right = chance = named = 0.0
    for roles, event in judged:
        if event.kind is not EventKind.ROLES_NAMED:
            continue
        said = {name: role for name, (role,) in event.data["roles"].items()}
        truth = {name: roles[name] for name in said}
        assert Counter(said.values()) == Counter(truth.values())
        if roles[event.actor or ""] == "mafioso":
            assert all(said[name] == "mafioso" for name, role in truth.items() if role == "mafioso")
        right += sum(said[name] == truth[name] for name in said)
        chance += sum(count * count for count in Counter(truth.values()).values()) / len(truth)
        named += len(said)
    assert right / named > chance / named + 0.1
