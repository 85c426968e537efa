"""Games of the server in this process, whose people always say and choose something."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from random import Random
from urllib.error import HTTPError
from urllib.parse import urlencode, urljoin
from urllib.request import Request, urlopen

from liescope.games.core import Ask
from liescope.generate.players.run_limits import Limits
from liescope.web.play.game_setup import State, make_setup
from liescope.web.play.hosted_games import HostedGame, Hub
from tests.generate.runs.people import said

OTTER, HARE = PEOPLE = "Blue Otter", "Green Hare"


@asynccontextmanager
async def server_of(folder: Path) -> AsyncIterator[Hub]:
    """The games in a folder, from the start of their server to its end."""
    hub = Hub(folder, Limits())
    hub.open()
    yield hub
    await hub.close()


def seated(hub: Hub, people: int = 1) -> tuple[HostedGame, list[str]]:
    """A new game whose game has begun, and the seats of its people."""
    table = hub.add(make_setup("mini-mafia", people, ["scripted:steady"], {"assess": True}))
    for name, person in zip(table.seats, PEOPLE, strict=False):
        table.take(name, person, "a text")
    return table, list(table.seats)


def only(hub: Hub) -> HostedGame:
    (table,) = hub.hosted.values()
    return table


async def playing(table: HostedGame, name: str, until: Callable[[Ask], bool] = lambda _: False) -> None:
    """Answer for a person until the table stops, or an ask comes at which they stop answering."""
    for _ in range(4000):
        waiting = table.desk.waiting(table.person(name))
        if waiting is not None and not waiting.reply.done():
            if until(waiting.ask):
                return
            table.desk.answer(table.person(name), said(waiting.ask, table.person(name), Random(0)))
        if table.state not in (State.PLAYING, State.LOBBY):
            return
        await asyncio.sleep(0.005)
    raise AssertionError("the game went on for too long")


async def soon(true: Callable[[], bool]) -> None:
    """Wait until it is so."""
    for _ in range(1000):
        if true():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come to that")


def told_nowhere(folder: Path, *words: str) -> bool:
    """Whether no file below the folder holds any of the words."""
    held = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    return not any(one.encode() in held for one in words)


def post(base: str, action: str, given: dict[str, str]) -> tuple[int, str]:
    try:
        with urlopen(Request(urljoin(base, action), urlencode(given).encode())) as answer:
            return answer.status, unescape(answer.read().decode())
    except HTTPError as error:
        return error.code, unescape(error.read().decode())


def get(address: str) -> str:
    with urlopen(address) as answer:
        return str(answer.read().decode())
