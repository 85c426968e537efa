"""Games that people play in a real browser, by keyboard alone, and what a seat's page tells and hides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liescope.games.record import GameRecord, Source, Status
from liescope.generate.runs.journal import Journal
from tests.web.play.people import Person, play, play_until
from tests.web.play.person import said
from tests.web.server import Server


def record_of(run: Path) -> GameRecord:
    with Journal.open(run) as journal:
        (record,) = journal.records()
    return record


@pytest.mark.long
def test_a_person_plays_werewolf_through_a_killed_server(
    serve: Callable[..., Server],
    new_context: Callable[..., Any],
    expect: Callable[..., Any],
    complaints: list[str],
    tmp_path: Path,
) -> None:
    out = str(tmp_path / "out")
    server = serve("liescope", "serve", "--out", out, "--port", "{port}")
    (host,) = said(server, "host")
    page = new_context().new_page()
    page.goto(f"{host}?game=werewolf")
    page.get_by_text("Options of").click()
    for name, value in (("debate_turns", 2), ("defence_turns", 1), ("days", 1)):
        page.fill(f"[name={name}]", str(value))
    page.check("[name=assess]")
    page.get_by_role("button", name="Make the game").click()
    link = page.locator(".links input").input_value()
    person = Person(new_context(width=390).new_page(), link, "Only One")
    typing = person.page.locator("#ask [name=reason], #ask textarea")
    state = play_until(person, ("rate", "speak"))
    if state != "end":  # they may have died in the night
        typing.fill("a draft")
    assert complaints == []
    server.kill()
    again = serve("liescope", "serve", "--out", out, "--port", "{port}", port=server.port)
    person.page.reload()
    complaints.clear()  # that the server was gone
    if state != "end":
        expect(typing).to_have_value("a draft")
        typing.fill("")
        person.page.reload()
    play([person])
    record = record_of(tmp_path / "out" / "table-1")
    assert record.status is Status.DONE
    (seat,) = (seat for seat in record.seats if seat.source is Source.HUMAN)
    own = [event for event in record.events if event.actor == seat.name and not event.fallback]
    assert [event.text for event in own if event.text] == person.said
    assert not [event for event in record.events if event.fallback]
    assert said(again, "host") == [host]


@pytest.mark.long
def test_whoever_sends_an_answer_without_a_connection_sees_that_it_is_lost_and_keeps_the_words(
    serve: Callable[..., Server],
    new_context: Callable[..., Any],
    expect: Callable[..., Any],
    complaints: list[str],
    tmp_path: Path,
) -> None:
    words = ("--game", "one-night-werewolf", "--people", "1", "--port", "{port}")
    (seat,) = said(serve("liescope", "serve", "--out", str(tmp_path / "out"), *words), "seat")
    context = new_context(width=390)
    person = Person(context.new_page(), seat, "Only One")
    assert play_until(person, ("speak",)) == "speak"
    person.page.wait_for_selector(
        "#ask form :focus"
    )  # the page has its script: without it, browsers send forms themselves
    context.set_offline(True)
    person.page.fill("#text", "a word that stays")
    person.page.get_by_role("button", name="Say it").click()
    expect(person.page.locator("#lost")).to_be_in_viewport(ratio=1)
    context.set_offline(False)
    expect(person.page.locator("#lost")).to_be_hidden()
    expect(person.page.locator("#text")).to_have_value("a word that stays")
    person.page.get_by_role("button", name="Say it").click()
    expect(person.page.locator(".log")).to_contain_text("a word that stays")
    complaints.clear()  # that there was no connection


@pytest.mark.long
def test_a_covered_seat_tells_nothing_of_its_player_until_it_is_uncovered(
    serve: Callable[..., Server], new_context: Callable[..., Any], expect: Callable[..., Any], tmp_path: Path
) -> None:
    words = ("--game", "one-night-werewolf", "--people", "1", "--port", "{port}")
    (seat,) = said(serve("liescope", "serve", "--out", str(tmp_path / "out"), *words), "seat")
    page = new_context(width=390).new_page()
    person = Person(page, seat, "Only One")
    assert play_until(person, ("speak",)) == "speak"
    page.fill("#text", "a word that stays")
    name = page.locator("h1 span").inner_text()
    page.get_by_role("button", name="Cover the players").click()
    for _ in range(2):  # also when the page is loaded again
        assert page.locator("main").inner_text().split("\n") == [
            "Uncover Your seat, your role and the players are covered. The game goes on, and so does your time."
        ]
        assert name not in page.title()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.reload()
    page.get_by_role("button", name="Uncover").click()
    expect(page.locator("h1")).to_contain_text(name)
    expect(page.locator("#text")).to_have_value("a word that stays")
    assert name in page.title()
    page.reload()
    expect(page.locator("h1")).to_be_visible()
