"""Endpoints side by side: a dead or slow one holds no game that can do without it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from liescope.common.errors import EndpointSilent
from liescope.games.record import Status
from liescope.generate.players.openai import pace
from liescope.generate.players.player_protocol import Activity
from liescope.generate.runs.job import MOST_ASIDE, Scheduler
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import RunResult, play
from tests.generate.runs.limited_server import Fault, LimitedServer

Serve = Callable[..., LimitedServer]
DEAD = Fault(500)


@pytest.fixture(autouse=True)
def _short_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PROBE", 0.05)
    monkeypatch.setattr(pace, "LONGEST_PROBE", 0.2)
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.FIRST_WAIT", 0.01)


def run(out: Path, *servers: LimitedServer, **options: object) -> RunResult:
    """Each server's model plays games with itself alone."""
    players = [f"openai:{name}@{server.url}" for name, server in zip(("one", "two"), servers, strict=False)]
    return play("mini-mafia", out=out, players=players, design="self", preflight=False, max_fallbacks=1, **options)


def test_games_of_a_dead_endpoint_stand_aside_and_go_on_when_it_is_back(serve: Serve, tmp_path: Path) -> None:
    """With places for two games for each endpoint, the live one's games all end while the other is down."""
    live = serve()
    dead = serve(fault=lambda seconds, body: DEAD if live.answered < 9 * 10 else None)
    result = run(tmp_path / "run", dead, live, games=10, concurrency=2)
    assert result.complete
    assert (live.answered, dead.answered) == (9 * 10, 9 * 10)
    assert dead.refused[500] < 100  # one request at a time tried it


@pytest.mark.long
def test_an_endpoint_that_stays_dead_stops_the_run_after_all_games_that_can_do_without_it(
    serve: Serve, tmp_path: Path
) -> None:
    live, dead = serve(latency=0.1), serve(fault=lambda seconds, body: DEAD)
    result = run(tmp_path / "run", dead, live, games=10, concurrency=4, give_up_after="0.5s")
    assert isinstance(result.tally.stop, EndpointSilent)
    assert (result.tally.done, result.tally.failed) == (10, 0)
    assert live.answered == 9 * 10
    dead.behaviour.fault = lambda seconds, body: None
    assert run(tmp_path / "run", dead, live, games=10, concurrency=4).complete
    with Journal.open(tmp_path / "run") as journal:
        assert {game.status for game in journal.records()} == {Status.DONE}
    assert (live.answered, dead.answered) == (9 * 10, 9 * 10)


def test_an_endpoint_given_up_ends_the_run_at_once_if_no_other_is_left(serve: Serve, tmp_path: Path) -> None:
    dead = serve(fault=lambda seconds, body: DEAD if dead.answered >= 20 else None)
    result = run(tmp_path / "run", dead, games=100, give_up_after="0.5s")
    assert isinstance(result.tally.stop, EndpointSilent)


# The scheduler alone


class Planned(str):
    @property
    def game_id(self) -> str:
        return str(self)

    @property
    def number(self) -> int:
        return 0


def scheduler_of(activity: Activity, *games: str, most: int = 100) -> Scheduler:
    """Games named by the hosts that they need."""
    known = {host for game in games for host in game.split("+")}
    return Scheduler(([Planned(game)] for game in games), lambda game: game.split("+"), known, activity, most)


def begun(scheduler: Scheduler) -> list[str]:
    found = []
    while (one := scheduler.next()) is not None:
        found.append(one[0][0])
    return found


def test_a_game_begins_when_every_host_that_it_needs_has_room() -> None:
    activity = Activity()
    for host in ("a", "b"):
        activity.at(host).limit = 4
    scheduler = scheduler_of(activity, *["a"] * 6, *["a+b"] * 8, *["b"] * 6)
    assert begun(scheduler) == ["a"] * 6 + ["b"] * 6  # a tenth more than the limit, and one
    scheduler.look()
    activity.at("a").under_way = activity.at("b").under_way = 4
    assert begun(scheduler) == ["a+b"] * 2
    activity.at("b").paused = True
    scheduler.look()
    activity.at("a").under_way = 0
    assert begun(scheduler) == []


def test_a_host_that_is_down_is_given_one_game_and_one_that_is_gone_none() -> None:
    activity = Activity()
    activity.at("a").limit = activity.at("b").limit = 16
    activity.at("a").paused = True
    scheduler = scheduler_of(activity, *["a"] * 3, "b")
    assert begun(scheduler) == ["a", "b"]
    scheduler.gone.add("a")
    activity.at("a").paused = False
    scheduler.ended(frozenset("a"))
    assert begun(scheduler) == []
    scheduler.ended(frozenset("b"))
    assert scheduler.empty


def test_what_stands_aside_is_bounded_and_the_plan_is_read_no_further_than_needed() -> None:
    activity = Activity()
    activity.at("a").limit = activity.at("b").limit = 1
    read = []

    def chains() -> Iterator[list[Planned]]:
        for number in range(10**9):
            read.append(number)
            yield [Planned("a")]

    alone = Scheduler(chains(), str.split, {"a"}, activity, 100)
    assert len(begun(alone)) == 3
    assert len(read) == 3
    read.clear()
    beside = Scheduler(chains(), str.split, {"a", "b"}, activity, 100)
    assert len(begun(beside)) == 3
    assert len(read) == MOST_ASIDE + 3
