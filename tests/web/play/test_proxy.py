"""Behind a reverse proxy that shows the pages under a path of its own, which it passes on or leaves out."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from tests.web.play.host import said
from tests.web.play.person import sheets
from tests.web.play.test_people import get, post
from tests.web.server import Server, free_port

PREFIX = "/fun/games"
_ADDRESS = re.compile(r'(?:href|src|action|hx-get|hx-post)="([^"]+)"')


def test_pages_are_found_below_a_path_and_lead_nowhere_else(serve: Callable[..., Server], tmp_path: Path) -> None:
    port = free_port()
    public = f"http://127.0.0.1:{port}{PREFIX}"
    table = ("--game", "mini-mafia", "--people", "1", "--public", public)
    server = serve("liescope", "serve", "--out", str(tmp_path / "t"), "--port", "{port}", *table, port=port)
    (link,), (host,) = said(server, "seat"), said(server, "host")
    assert link.startswith(f"{public}/seat/")
    pages = [get(link), get(host), get(f"http://127.0.0.1:{port}{urlsplit(link).path.removeprefix(PREFIX)}")]
    assert "Take your seat" in pages[0]
    assert "Take your seat" in pages[2]
    taking = sheets(pages[0])[0]
    status, begun = post(link, taking.action, {**taking.fixed, "agree": "yes", "pseudonym": "Blue Otter"})
    assert (status, "You are <span" in begun) == (200, True)
    shown = {address for page in [*pages, begun] for address in _ADDRESS.findall(page) if address[0] not in "#d"}
    assert all(address.startswith((f"{PREFIX}/", f"{public}/seat/")) for address in shown)
    for address in (one for one in shown if "/static/" in one):
        with urlopen(f"http://127.0.0.1:{port}{address}") as answer:
            assert "immutable" in answer.headers["Cache-Control"]
    assert "open the link" in get(f"{public}/"), "for whoever comes without one, as below a Space's own address"
