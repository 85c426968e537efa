"""People beside a model whose endpoint is in trouble: its game waits, stops, and goes on with nothing lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.generate.players.openai.stub import Stub, fails, says
from tests.web.play.people import Person, links, play
from tests.web.server import Server


@pytest.mark.long
def test_the_host_reads_what_a_game_waits_for_and_goes_on_with_it(
    serve: Callable[..., Server], new_context: Callable[..., Any], expect: Callable[..., Any], tmp_path: Path
) -> None:
    well = threading.Event()
    busy = fails(429, "too many at once", {"Retry-After": "1"})
    stub = Stub(lambda _, number: says("I am a villager.") if well.is_set() or not number else busy)
    try:
        words = ("--game", "mini-mafia", "--people", "1", "--player", f"openai:m@{stub.url}", "--give-up-after", "4s")
        server = serve("liescope", "serve", "--out", str(tmp_path / "out"), *words, "--port", "{port}")
        told = links(server.said())
        host = new_context().new_page()
        host.goto(told["host"][0])
        tables = host.locator("#tables")
        person = Person(new_context(width=390).new_page(), told["seat"][0], "Only One")
        for _ in range(100):
            if "waits for" in tables.inner_text():
                break
            if person.state:
                person.answer()
            person.page.wait_for_timeout(100)
        expect(tables).to_contain_text("The game waits for 127.0.0.1")
        expect(tables).to_contain_text("too many at once")
        expect(tables).to_contain_text("The game is paused: ", timeout=20_000)
        expect(person.page.locator("main")).to_contain_text("The game is paused.")
        said = person.page.inner_text(".log")
        host.goto(f"{told['host'][0]}?game=mafia")
        host.get_by_role("button", name="Make the table").click()
        expect(tables.locator("section")).to_have_count(2)
        expect(tables.locator("section").first).to_contain_text("The game is paused: ")
        well.set()
        tables.get_by_role("button", name="Go on").click()
        play([person])
        assert person.page.inner_text(".log").startswith(said)
        expect(tables).to_contain_text("replies of programs could not be used", timeout=20_000)
    finally:
        stub.close()
