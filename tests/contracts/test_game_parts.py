"""What every registered game brings to every room, and that a game without one of these parts is found out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from liescope.benchmark.analyses.sides import side_colour
from liescope.common.errors import LiescopeError, UndeclaredGame
from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.judging import JudgeSpec, Judging
from liescope.games.mafia import MafiaSpec, MiniMafia
from liescope.games.playable import PlayableGame
from liescope.games.record import Source, record
from liescope.games.registry import CARDS, GAMES, PAGES, PROMPTS, SCRIPTS, SIDES, WORDS, Part
from liescope.games.script.persona import PROFILES
from liescope.games.session import Session, drive, start
from liescope.games.table import TableSpec
from liescope.generate.players.prompts.render import load_prompts
from liescope.generate.players.scripted import ScriptedPlayer
from liescope.generate.runs.planning import make_plan
from liescope.labeling.claims import find_claims
from liescope.labeling.label import label_game

PARTS: tuple[Part[object], ...] = (WORDS, PROMPTS, SCRIPTS, PAGES, CARDS, SIDES)
SHORT = {"debate_turns": 3, "defence_turns": 1, "days": 2}


def table(game: PlayableGame) -> TableSpec:
    """The game's own table, assessed, with short talk."""
    known = {option.name for option in game.options}
    return game.resolve({"assess": True, **{name: value for name, value in SHORT.items() if name in known}})


def scripted(game: PlayableGame, seed: int) -> tuple[Session, list[tuple[Ask, Sequence[Event], Reply]]]:
    """A game between scripted players, with every ask, view and reply."""
    player = ScriptedPlayer("scripted:bold", PROFILES["bold"], game.name)
    asked: list[tuple[Ask, Sequence[Event], Reply]] = []

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        reply = _now(player, ask, view)
        asked.append((ask, view, reply))
        return reply

    session = start(lambda: game.make(table(game), seed, f"contract-{seed}"))
    drive(session, answer)
    return session, asked


def _now(player: ScriptedPlayer, ask: Ask, view: Sequence[Event]) -> Reply:
    try:
        player.answer(ask, view).send(None)
    except StopIteration as end:
        reply: Reply = end.value
        return reply
    raise AssertionError("a scripted player waits for nobody")


def check_options(game: PlayableGame) -> None:
    """Options have help, roles have teams, and a plan can be made and restored."""
    assert game.options
    assert all(option.help.endswith(".") for option in game.options)
    assert set(game.teams) == set(game.roles)
    roles = tuple(role for role, count in game.spec.composition().items() if count)
    plan = make_plan(game.name, {}, ["a"], game.design, [("a",) * len(roles)], 1, 1)
    assert replace(plan.spec, names=game.spec.names) == game.spec


def check_parts(game: PlayableGame) -> None:
    for part in PARTS:
        assert part[game.name]


def check_words(game: PlayableGame) -> None:
    """What players say of their own role is found, role by role, and who kills or deceives can be accused."""
    names = tuple(game.spec.seats())
    for role in game.roles:
        found = find_claims(f"I'm the {role}.", names[0], names, game.name)
        assert [(claim.kind, claim.value) for claim in found] == [("role", role)], role
        (claim,) = find_claims(f"{names[1]} is the {role}.", names[0], names, game.name)
        assert claim.value in (role, game.teams[role])
    made = game.make(game.spec, 0, "g")
    assert any(made.deceives(role) for role in game.roles)


def check_prompts(game: PlayableGame) -> None:
    """Every ask of the game and of a judge renders, and shows the options."""
    prompts = {name: load_prompts(name, game.name) for name in PROMPTS[game.name].sets}
    assert "full" in prompts
    session, asked = scripted(game, 1)
    kinds = set()
    for ask, view, _ in asked:
        for rendered in (prompts_of.render(ask, view) for prompts_of in prompts.values()):
            assert ask.seat in rendered.text
            assert all(option in rendered.question for option in ask.options if ask.kind is not AskKind.BID)
        kinds.add(ask.kind)
    assert {AskKind.SPEAK, AskKind.VOTE, AskKind.SELF_ASSESSMENT, AskKind.PEER_ASSESSMENT} <= kinds
    log = record(session.game, session.outcome, dict.fromkeys(session.game.names, ("bold", Source.SCRIPTED)))
    judging = start(lambda: Judging(log, JudgeSpec(share=0.1, roles=True), "a judge"))
    drive(judging, lambda ask, view: Reply(text=prompts["full"].render(ask, view).text))


def check_scripted_player(game: PlayableGame) -> None:
    """Scripted players never need the rules to act in their place; they lie, and tell the truth."""
    rows = []
    for seed in range(12):
        session, _ = scripted(game, seed)
        assert [event for event in session.events if event.fallback] == []
        players = dict.fromkeys(session.game.names, ("bold", Source.SCRIPTED))
        rows += label_game(record(session.game, session.outcome, players)).statements
    assert {row.label_role for row in rows} == {True, False}
    assert {True, False} <= {row.label_claim for row in rows}
    assert {True, False} <= {row.planted_type != "none" for row in rows}


def check_card_text(game: PlayableGame) -> None:
    assert CARDS[game.name].endswith(".")


def check_colours(game: PlayableGame) -> None:
    """Every role and every team has a colour, and the two sides do not share one."""
    assert all(side_colour(game.name, name) for name in (*game.roles, *game.teams.values()))
    teams = set(game.teams.values())
    assert len({side_colour(game.name, team) for team in teams}) == len(teams)


Check = Callable[[PlayableGame], None]
CHECKS: tuple[Check, ...] = (
    check_options,
    check_parts,
    check_words,
    check_prompts,
    check_scripted_player,
    check_card_text,
    check_colours,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_registered_game_brings_its_part_to_every_room(game: PlayableGame, check: Check) -> None:
    check(game)


def test_a_game_is_registered_under_the_name_that_its_records_carry() -> None:
    for name, game in GAMES.items():
        assert name == game.name == game.make(game.spec, 0, "g").name


class Poker(MiniMafia):
    """A game that nobody has told the other rooms of."""

    name = "poker"


POKER = PlayableGame("poker", "Poker", MafiaSpec(1, 1, 2, days=1), Poker)


@pytest.mark.parametrize("check", CHECKS[1:], ids=lambda check: check.__name__)
def test_a_game_without_its_parts_fails_and_is_told_what_is_missing(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(GAMES, POKER.name, POKER)
    with pytest.raises(UndeclaredGame, match=r"the game 'poker' has no .+; give it as `\w+` of its PlayableGame"):
        check(POKER)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.field)
def test_one_missing_part_is_enough_to_fail(part: Part[object], monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = replace(GAMES["mini-mafia"], name=POKER.name, make=Poker, **{part.field: None})
    monkeypatch.setitem(GAMES, POKER.name, lacking)
    complaints = [words for words in (complaint(check, lacking) for check in CHECKS) if words]
    assert complaints
    assert all(part.what in words for words in complaints)


def complaint(check: Check, game: PlayableGame) -> str:
    """What a check says against a game, nothing where it passes."""
    try:
        check(game)
    except LiescopeError as error:
        return str(error)
    return ""
