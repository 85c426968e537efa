"""Tables when several things happen at once, or something is broken."""

from __future__ import annotations

import asyncio
import re
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
from liescope.games.script.persona import parse_spec
from liescope.generate.players.player_registry import PLAYERS
from liescope.generate.players.run_limits import Limits
from liescope.generate.players.scripted import ScriptedPlayer
from liescope.generate.runs.run_folder import JOURNAL_FILE
from liescope.web.play.all_tables import Hub
from liescope.web.play.people_table import PeopleTable
from liescope.web.play.table_setup import make_setup
from liescope.web.play.tables_file import State
from tests.web.play.host import said
from tests.web.play.person import sheets
from tests.web.play.test_people import OTTER, get, held, playing, post
from tests.web.server import Server

HARE = "Green Hare"


def opened(folder: Path) -> tuple[Hub, PeopleTable, list[str]]:
    """A table with two people, whose game has begun."""
    hub = Hub(folder, Limits())
    hub.open()
    table = hub.add(make_setup("mini-mafia", 2))
    names = list(table.seats)
    for name, person in zip(names, (OTTER, HARE), strict=True):
        table.take(name, person, "a text")
    return hub, table, names


def test_two_people_may_withdraw_at_the_same_moment(tmp_path: Path) -> None:
    async def game() -> None:
        hub, table, names = opened(tmp_path)
        await asyncio.gather(*(playing(table, name) for name in names))
        both = [asyncio.create_task(table.withdraw(name)) for name in names]
        await asyncio.sleep(0)
        with pytest.raises(UsageError, match="withdrawn"):
            table.again()
        await asyncio.gather(*both)
        assert {table.person(name) for name in names} == {"withdrawn-1", "withdrawn-2"}
        assert table.note == ""
        await hub.close()

    asyncio.run(game())
    assert not any(name.encode() in held(tmp_path) for name in (OTTER, HARE))


def test_whoever_left_a_game_that_stopped_is_forgotten_once_its_host_closes_it(tmp_path: Path) -> None:
    async def game() -> None:
        hub, table, names = opened(tmp_path)
        await asyncio.sleep(0.1)
        await table.close(RunPaused("an endpoint is silent"))
        table._put(State.PAUSED, "an endpoint is silent")
        await table.withdraw(names[0])
        assert table.person(names[0]) == OTTER, "the game may still go on"
        table.end()
        await hub.close()

    asyncio.run(game())
    assert OTTER.encode() not in held(tmp_path)


def test_a_table_whose_run_is_damaged_keeps_no_other_from_going_on(tmp_path: Path) -> None:
    async def first() -> list[str]:
        hub, broken, _ = opened(tmp_path)
        whole = hub.add(make_setup("mini-mafia", 1))
        (name,) = whole.seats
        whole.take(name, OTTER, "a text")
        await asyncio.sleep(0.1)
        await hub.close()
        (broken.run / JOURNAL_FILE).write_bytes(b"no journal")
        return [broken.id, whole.id, name]

    async def second(broken: str, whole: str, name: str) -> None:
        hub = Hub(tmp_path, Limits())
        hub.open()
        await playing(hub.tables[whole], name)
        assert hub.tables[whole].state is State.ENDED
        assert hub.tables[broken].state is State.PAUSED
        assert JOURNAL_FILE in hub.tables[broken].note
        await hub.close()

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
        hub, table, names = opened(tmp_path)
        await asyncio.gather(*(playing(table, name) for name in names))
        assert table.state is State.PAUSED
        assert "the line is dead" in table.note
        monkeypatch.setattr(Wayward, "silent", False)
        table.resume()
        await asyncio.gather(*(playing(table, name) for name in names))
        assert table.state is State.ENDED
        assert table.over
        await hub.close()

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
    assert asks is not None
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
        hub, table, names = opened(tmp_path)
        seen: dict[str, tuple[Event, ...]] = {}

        def watched(name: str) -> Callable[[Ask], bool]:
            def look(_ask: Ask) -> bool:
                seen[name] = table.view(name)
                return False

            return look

        await asyncio.gather(*(playing(table, name, until=watched(name)) for name in names))
        assert table.state is State.ENDED
        record = table.record()
        assert record is not None
        assert any(event.audience is not None for event in record.events)
        assert any("private" in event.data for event in record.events)
        for name in names:
            after = table.view(name)
            assert after[: len(seen.get(name, ()))] == seen.get(name, ())
            assert not any({"private", "claims"} & event.data.keys() for event in after)
            shown = {event.index for event in after}
            assert shown == {event.index for event in record.events if event.audience is None or name in event.audience}
        views = {name: table.view(name) for name in names}
        await hub.close()
        return views

    async def second(views: dict[str, tuple[Event, ...]]) -> None:
        hub = Hub(tmp_path, Limits())
        hub.open()
        (table,) = hub.tables.values()
        assert {name: table.view(name) for name in views} == views
        await hub.close()

    asyncio.run(second(asyncio.run(first())))
