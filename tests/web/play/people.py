"""People in a game, who use nothing but the keyboard."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from playwright.sync_api import Error

PATIENCE_S = 240
_STATE = """() => {
  if (document.querySelector("#end")) return ["end", ""];
  const form = document.querySelector("#ask form:not([inert])");
  return form ? [form.querySelector("[name=deceptive]") ? "rate" : form.querySelector(".steps") ? "bid"
    : form.querySelector("[name=choice]") ? "choose" : "speak", form.dataset.key] : ["", ""];
}"""


class Person:
    """Somebody with a page. said: the words that they have sent."""

    def __init__(self, page: Any, link: str, name: str) -> None:
        self.page = page
        self.said: list[str] = []
        self._last = ""
        page.goto(link)
        self.press("#pseudonym", name)
        for key in ("Tab", "Space", "Tab", "Enter"):
            page.keyboard.press(key)
        page.wait_for_selector("#pseudonym", state="detached")

    @property
    def state(self) -> str:
        """What the page wants: "speak", "choose", "bid" or "rate"; "end" once roles are told, "" to wait."""
        state, key = self._look()
        return "" if key and key == self._last else state

    def answer(self) -> None:
        """Answer what is asked. The focus is where the answer is given: nothing is clicked."""
        (state, self._last), keys = self._look(), self.page.keyboard
        self.page.wait_for_selector("#ask form :focus")
        if state == "rate":
            peer = self.page.locator("[name=suspicion]").count()
            for key in ("ArrowRight", "Tab", "7", *(("Tab", "3") if peer else ()), "Enter"):  # no, sure, suspects
                keys.press(key)
        elif state == "bid":
            keys.press("4")
            keys.press("Enter")
        else:
            if state == "choose":
                keys.press("Space")
            if self.page.locator("#text").count():
                words = f"These are words number {len(self.said)} & <b>bold</b>."
                keys.press("Tab") if state == "choose" else None
                keys.type(words)
                keys.press("Control+Enter")
                self.said.append(words)
            else:
                keys.press("Enter")
        self.page.wait_for_selector(f"#ask form:not([inert])[data-key='{self._last}']", state="detached")

    def _look(self) -> tuple[str, str]:
        try:
            state, key = self.page.evaluate(_STATE)
        except Error:  # the page is being loaded anew
            return "", ""
        return state, key

    def press(self, field: str, words: str) -> None:
        """Go to a field and type."""
        self.page.locator(field).focus()
        self.page.keyboard.type(words)


def play(people: Sequence[Person]) -> None:
    """Everybody answers what they are asked, until the game has ended."""
    for states in _changes(people):
        if all(state == "end" for state in states):
            return
        for person, state in zip(people, states, strict=True):
            if state not in ("", "end"):
                person.answer()
    raise AssertionError(f"the game did not go on: {[person.page.inner_text('body') for person in people]}")


def play_until(person: Person, states: Sequence[str]) -> str:
    """Somebody answers until they are in one of these states, or the game has ended; returns which."""
    for (state,) in _changes([person]):
        if state in (*states, "end"):
            return state
        if state:
            person.answer()
    raise AssertionError(f"nothing was asked: {person.page.inner_text('body')}")


def _changes(people: Sequence[Person]) -> Iterator[tuple[str, ...]]:
    """What each is asked, again and again, until nothing has changed for a long time: a game may take as long as it
    takes, on a busy machine too.
    """
    seen, since = None, time.monotonic()
    while time.monotonic() < since + PATIENCE_S:
        states = tuple(person.state for person in people)
        now = states, [person.page.locator("li").count() for person in people]
        if now != seen:
            seen, since = now, time.monotonic()
        yield states
