"""Each page tells what a game says in words of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

import liescope
from liescope.games.core import EventKind
from liescope.games.game_registry import GAMES
from liescope.games.narration import lines
from liescope.games.playable import PlayableGame
from liescope.web.play.game_setup import make_setup
from liescope.web.view.game_page import shown
from liescope.web.view.sources import open_games

ROOT = Path(__file__).parents[2]


@pytest.fixture
def two_truths(monkeypatch: pytest.MonkeyPatch) -> PlayableGame:
    """The game of the guide: its guesses are public, and neither votes on players nor anything that Liescope knows."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "two_truths"))
    from two_truths import GAME

    game: PlayableGame = GAME
    monkeypatch.setitem(GAMES, game.name, game)
    return game


def test_every_page_tells_what_a_game_says_in_words_of_its_own(two_truths: PlayableGame, tmp_path: Path) -> None:
    liescope.play(two_truths.name, players=["scripted:bold"], games=1, assess=True, out=tmp_path / "run")
    games = open_games(str(tmp_path / "run"))
    game = next(games.read(games.ids, with_calls=False))
    acts = [event for event in game.record.events if event.kind is EventKind.ACT and event.audience is None]
    said = {f"{event.actor or ''} {event.text}".strip() for event in acts}
    assert any("guesses that" in words for words in said)
    moments = [one for part in shown(game)["sections"] for one in part["moments"] if one["kind"] == "happened"]
    assert said <= {one["words"] for one in moments if one["saw"] is None}
    seen = [event for event in game.record.events if event.seen_by("Bob")]
    assert said <= {line.words for line in lines(seen, "Bob")}
    assert make_setup(two_truths.name, 1).people
