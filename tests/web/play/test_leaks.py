"""No byte that a seat is sent tells what the seat may not know. A real server plays whole games of simulated people,
ten at a time, and all that each of them was sent is searched.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source
from liescope.generate.runs.journal import Journal
from tests.web.play.hidden import leaks
from tests.web.play.person import Host, Person, records, said
from tests.web.server import Server

CLIENTS = 10
TABLES = (  # game, people, assessed; one after the other
    *(("mini-mafia", 4, True), ("deal", 3, False), ("werewolf", 2, False), ("mafia", 3, True)),
    *(("one-night-werewolf", 3, False), ("two-truths", 2, True), ("deal", 2, True)),
    *(("mini-mafia", 3, False), ("mini-mafia", 2, True), ("mafia", 5, False), ("one-night-werewolf", 3, True)),
    *(("mini-mafia", 4, True), ("mini-mafia", 4, False), ("werewolf", 4, True), ("cheat", 3, True)),
)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("games", [2, pytest.param(len(TABLES), marks=pytest.mark.long)])
def test_no_byte_tells_a_seat_what_it_may_not_know(serve: Callable[..., Server], tmp_path: Path, games: int) -> None:
    out = tmp_path / "tables"
    server = serve("liescope", "serve", "--out", str(out), "--port", "{port}")
    (link,) = said(server, "host")
    played = asyncio.run(_evening(Host(link), games))
    server.stop()
    found = {record.game_id: record for record in records(out)}
    assert len(found) == games
    caught = 0
    for folder, people in played.items():
        with Journal.open(out / folder) as journal:
            (record,) = journal.records()
            numbers = [str(journal.plan["seed"]), str(record.seed)]
        seats = {one.model: one.name for one in record.seats if one.source is Source.HUMAN}
        for person in people:
            before = [each.data for each in person.received if each.before]
            assert person.statuses <= {200, 204}, (person.statuses, server.said())
            others = [one for one in people if one is not person]
            strings = [text for one in others for text in [one.name, one.link.rpartition("/")[2], *one.secrets]]
            strings += [*numbers, record.game_id, folder, link.rpartition("/")[2], "scripted:", "human:", str(out)]
            assert leaks(before, seats[person.name], record, strings) == []
            assert before  # how many messages there are depends on how fast the table goes on
            for one in others:  # what another seat was sent is caught, wherever the two know different things
                theirs = [each.data for each in one.received if each.before]
                assert leaks(theirs, seats[person.name], record, [one.link.rpartition("/")[2]])
                caught += bool(leaks(theirs, seats[person.name], record, []))
        _saw_their_own(record, people, seats)
    assert caught >= games


async def _evening(host: Host, games: int) -> dict[str, list[Person]]:
    """Play so many games, with so many people at a time; returns who sat at which game."""
    random = Random(12)
    free = asyncio.Semaphore(CLIENTS)
    making, joining = asyncio.Lock(), asyncio.Lock()
    played: dict[str, list[Person]] = {}

    async def one(number: int) -> None:
        game, people, assess = TABLES[number]
        async with joining:
            for _ in range(people):
                await free.acquire()
        async with making:
            links = await asyncio.to_thread(host.add, game, people, assess)
            at = played[f"table-{len(played) + 1}"] = [
                Person(link, f"Cana{random.getrandbits(40):x}", Random(random.random())) for link in links
            ]
        await asyncio.wait_for(asyncio.gather(*(person.play() for person in at)), 300)
        for _ in range(people):
            free.release()

    await asyncio.gather(*map(one, range(games)))
    return played


def _saw_their_own(record: GameRecord, people: list[Person], seats: dict[str, str]) -> None:
    """What was searched for is there, in the words of the pages, where it may be."""
    for person in people:
        data = b"".join(each.data for each in person.received)  # the last words may come with the end
        seat = seats[person.name]
        assert record.seat(seat).role.encode() in data
        for event in record.events:
            if event.kind is EventKind.INVESTIGATION and event.actor == seat:
                assert b"You investigated " + str(event.target).encode() in data
            if event.kind is EventKind.STATEMENT and event.audience is None and "'" not in event.text:
                assert event.text.split("\n")[0].encode() in data
