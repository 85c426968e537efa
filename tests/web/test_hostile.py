"""Hostile strings, wherever pages show what somebody else wrote: all of it is text, and nothing fires.

A phone loads each page with the content security policy switched off, so that escaping alone has to hold; a desktop
loads it as it is, and must have nothing to complain about.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Error

import liescope
from liescope.common.text import plain
from liescope.games.core import EventKind
from liescope.generate.runs.journal import Journal
from tests.web.hostile import HOSTILE, make, shown_in
from tests.web.play.person import Host, said, sheets
from tests.web.server import Server

pytestmark = pytest.mark.slow
PATIENCE_S = 240
_TRAP = """(() => {
  const tell = (what) => window.caught(`${what} in ${location.href}`);
  window.fired = () => tell("a script");
  for (const name of ["alert", "confirm", "prompt"]) window[name] = () => tell(name);
  const look = () => {
    const evil = document.querySelector("[evil]");
    if (evil) tell(`markup: ${evil.outerHTML.slice(0, 200)}`);
  };
  window.lookAtAll = () => {
    look();
    for (const one of document.querySelectorAll("*")) for (const {name, value} of one.attributes) {
      if (name.startsWith("on") || name === "style" || name === "srcdoc" || /^hx-on|^data-hx/.test(name)
        || /^(href|src|action|formaction|xlink:href|hx-get|hx-post)$/.test(name)
          && /^[\\s\\x00-\\x20]*([a-z]*script:|(https?:)?[/][/]evil)/i.test(value)) tell(`attribute ${name}=${value}`);
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})()"""
_WORDS = """() => {
  const found = [document.title, document.documentElement.textContent];
  for (const one of document.querySelectorAll("*")) {
    for (const { value } of one.attributes) found.push(value);
    if (one.matches("input, textarea")) found.push(one.value);
  }
  return found.join(" \\n ");
}"""


class Watched:
    """A page that notices whatever a hostile string does. caught: what fired, and what was fetched from elsewhere."""

    def __init__(self, context: Any, origin: str) -> None:
        self.caught: list[str] = []
        context.expose_function("caught", lambda what: self.caught.append(what))
        context.add_init_script(_TRAP)
        context.on("request", lambda asked: None if asked.url.startswith(origin) else self.caught.append(asked.url))
        self.page = context.new_page()
        self.page.on("dialog", lambda dialog: (self.caught.append(dialog.message), dialog.dismiss()))

    def open(self, address: str) -> None:
        """Go there, also where the page is just loading itself again, as a seat's does when its table changes."""
        for tries in range(20):
            try:
                self.page.goto(address)
                break
            except Error as error:
                if tries == 19 or "interrupted by another navigation" not in str(error):
                    raise
                self.page.wait_for_timeout(200)
        self.page.wait_for_load_state("load")

    def shows(self, strings: Iterable[str] = ()) -> None:
        """Nothing has fired, nothing is wider than the screen, and the strings are there as words."""
        self.page.evaluate("lookAtAll()")
        assert self.caught == []
        there = _folded(self.page.evaluate(_WORDS))
        assert [one for one in strings if _folded(one) not in there] == []
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), self.page.url


def _folded(text: str) -> str:
    """Text whose spaces and lines do not matter, nor whether its odd characters are written as escapes; what no browser
    keeps, NUL and half characters, is left out.
    """
    return " ".join(re.sub("\0|\ufffd|\\\\x00", "", plain(text)).split())


@pytest.fixture
def watched(new_context: Callable[..., Any]) -> Callable[[str], list[Watched]]:
    """watched(origin): a phone without the pages' policy, and a desktop with it."""

    def pages(origin: str) -> list[Watched]:
        contexts = new_context(width=390, bypass_csp=True), new_context(width=1280, dark=True)
        return [Watched(context, origin) for context in contexts]

    return pages


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / "run"
    make(folder)
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def games(run: Path) -> list[Any]:
    with Journal.open(run) as journal:
        return list(journal.records())


@pytest.mark.long
def test_the_file(
    run: Path, tmp_path: Path, watched: Callable[[str], list[Watched]], expect: Callable[..., Any]
) -> None:
    many, single = tmp_path / "many.html", tmp_path / "one.html"
    records = games(run)
    liescope.view(run, out=many, permission=HOSTILE[0])
    liescope.view(run, records[1].game_id, out=single, permission=HOSTILE[0])
    phone, desktop = watched("file:")
    for one, seen in ((phone, records), (desktop, records[:1])):
        one.open(many.as_uri())
        one.shows([record.game_id for record in records])
        one.shows([seat.model for record in records for seat in record.seats])
        one.page.fill("#filter", f"model {HOSTILE[0]}")
        expect(one.page.locator("#list tbody tr:visible")).to_have_count(1)
        for number, record in enumerate(seen, 1):
            one.page.goto(f"{many.as_uri()}#g{number}")
            expect(one.page.locator("#top")).to_contain_text(plain(record.game_id))
            one.shows(shown_in(record))
        one.open(single.as_uri())
        one.shows(shown_in(records[1]))
        assert records[1].game_id in one.page.title()


def play_by_http(seats: Sequence[str], speeches: list[str]) -> None:
    """Everybody in these seats answers what they are asked, with these words as long as there are any."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        for link in seats:
            with urlopen(f"{link}/ask") as answer:
                asked = [one for one in sheets(answer.read().decode()) if one.action.endswith("/answer")]
            if not asked:
                continue
            given = {**asked[0].fixed, **{name: options[0] for name, options in asked[0].choices.items()}}
            for name in asked[0].words:
                given[name] = (speeches.pop() if speeches else "Nothing more.") if name == "text" else HOSTILE[0]
            given.pop("silent", None)
            with urlopen(Request(urljoin(link, asked[0].action), urlencode(given, errors="replace").encode())):
                pass
        with urlopen(seats[0]) as answer:
            if 'id="end"' in answer.read().decode():
                return
        time.sleep(0.02)
    raise AssertionError("the game did not end")


@pytest.mark.long
def test_a_table(
    tmp_path: Path, serve: Callable[..., Server], watched: Callable[[str], list[Watched]], complaints: list[str]
) -> None:
    server = serve("liescope", "serve", "--out", str(tmp_path / "out"), "--port", "{port}")
    seats = Host(said(server, "host")[0]).add("mini-mafia", 4, assess=True, message_limit="0")
    pages = watched(server.url)
    for number, (seat, one) in enumerate(zip(seats, [*pages, *pages], strict=True)):
        one.open(seat)
        one.page.evaluate("document.querySelector('#pseudonym').removeAttribute('maxlength')")
        one.page.fill("#pseudonym", HOSTILE[number])
        one.page.check("[name=agree]")
        with one.page.expect_navigation():
            one.page.get_by_role("button", name="Take").click()
        one.shows([HOSTILE[number]])
        assert "422" in complaints.pop()
        one.page.fill("#pseudonym", f"Person {number}")
        one.page.check("[name=agree]")
        with one.page.expect_navigation():
            one.page.get_by_role("button", name="Take").click()
    speeches = ["\n".join(HOSTILE[first : first + 40]) for first in range(0, len(HOSTILE), 40)]
    play_by_http(seats, speeches)
    (record,) = games(tmp_path / "out" / "table-1")
    statements = [event.text for event in record.events if event.kind is EventKind.STATEMENT]
    assert speeches == []
    for one in pages:
        one.page.wait_for_selector("#end")
        one.shows(statements)

    seen = liescope.view(tmp_path / "out" / "table-1")
    for one in watched("file:"):  # with what the server received, word by word, and the prompts
        one.open(seen.path.as_uri())
        one.page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
        one.shows(statements)
        assert one.page.locator("pre[aria-label='Raw reply']").count() > 3


@pytest.mark.long
def test_the_host(
    tmp_path: Path, serve: Callable[..., Server], watched: Callable[[str], list[Watched]], complaints: list[str]
) -> None:
    server = serve("liescope", "serve", "--out", str(tmp_path / "out"), "--port", "{port}")
    (host,) = said(server, "host")
    phone, desktop = watched(server.url)
    for one, last in ((phone, len(HOSTILE)), (desktop, 1)):
        one.open(f"{host}?game=mini-mafia")
        for first in range(0, last, 10):
            strings = [re.sub(r"[\r\n]", " ", text) for text in HOSTILE[first : first + 10]]
            one.page.fill("[name=players]", "\n".join(strings))
            one.page.fill("[name=filler]", strings[0])
            with one.page.expect_navigation():
                one.page.get_by_role("button", name="Make the game").click()
            one.shows(strings)
            assert "422" in complaints.pop()
