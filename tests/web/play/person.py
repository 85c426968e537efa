"""Simulated people and hosts: HTTP clients that do as a browser would; people keep every byte that they are sent."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from random import Random
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import Request, urlopen

import aiohttp

from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from tests.web.server import Server

OVER = "The game is over"
_TAG = re.compile(r"<(input|textarea|select|option|button|form)\b([^>]*)>")
_WORDS = ("table", "quiet", "morning", "maybe", "listen", "nobody", "wait", "strange", "vote", "trust")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A form of a page: the fields with a value of their own, what may be chosen in the others, those for words, and
    the names of its buttons.
    """

    action: str
    fixed: Mapping[str, str]
    choices: Mapping[str, list[str]]
    words: list[str]
    numbers: list[str]
    boxes: list[str]


def sheets(page: str) -> list[Sheet]:
    """The forms of a page."""
    found: list[Sheet] = []
    select = ""
    for tag, inside in _TAG.findall(page):
        given = {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', inside)}
        name, value, kind = given.get("name", ""), given.get("value", ""), given.get("type", "text")
        if tag == "form":
            found.append(Sheet(given.get("action", ""), {}, {}, [], [], []))
        elif not found or (not name and tag != "option"):
            continue
        elif tag == "input" and kind == "hidden":
            found[-1].fixed[name] = value  # type: ignore[index]
        elif (tag == "input" and kind == "radio") or (tag == "button" and name == "choice"):
            found[-1].choices.setdefault(name, []).append(value)  # type: ignore[attr-defined]
        elif tag == "input" and kind == "checkbox":
            found[-1].boxes.append(name)
        elif tag == "input" and kind in ("number", "range"):
            found[-1].numbers.append(name)
        elif tag == "select":
            select = name
        elif tag == "option" and value:
            found[-1].choices.setdefault(select, []).append(value)  # type: ignore[attr-defined]
        elif tag in ("input", "textarea"):
            found[-1].words.append(name)
    return found


@dataclass(slots=True)
class Received:
    """What came at once. before: whether the game was not over then, as far as this client could know."""

    data: bytes
    before: bool


@dataclass
class Person:
    """Somebody with a link. secrets: the words that this person types where only the record should hear them."""

    link: str
    name: str
    random: Random
    received: list[Received] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)
    seen: int = 0  # lines of the log so far
    over: bool = False
    shown: str = ""
    have: str = ""

    async def play(self) -> None:
        """Take the seat and play a game."""
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(240)) as self.session:
            page = await self.get()
            taking = sheets(page)[0]
            agreed = {**taking.fixed, **dict.fromkeys(taking.boxes, "yes"), **dict.fromkeys(taking.words, self.name)}
            await self.send(taking.action, agreed)
            await self._load()
            while not self.over:
                await self._look()
                await asyncio.sleep(0.02)
            await self.get()  # the roles are told

    async def _load(self) -> None:
        """The page as a whole: it knows by what it is told to load itself anew."""
        text = await self.get()
        shown, have = re.search(r"/ask\?shown=(\w+)", text), re.search(r'name="have" value="(\w+)"', text)
        self.shown, self.have = shown[1] if shown else "", have[1] if have else ""
        for sheet in sheets(text):
            if sheet.action.endswith("/answer"):
                await self._answer(sheet)

    async def _look(self) -> None:
        """What an open page does every second."""
        text = await self.get(f"/ask?have={self.have}&shown={self.shown}")
        if b"HX-Refresh" in self.received[-1].data:
            await self._load()
        for sheet in sheets(text):
            if sheet.action.endswith("/answer"):
                await self._answer(sheet)
        if have := re.search(r'name="have" value="(\w+)"', text):
            self.have = have[1]
        text = await self.get(f"/log?after={self.seen}")
        counted = re.search(r'name="after" value="(\d+)"', text)
        self.seen = int(counted[1]) if counted else self.seen

    async def _answer(self, sheet: Sheet) -> None:
        await self.send(sheet.action, self.filled(sheet), {"HX-Request": "true"})

    def filled(self, sheet: Sheet) -> dict[str, str]:
        given = dict(sheet.fixed)
        for name, options in sheet.choices.items():
            given[name] = self.random.choice(options)
        for name in sheet.numbers:
            given[name] = str(self.random.randint(0, 100))
        for name in sheet.words:
            if name == "text":
                given[name] = " ".join(self.random.choices(_WORDS, k=8))
            else:
                self.secrets.append(f"cnry{self.random.getrandbits(60):x}")
                given[name] = self.secrets[-1]
        return given

    async def get(self, path: str = "") -> str:
        async with self.session.get(self.link + path) as answer:
            return await self._read(answer)

    async def send(self, action: str, given: Mapping[str, str], headers: Mapping[str, str] | None = None) -> str:
        async with self.session.post(urljoin(self.link, action), data=given, headers=headers) as answer:
            return await self._read(answer)

    async def _read(self, answer: aiohttp.ClientResponse) -> str:
        data = await answer.read()
        head = b"".join(b"%s: %s\n" % pair for pair in answer.raw_headers)
        self.received.append(Received(head + data, not self.over))
        self.over |= OVER.encode() in data
        self.statuses.add(answer.status)
        return data.decode()


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
        """Make a game; returns the links of its seats for people."""
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
    """The ended games of a server."""
    found = []
    for run in sorted(folder.glob("table-*")):
        with Journal.open(run) as journal:
            found += list(journal.records())
    return found
