"""Games that people play to their end in a real browser, by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from liescope.games.core import EventKind
from liescope.games.record import GameRecord, Source, Status
from liescope.generate.runs.journal import Journal
from tests.web.play.people import Person, links, play, play_until
from tests.web.server import Server


def record_of(run: Path) -> GameRecord:
    with Journal.open(run) as journal:
        (record,) = journal.records()
    return record


def test_four_people_play_mini_mafia_to_the_end(
    serve: Callable[..., Server], new_context: Callable[..., Any], tmp_path: Path
) -> None:
    words = ("--game", "mini-mafia", "--people", "4", "--port", "{port}")
    server = serve("liescope", "serve", "--out", str(tmp_path / "out"), *words)
    seats = links(server.said())["seat"]
    pages = [new_context(width=390 if turn % 2 else 1280, dark=turn > 1).new_page() for turn in range(4)]
    people = [Person(page, seat, f"Person {turn}") for turn, (page, seat) in enumerate(zip(pages, seats, strict=True))]
    play(people)
    record = record_of(tmp_path / "out" / "table-1")
    assert record.status is Status.DONE
    assert {seat.source for seat in record.seats} == {Source.HUMAN}
    statements = [event.text for event in record.events if event.kind is EventKind.STATEMENT]
    assert sorted(statements) == sorted(words for person in people for words in person.said)
    for person in people:
        shown = person.page.inner_text("main")
        assert all(words in shown for words in statements)
        assert all(seat.role in shown for seat in record.seats)
        assert not person.page.title().startswith("(your turn)")
        assert person.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_person_plays_werewolf_through_a_killed_server(
    serve: Callable[..., Server],
    new_context: Callable[..., Any],
    expect: Callable[..., Any],
    complaints: list[str],
    tmp_path: Path,
) -> None:
    out = str(tmp_path / "out")
    server = serve("liescope", "serve", "--out", out, "--port", "{port}")
    (host,) = links(server.said())["host"]
    page = new_context().new_page()
    page.goto(f"{host}?game=werewolf")
    page.get_by_text("Options of").click()
    for name, value in (("debate_turns", 2), ("defence_turns", 1), ("days", 1)):
        page.fill(f"[name={name}]", str(value))
    page.check("[name=assess]")
    page.get_by_role("button", name="Make the table").click()
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
    assert links(again.said())["host"] == [host]


def test_the_same_command_opens_no_second_table(serve: Callable[..., Server], tmp_path: Path) -> None:
    words = ("--game", "mini-mafia", "--people", "2", "--port", "{port}", "--out", str(tmp_path / "out"))
    server = serve("liescope", "serve", *words)
    before = links(server.said())
    server.stop()
    assert links(serve("liescope", "serve", *words, port=server.port).said()) == before
