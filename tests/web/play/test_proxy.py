"""Behind a reverse proxy that shows the pages under a path of its own."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from urllib.request import urlopen

import pytest

from tests.web.play.host import Host, said
from tests.web.play.person import Person
from tests.web.server import Server, free_port

PREFIX = "/fun/games"
_ADDRESS = re.compile(r'(?:href|src|action|hx-get|hx-post)="([^"]+)"')


@pytest.mark.parametrize("how", ["strip", "keep"])
def test_people_play_below_a_path(serve: Callable[..., Server], tmp_path: Path, how: str) -> None:
    port = free_port()
    public = f"http://127.0.0.1:{port}{PREFIX}"
    table = ("--game", "mini-mafia", "--people", "2", "--public", public)
    server = serve("liescope", "serve", "--out", str(tmp_path / "t"), "--port", "{port}", *table)
    serve("tests.web.play.proxy", "{port}", str(server.port), PREFIX, how, port=port)
    links = said(server, "seat")
    (host,) = said(server, "host")
    assert all(link.startswith(f"{public}/") for link in (*links, host))
    people = [Person(link, f"Somebody {at}", Random(at)) for at, link in enumerate(links)]

    async def play() -> None:
        await asyncio.wait_for(asyncio.gather(*(person.play() for person in people)), 120)

    asyncio.run(play())
    assert people[0].statuses <= {200, 204}
    assert b"Thank you for playing" in people[0].received[-1].data
    pages = [each.data.decode() for each in people[0].received if b"<html" in each.data] + [Host(host).page()]
    shown = {address for page in pages for address in _ADDRESS.findall(page) if address[0] not in "#d"}
    assert {address for address in shown if address.startswith("/static/")} == set()
    assert all(address.startswith((f"{PREFIX}/", f"{public}/seat/")) for address in shown)
    for address in (one for one in shown if "/static/" in one):
        with urlopen(f"http://127.0.0.1:{port}{address}") as answer:
            assert "immutable" in answer.headers["Cache-Control"]
    with urlopen(f"{public}/") as front:
        assert "open the link" in front.read().decode(), "for whoever comes without one, as below a Space's own address"
