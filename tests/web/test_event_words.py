"""Each page tells every public event, in a game's own words where it has some, or refuses the game with one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.common.errors import UndeclaredGame
from liescope.games.core import Event, EventKind, Game, Phase
from liescope.games.game_registry import GAMES
from liescope.games.playable import PlayableGame
from liescope.web.play.game_setup import make_setup
from liescope.web.play.seat_lines import lines
from liescope.web.view.game_page import shown
from liescope.web.view.sources import ViewedGame, open_games

ROOT = Path(__file__).parents[2]


@pytest.fixture
def two_truths(monkeypatch: pytest.MonkeyPatch) -> PlayableGame:
    """The game of the guide: its guesses are public, and neither votes on players nor anything that Liescope knows."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "two_truths"))
    from two_truths import GAME

    game: PlayableGame = GAME
    monkeypatch.setitem(GAMES, game.name, game)
    return game


def changed(game: PlayableGame, monkeypatch: pytest.MonkeyPatch, log: Callable[..., dict[str, Any]]) -> str:
    """The name of a game that logs public events otherwise. log: from the facts of an event to those of its own."""

    def logs(self: Game, kind: EventKind, phase: Phase, round: int = 0, **facts: Any) -> Event:
        return Game.log(self, kind, phase, round, **(facts if facts.get("audience") else log(kind, facts)))

    make: Any = type("Changed", (game.make,), {"name": "changed", "log": logs})
    monkeypatch.setitem(GAMES, "changed", replace(game, name="changed", make=make))
    return "changed"


def played(game: str, folder: Path) -> Path:
    liescope.play(game, players=["scripted:bold"], games=1, assess=True, out=folder / "run")
    return folder / "run"


def looked_at(run: Path) -> ViewedGame:
    games = open_games(str(run))
    return next(games.read(games.ids, with_calls=False))


def test_every_page_tells_what_a_game_says_in_words_of_its_own(two_truths: PlayableGame, tmp_path: Path) -> None:
    run = played(two_truths.name, tmp_path)
    game = looked_at(run)
    acts = [event for event in game.record.events if event.kind is EventKind.ACT and event.audience is None]
    said = {f"{event.actor or ''} {event.text}".strip() for event in acts}
    assert any("guesses that" in words for words in said)
    moments = [one for part in shown(game)["sections"] for one in part["moments"] if one["kind"] == "happened"]
    assert said <= {one["words"] for one in moments if one["saw"] is None}
    seen = [event for event in game.record.events if event.seen_by("Bob")]
    assert said <= {line.words for line in lines(seen, "Bob")}
    assert make_setup(two_truths.name, 1).people


def mute(kind: EventKind, facts: dict[str, Any]) -> dict[str, Any]:
    return {**facts, "text": ""} if kind is EventKind.ACT else facts


def talkative(kind: EventKind, facts: dict[str, Any]) -> dict[str, Any]:
    return {**facts, "data": {**facts["data"], "weather": "rain"}} if kind is EventKind.END else facts


@pytest.mark.parametrize(
    ("log", "lacking"), [(mute, "an act without a text"), (talkative, "weather of end")], ids=["event", "fact"]
)
def test_a_game_with_something_that_no_page_has_words_for_is_refused(
    log: Callable[..., dict[str, Any]],
    lacking: str,
    two_truths: PlayableGame,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    name = changed(two_truths, monkeypatch, log)
    refused = rf"^the game 'changed' has no words on pages for {lacking}; log what happens as an act \(EventKind\.ACT\)"
    with pytest.raises(UndeclaredGame, match=refused):
        make_setup(name, 1)
    game = looked_at(played(name, tmp_path))
    with pytest.raises(UndeclaredGame, match=refused):
        shown(game)
