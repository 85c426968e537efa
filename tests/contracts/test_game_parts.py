"""What every registered game brings to every room, and that a game without one of these parts is found out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from liescope.common.errors import LiescopeError, UndeclaredGame
from liescope.games.game_registry import CARDS, GAMES, PAGES, PROMPTS, SCRIPTS, SIDES, WORDS, PerGame
from liescope.games.mafia.rules import MafiaSpec, MiniMafia
from liescope.games.playable import PlayableGame
from liescope.generate.runs.plan_games import make_plan
from liescope.testing import GAME_CHECKS, PIECE_CHECKS, GameCheck

PARTS: tuple[PerGame[object], ...] = (WORDS, PROMPTS, SCRIPTS, PAGES, CARDS, SIDES)


@pytest.mark.parametrize("check", [*GAME_CHECKS, *PIECE_CHECKS], ids=lambda check: check.__name__)
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_registered_game_keeps_its_promises_to_every_room(game: PlayableGame, check: GameCheck) -> None:
    check(game)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_plan_of_a_game_can_be_made_and_restored(game: PlayableGame) -> None:
    roles = tuple(role for role, count in game.spec.composition().items() if count)
    plan = make_plan(game.name, {}, ["a"], game.design, [("a",) * len(roles)], 1, 1)
    assert plan.spec.replaced(names=game.spec.names) == game.spec


class Poker(MiniMafia):
    """A game that nobody has told the other rooms of."""

    name = "poker"


POKER = PlayableGame("poker", "Poker", MafiaSpec(mafiosos=1, detectives=1, villagers=2, days=1), Poker)


@pytest.mark.parametrize("check", PIECE_CHECKS, ids=lambda check: check.__name__)
def test_a_game_without_its_parts_fails_and_is_told_what_is_missing(
    check: GameCheck, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GAMES, POKER.name, POKER)
    with pytest.raises(UndeclaredGame, match=r"the game 'poker' has no .+; give it as `\w+` of its PlayableGame"):
        check(POKER)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.field)
def test_one_missing_part_is_enough_to_fail(part: PerGame[object], monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = replace(GAMES["mini-mafia"], name=POKER.name, make=Poker, **{part.field: None})
    monkeypatch.setitem(GAMES, POKER.name, lacking)
    complaints = [words for words in (complaint(check, lacking) for check in PIECE_CHECKS) if words]
    assert complaints
    assert all(part.what in words for words in complaints)


def complaint(check: GameCheck, game: PlayableGame) -> str:
    """What a check says against a game, nothing where it passes."""
    try:
        check(game)
    except LiescopeError as error:
        return str(error)
    return ""
