"""A simulated host: makes tables over HTTP, as a browser on the host's page would."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import Request, urlopen

from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from tests.web.play.person import sheets
from tests.web.server import Server


def said(server: Server, what: str) -> list[str]:
    """The links of a kind that a server told when it began."""
    return re.findall(rf"^{what}: (\S+)", server.said(), re.MULTILINE)


class Host:
    """Whoever holds the host's link."""

    def __init__(self, link: str) -> None:
        self.link = link

    def page(self, query: str = "") -> str:
        with urlopen(self.link + query) as answer:
            return str(answer.read().decode())

    def add(self, game: str, people: int, assess: bool = False, **more: str) -> list[str]:
        """Make a table; returns the links of its seats for people."""
        before = set(self.links())
        sheet = next(sheet for sheet in sheets(self.page(f"?game={game}")) if sheet.action.endswith("/add"))
        given = {**sheet.fixed, "people": str(people), "words": "60", "choices": "60", **more}
        given |= {"players": "scripted:steady"} | ({"assess": "yes"} if assess else {})
        with urlopen(Request(urljoin(self.link, sheet.action), urlencode(given).encode())):
            return [link for link in self.links() if link not in before]

    def links(self) -> list[str]:
        """Of all seats."""
        found = [urlsplit(unescape(link)).path for link in re.findall(r'"([^"]*/seat/[\w-]+)"', self.page())]
        return [urljoin(self.link, path) for path in dict.fromkeys(found)]


def records(folder: Path) -> list[GameRecord]:
    """The ended games of a server's tables."""
    found = []
    for run in sorted(folder.glob("table-*")):
        with Journal.open(run) as journal:
            found += list(journal.records())
    return found
