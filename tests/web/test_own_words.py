"""Each page tells what a game says in words of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import liescope
from liescope.games.core import EventKind
from liescope.games.narration import deed, lines
from liescope.web.play.game_setup import make_setup
from liescope.web.view.game_page import shown
from liescope.web.view.sources import open_games


@pytest.mark.parametrize(("name", "words"), [("two-truths", "guesses that"), ("deal", "decides: ")])
def test_every_page_tells_what_a_game_says_in_words_of_its_own(name: str, words: str, tmp_path: Path) -> None:
    liescope.play(name, players=["scripted:bold"], games=1, assess=True, out=tmp_path / "run")
    games = open_games(str(tmp_path / "run"))
    game = next(games.read(games.ids, with_calls=False))
    told = (EventKind.ACT, EventKind.CHOICE)
    said = {deed(event).rstrip(".") for event in game.record.events if event.kind in told and event.audience is None}
    assert any(words in one for one in said)
    moments = [one for part in shown(game)["sections"] for one in part["moments"] if one["kind"] == "happened"]
    assert said <= {one["words"].rstrip(".") for one in moments if one["saw"] is None}
    seen = [event for event in game.record.events if event.seen_by("Bob")]
    assert said <= {line.words.rstrip(".") for line in lines(seen, "Bob")}
    assert make_setup(name, 1).people
