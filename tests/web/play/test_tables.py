"""Games when several things happen at once, or something is broken, or their server is ended."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest

import liescope
from liescope.common.errors import PlayerFailed, RunPaused, UsageError
from liescope.games.core import Ask, Event, Reply
from liescope.games.record import Status
from liescope.games.script.persona import parse_spec
from liescope.generate.players.player_registry import PLAYERS
from liescope.generate.players.scripted import ScriptedPlayer
from liescope.generate.runs.run_folder import JOURNAL_FILE
from liescope.web.play.game_setup import State
from tests.web.play.person import said, sheets
from tests.web.play.seated import HARE, OTTER, get, only, playing, post, seated, server_of, told_nowhere
from tests.web.server import Server


def test_two_people_may_withdraw_at_the_same_moment(tmp_path: Path) -> None:
    async def game() -> None:
        async with server_of(tmp_path) as hub:
            table, names = seated(hub, 2)
            await asyncio.gather(*(playing(table, name) for name in names))
            both = [asyncio.create_task(table.withdraw(name)) for name in names]
            await asyncio.sleep(0)
            with pytest.raises(UsageError, match="withdrawn"):
                table.again()
            await asyncio.gather(*both)
            assert {table.person(name) for name in names} == {"withdrawn-1", "withdrawn-2"}
            assert table.note == ""

    asyncio.run(game())
    assert told_nowhere(tmp_path, OTTER, HARE)


def test_whoever_left_a_game_that_stopped_is_forgotten_once_its_host_closes_it(tmp_path: Path) -> None:
    async def game() -> None:
        async with server_of(tmp_path) as hub:
            table, names = seated(hub, 2)
            await asyncio.sleep(0.1)
            await table.close(RunPaused("an endpoint is silent"))
            table._put(State.PAUSED, "an endpoint is silent")
            await table.withdraw(names[0])
            assert table.person(names[0]) == OTTER, "the game may still go on"
            table.end()

    asyncio.run(game())
    assert told_nowhere(tmp_path, OTTER)


def test_a_table_whose_run_is_damaged_keeps_no_other_from_going_on(tmp_path: Path) -> None:
    async def first() -> list[str]:
        async with server_of(tmp_path) as hub:
            broken, _ = seated(hub, 2)
            whole, (name,) = seated(hub)
            await asyncio.sleep(0.1)
        (broken.run / JOURNAL_FILE).write_bytes(b"no journal")
        return [broken.id, whole.id, name]

    async def second(broken: str, whole: str, name: str) -> None:
        async with server_of(tmp_path) as hub:
            await playing(hub.hosted[whole], name)
            assert [hub.hosted[one].state for one in (whole, broken)] == [State.ENDED, State.PAUSED]
            assert JOURNAL_FILE in hub.hosted[broken].note

    asyncio.run(second(*asyncio.run(first())))


class Wayward(ScriptedPlayer):
    """A script that can answer nothing while it is told so."""

    silent = True

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        if self.silent:
            raise PlayerFailed("the line is dead")
        return await super().answer(ask, view)


def test_a_game_that_failed_waits_until_its_player_can_answer_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def game() -> None:
        async with server_of(tmp_path) as hub:
            table, names = seated(hub, 2)
            await asyncio.gather(*(playing(table, name) for name in names))
            assert table.state is State.PAUSED
            assert "the line is dead" in table.note
            monkeypatch.setattr(Wayward, "silent", False)
            table.resume()
            await asyncio.gather(*(playing(table, name) for name in names))
            assert table.state is State.ENDED
            record = table.record()
            assert record is not None
            assert record.status is Status.DONE

    monkeypatch.setitem(PLAYERS, "scripted", lambda words, context: Wayward(*parse_spec(words), context.game))
    asyncio.run(game())


def test_a_folder_has_one_server(tmp_path: Path) -> None:
    words = ["liescope", "serve", "--out", str(tmp_path / "out"), "--port", "{port}"]
    server = Server(words, tmp_path / "log")
    try:
        assert said(server, "host")
        with pytest.raises(UsageError, match="another process"):
            liescope.serve(tmp_path / "out", port=0)
    finally:
        server.stop()


def test_a_page_that_is_out_of_date_is_told_so_and_a_free_seat_shows_nothing(
    tmp_path: Path, serve: Callable[..., Server]
) -> None:
    words = ("liescope", "serve", "--out", str(tmp_path / "out"), "--game", "mini-mafia", "--people", "2")
    server = serve(*words, "--port", "{port}")
    mine, free = said(server, "seat")
    sheet = sheets(get(mine))[0]
    post(mine, sheet.action, {**sheet.fixed, "agree": "yes", "pseudonym": OTTER})
    asks = re.search(r'hx-get="([^"]*/ask[^"]*)"', get(mine))
    with urlopen(urljoin(mine, unescape(asks[1]))) as answer:
        assert (answer.status, answer.headers["HX-Refresh"]) == (204, None)
    (host,) = said(server, "host")
    start = next(one for one in sheets(get(host)) if one.action.endswith("/start"))
    assert post(host, start.action, start.fixed)[0] == 200
    with urlopen(urljoin(mine, unescape(asks[1]))) as answer:
        assert (answer.status, answer.headers["HX-Refresh"]) == (204, "true"), "the game has begun since"
    token = sheets(get(f"{mine}/withdraw"))[0].fixed
    assert post(mine, f"{mine}/here", dict(token)) == (204, ""), "somebody does something on the page"
    for page in ("log", "ask"):
        with pytest.raises(HTTPError, match="404"):
            get(f"{free}/{page}")
    assert "has started" in get(free)


def test_what_a_seat_sees_of_an_ended_game_is_what_it_saw_and_nothing_of_the_others(tmp_path: Path) -> None:
    """Also once the server has started again, and knows the game from its record alone."""

    async def first() -> dict[str, tuple[Event, ...]]:
        async with server_of(tmp_path) as hub:
            table, names = seated(hub, 2)
            seen: dict[str, tuple[Event, ...]] = {}

            def watched(name: str) -> Callable[[Ask], bool]:
                return lambda _: bool(seen.update({name: table.view(name)}))

            await asyncio.gather(*(playing(table, name, until=watched(name)) for name in names))
            assert table.state is State.ENDED
            record = table.record()
            assert any(event.audience is not None for event in record.events)
            assert any("private" in event.data for event in record.events)
            for name in names:
                after = table.view(name)
                assert after[: len(seen.get(name, ()))] == seen.get(name, ())
                assert not any({"private", "claims"} & event.data.keys() for event in after)
                heard = {event.index for event in record.events if event.audience is None or name in event.audience}
                assert {event.index for event in after} == heard
            return {name: table.view(name) for name in names}

    async def second(views: dict[str, tuple[Event, ...]]) -> None:
        async with server_of(tmp_path) as hub:
            assert {name: only(hub).view(name) for name in views} == views

    asyncio.run(second(asyncio.run(first())))


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGTERM,
        pytest.param(signal.SIGINT, marks=pytest.mark.long),
        pytest.param(signal.SIGHUP, marks=pytest.mark.long),
    ],
)
def test_a_table_is_left_in_order_and_its_links_stay(
    serve: Callable[..., Server], tmp_path: Path, number: signal.Signals
) -> None:
    words = ("liescope", "serve", "--out", str(tmp_path / "t"), "--game", "mini-mafia", "--port", "{port}")
    server = serve(*words)
    told = said(server, "seat"), said(server, "host")
    assert urlopen(f"{server.url}/").status == 200  # it listens a moment before it heeds signals
    server.process.send_signal(number)
    assert server.process.wait(20) == 128 + number
    assert "stopped: the same command goes on with every game, under the same links" in server.said()
    again = serve(*words, port=server.port)
    assert (said(again, "seat"), said(again, "host")) == told
