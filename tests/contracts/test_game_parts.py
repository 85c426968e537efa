"""What every registered game brings to every room, and that a game without one of these parts is found out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from liescope.common.colours import COLOURS
from liescope.common.errors import LiescopeError, UndeclaredGame
from liescope.games.core import AskKind
from liescope.games.game_registry import CARDS, GAMES, PAGES, PROMPTS, SCRIPTS, SIDES, WORDS, PerGame
from liescope.games.mafia.rules import MafiaSpec, MiniMafia
from liescope.games.playable import PlayableGame
from liescope.generate.players.prompts.render import load_prompts, sample_asks
from liescope.generate.runs.plan_games import make_plan
from liescope.testing import GAME_CHECKS, PIECE_CHECKS, GameCheck, check_words
from liescope.web.play.game_setup import rules_of

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


def test_a_game_without_words_is_told_so_where_claims_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, POKER.name, POKER)
    with pytest.raises(UndeclaredGame, match=r"the game 'poker' has no .+; give it as `words` of its PlayableGame"):
        WORDS[POKER.name]
    assert "words for its roles" in complaint(check_words, POKER)


@pytest.mark.parametrize("check", [*GAME_CHECKS, *PIECE_CHECKS], ids=lambda check: check.__name__)
def test_a_game_of_rules_and_words_alone_keeps_its_promises(check: GameCheck, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = replace(POKER, words=GAMES["mini-mafia"].words)
    monkeypatch.setitem(GAMES, alone.name, alone)
    check(alone)


def test_what_a_game_does_not_bring_is_made_of_its_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, POKER.name, replace(POKER, rules="All talk.\n\nThe town wins if <nobody> dies."))
    asked = list(sample_asks(POKER.name))
    told = {ask.kind: load_prompts("full", POKER.name).render(ask, view).text for ask, view in asked}
    assert {AskKind.SPEAK, AskKind.VOTE, AskKind.KILL, AskKind.PEER_ASSESSMENT, AskKind.NAME_ROLES} <= told.keys()
    assert all("All talk." in text and "Rounds of discussion a day: 2." in text for text in told.values())
    assert not any("Mini-Mafia" in text or "fellow" in text for text in told.values())
    page = rules_of.__wrapped__(POKER.name).module
    assert "<p>The town wins if &lt;nobody&gt; dies.</p>" in page.rules(POKER.spec)
    assert "It may help you to deceive" in page.role("mafioso", POKER.spec)
    assert "deceive" not in page.role("villager", POKER.spec)
    assert CARDS[POKER.name] == "Poker, a game for 4 players: 1 mafioso, 1 detective and 2 villagers."
    colours = SIDES[POKER.name].colours
    assert COLOURS["vermillion"] == colours["mafioso"] == colours["mafia"]
    assert COLOURS["blue"] == colours["villager"] == colours["detective"] == colours["town"]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.field)
def test_only_words_have_no_default(part: PerGame[object], monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = replace(GAMES["mini-mafia"], name=POKER.name, make=Poker, **{part.field: None})
    monkeypatch.setitem(GAMES, POKER.name, lacking)
    complaints = [words for words in (complaint(check, lacking) for check in PIECE_CHECKS) if words]
    assert bool(complaints) == (part is WORDS)
    assert all(part.what in words for words in complaints)


def complaint(check: GameCheck, game: PlayableGame) -> str:
    """What a check says against a game, nothing where it passes."""
    try:
        check(game)
    except LiescopeError as error:
        return str(error)
    return ""
