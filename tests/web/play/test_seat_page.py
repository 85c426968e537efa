"""A seat's page tells somebody who knows nothing: what is played, what their answer has done, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.web.play.people import Person, links, play, play_until
from tests.web.server import Server


@pytest.mark.long
def test_a_newcomer_reads_rules_first_and_the_result_last(
    serve: Callable[..., Server], new_context: Callable[..., Any], expect: Callable[..., Any], tmp_path: Path
) -> None:
    words = ("--game", "one-night-werewolf", "--people", "2", "--port", "{port}")
    seats = links(serve("liescope", "serve", "--out", str(tmp_path / "out"), *words).said())["seat"]
    pages = [new_context(width=390).new_page() for _ in seats]
    pages[0].goto(seats[0])
    expect(pages[0].locator("main")).to_contain_text("This is a game of One-night werewolf for 5 players.")
    pages[0].goto(f"{seats[0]}/take")  # as after a name that was refused, and a click into the address
    expect(pages[0]).to_have_url(seats[0])
    people = [Person(page, seat, f"Person {turn}") for turn, (page, seat) in enumerate(zip(pages, seats, strict=True))]
    for page in pages:
        expect(page.locator("h1")).to_be_in_viewport()
        expect(page.locator("#role details")).to_have_attribute("open", "")
    for turn in range(40):  # they talk, and may look at a card; then the first of them votes
        if all(person.page.locator("#ask button", has_text="Vote").count() for person in people):
            break
        people[turn % 2].page.wait_for_timeout(100)
        if people[turn % 2].state and not people[turn % 2].page.locator("#ask button", has_text="Vote").count():
            people[turn % 2].answer()
    people[0].answer()
    expect(pages[0].locator("#ask")).to_contain_text("Your answer is in.")
    play(people)
    for page in pages:
        expect(page.locator("#end")).to_be_in_viewport()
        expect(page.locator("#end")).to_be_focused()
        expect(page.locator(".end")).to_contain_text(re.compile("You (won|lost)"))
        expect(page.locator(".log")).to_contain_text("Votes: ")


def test_whoever_sends_an_answer_without_a_connection_sees_that_it_is_lost_and_keeps_the_words(
    serve: Callable[..., Server],
    new_context: Callable[..., Any],
    expect: Callable[..., Any],
    complaints: list[str],
    tmp_path: Path,
) -> None:
    words = ("--game", "one-night-werewolf", "--people", "1", "--port", "{port}")
    (seat,) = links(serve("liescope", "serve", "--out", str(tmp_path / "out"), *words).said())["seat"]
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


def test_a_covered_seat_tells_nothing_of_its_player_until_it_is_uncovered(
    serve: Callable[..., Server], new_context: Callable[..., Any], expect: Callable[..., Any], tmp_path: Path
) -> None:
    words = ("--game", "one-night-werewolf", "--people", "1", "--port", "{port}")
    (seat,) = links(serve("liescope", "serve", "--out", str(tmp_path / "out"), *words).said())["seat"]
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
