"""What scripted players keep between answers changes no answer: not after a resume, not in a fork, in no order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

import pytest

from liescope.games.core import Ask, Event, Reply
from liescope.games.game_registry import find_game
from liescope.games.script.persona import parse_spec
from liescope.games.session import drive, start
from liescope.generate.players.scripted import ScriptedPlayer

Answer = Callable[[ScriptedPlayer, Ask, Sequence[Event]], Reply]
Answered = tuple[ScriptedPlayer, Ask, tuple[Event, ...], Reply]


def _played(answer: Answer, game: str, profile: str, seed: int) -> list[Answered]:
    """Every answer of a game; all games have the same id."""
    player = ScriptedPlayer(*parse_spec(profile), game)
    playable = find_game(game)
    answered: list[Answered] = []

    def keep(ask: Ask, view: Sequence[Event]) -> Reply:
        reply = answer(player, ask, view)
        answered.append((player, ask, tuple(view), reply))
        return reply

    spec = playable.resolve({"assess": True, "message_limit": 60})
    drive(start(lambda: playable.make(spec, seed, "one id")), keep)
    return answered


@pytest.mark.parametrize("game", ["mini-mafia", "mafia", "werewolf", "one-night-werewolf"])
def test_answers_are_the_same_in_any_order_and_between_games_of_one_id(game: str, answer: Answer) -> None:
    answered = [
        *_played(answer, game, "bold", 1),
        *_played(answer, game, "steady", 2),
        *_played(answer, game, "bold", 3),
    ]
    Random(5).shuffle(answered)
    for player, ask, view, reply in answered[:300]:
        assert answer(player, ask, list(view)) == reply
