"""The list of games in a real browser."""

from __future__ import annotations

import re
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from liescope import cli
from tests.web.server import Server
from tests.web.view.conftest import Played


@pytest.fixture(scope="module")
def server(mini_mafia: Played, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Shows the run."""
    folder = tmp_path_factory.mktemp("view")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        words = ("liescope", "view", str(mini_mafia.run), "0")
        server = Server([*words, "--port", "{port}"], folder / "log")
    yield server
    server.process.send_signal(signal.SIGINT)
    assert server.process.wait(60) == 0  # Ctrl-C ends it cleanly
    assert "Traceback" not in server.said()


def test_filters_change_the_list_without_loading_the_page_and_work_without_a_script(
    server: Server, new_context: Callable[..., Any], expect: Callable[..., Any]
) -> None:
    shown: dict[bool, list[str]] = {}
    for script in (True, False):
        page = new_context(java_script_enabled=script).new_page()
        page.goto(server.url)
        if script:
            expect(page.locator("#list tbody tr")).to_have_count(12)
            page.evaluate("window.kept = true")
        page.get_by_label("Won by").select_option("mafia")
        if not script:
            page.get_by_role("button", name="Apply").click()
        expect(page).to_have_url(re.compile("winner=mafia"))
        expect(page.locator("#list td[data-label='Won by']").filter(has_text="town")).to_have_count(0)
        shown[script] = page.locator("#list tbody th a").all_inner_texts()
        if script:
            assert page.evaluate("window.kept") is True
    assert shown[True] == shown[False] != []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_fit_their_screen(width: int, server: Server, new_context: Callable[..., Any]) -> None:
    page = new_context(width=width, dark=width < 500).new_page()
    for path in ("/", "/?winner=nobody"):
        page.goto(server.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_games_are_found_and_opened_by_keyboard(
    server: Server, new_context: Callable[..., Any], expect: Callable[..., Any]
) -> None:
    page = new_context().new_page()
    page.goto(server.url)
    expect(page.locator("#list tbody tr")).to_have_count(12)
    page.keyboard.press("/")
    page.keyboard.type("detective")
    expect(page).to_have_url(re.compile("words=detective"))
    page.keyboard.press("Escape")
    for key in ("j", "j", "k", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Mini")
    assert page.url.startswith(f"{server.url}/games/")


def test_a_game_under_way_is_linked_and_listed_when_it_ends(
    mini_mafia: Played,
    serve: Callable[..., Server],
    new_context: Callable[..., Any],
    expect: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = shutil.copytree(mini_mafia.run, tmp_path / "run")
    with sqlite3.connect(run / "journal.sqlite") as base:
        ended = base.execute("SELECT * FROM games WHERE number = 3").fetchone()
        base.execute("DELETE FROM games WHERE number = 3")
    server = serve("liescope", "view", str(run), "--port", "{port}")
    page = new_context().new_page()
    page.goto(server.url)
    expect(page.locator("#list tbody tr")).to_have_count(11)
    page.locator(".begun").get_by_role("link", name=ended[1]).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Mini")
    page.go_back()
    with sqlite3.connect(run / "journal.sqlite") as base:
        base.execute(f"INSERT INTO games VALUES ({', '.join('?' * len(ended))})", ended)
    expect(page.locator("#list tbody tr")).to_have_count(12, timeout=30_000)  # it looks every few seconds
    expect(page.locator(".begun")).to_have_count(0)


def test_the_first_game_of_a_run_appears_by_itself(
    mini_mafia: Played,
    serve: Callable[..., Server],
    new_context: Callable[..., Any],
    expect: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = shutil.copytree(mini_mafia.run, tmp_path / "run")
    with sqlite3.connect(run / "journal.sqlite") as base:
        ended = base.execute("SELECT * FROM games").fetchall()
        base.executescript("DELETE FROM games; CREATE TABLE kept AS SELECT * FROM replies; DELETE FROM replies")
    page = new_context().new_page()
    page.goto(serve("liescope", "view", str(run), "--port", "{port}").url)
    expect(page.locator("#list")).to_contain_text("There is no game yet")
    with sqlite3.connect(run / "journal.sqlite") as base:
        base.execute("INSERT INTO replies SELECT * FROM kept")
        base.executemany(f"INSERT INTO games VALUES ({', '.join('?' * len(ended[0]))})", ended)
    expect(page.locator("#list tbody tr")).to_have_count(12, timeout=30_000)
    expect(page.get_by_label("Won by")).to_be_visible()


def test_the_address_of_a_game_is_told(server: Server) -> None:
    assert re.search(rf"{server.url}/games/\S+-000000\n", server.said())


def test_what_cannot_be_served_is_said_in_one_line(
    mini_mafia: Played, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words, said in (
        ([str(tmp_path)], "no run, no corpus and no report"),
        ([str(mini_mafia.run), "no-such-game"], "unknown game"),
        ([str(mini_mafia.run), "--host", "0.0.0.0"], "everybody who reaches this machine can read"),
        ([str(mini_mafia.run), "--detector", "tfidf"], "give them with --scores"),
    ):
        assert cli.main(["view", *words, "--port", "0"]) == 1
        assert said in capsys.readouterr().err
