"""What a seat's open page is told, and when, tells the seat nothing that its view does not hold."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from liescope.games.core import Phase, Reply
from liescope.games.game_registry import find_game
from liescope.games.mafia.rules import MiniMafia
from liescope.games.session import Session
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.run_folder import plan_settings
from liescope.web.play.game_setup import make_setup, new_plan
from liescope.web.play.hosted_games import HostedGame, Hub
from liescope.web.play.seat_routes import SeatPage
from liescope.web.site import Forms


@pytest.mark.parametrize("game", ["mafia", "werewolf"])
def test_a_night_act_moves_the_pages_of_those_alone_whom_it_concerns(game: str, tmp_path: Path) -> None:
    done = asyncio.run(_night(game, tmp_path))
    assert done
    for act in done:
        assert act.saw <= act.told <= act.saw | act.asked
        assert len(act.told) < act.seats - 2, act  # most sleep


@dataclass(frozen=True, slots=True)
class Act:
    """One answer at night. told: the seats whose pages were told something; saw: those that can know of it; asked: who
    answered, and who is asked next; seats: how many there are.
    """

    kind: str
    told: set[str]
    saw: set[str]
    asked: set[str]
    seats: int


async def _night(game: str, folder: Path) -> list[Act]:
    """The acts of the first night of a game of people, but for the last, after which everybody wakes up."""
    hub = Hub(folder, Limits())
    hub.open()
    seats = len(find_game(game).resolve({}).seats())
    table = hub.add(make_setup(game, seats, words=60, choices=60))
    for number, name in enumerate(table.seats):
        table.take(name, f"Somebody {number}", "a text")
    acts: list[Act] = []
    request: Any = SimpleNamespace(app=SimpleNamespace(state=SimpleNamespace(forms=Forms(b"secret"))))
    pages = [SeatPage(request, name, table, name) for name in table.seats]
    while asked := await _asked(table):
        assert table.session is not None
        if table.session.asks[0].phase is not Phase.NIGHT:
            break
        waiting = table.desk.waiting(table.person(asked))
        assert waiting is not None
        before = {page.name: told_of(page) for page in pages}
        table.desk.answer(table.person(asked), Reply(choice=waiting.ask.options[0]))
        following = await _asked(table)
        assert following is not None
        after = {page.name: told_of(page) for page in pages}
        told = {name for name in before if before[name] != after[name]}
        saw = {name for name in before if before[name][0] != after[name][0]}
        if len(saw) < seats:
            acts.append(Act(waiting.ask.kind.value, told, saw, {asked, following}, seats))
    await hub.close()
    return acts


async def _asked(table: HostedGame) -> str | None:
    """Who is asked, once somebody is."""
    for _ in range(500):
        await asyncio.sleep(0.01)
        for name in table.seats:
            waiting = table.desk.waiting(table.person(name))
            if waiting is not None and not waiting.reply.done():
                return name
    return None


def told_of(page: SeatPage) -> tuple[int, str, str]:
    """All by which an open page learns that something has happened: its lines, its question, and itself."""
    return page.log(0)["last"], page.asked()["key"], page.shown


def test_the_drawn_first_night_kills_nobody_who_has_just_sat_down() -> None:
    """One of four such games was over for its only person before it had begun."""
    for _ in range(60):
        setup = make_setup("mini-mafia", 1)
        (seat,) = setup.people
        plan = new_plan(setup, {seat: "Ada"})
        assert plan_settings(json.loads(plan.model_dump_json()))["spared"] == "1"  # one condition, whoever sits where
        assert seat in Session(MiniMafia(plan.spec, plan.seed, "g")).game.alive


def test_a_seat_whose_person_did_not_come_is_not_spared() -> None:
    setup = make_setup("mini-mafia", 2)
    come, _ = setup.people
    assert new_plan(setup, {come: "Ada"}).spec.spared == (come,)
