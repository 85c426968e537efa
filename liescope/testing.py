"""What every game, detector and player promises, as checks for the tests of plug-in authors.

    from liescope.testing import check_game, check_detector

    def test_the_game() -> None:
        check_game("traitor")

Each raises AssertionError, or an error of Liescope that names what is missing. They check asks, events and audiences
only; a game needs no roles, ballots or teams. Our own games and detectors pass the same checks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from liescope.data_cards.tables.rows import StatementRow
from liescope.games.core import ASSESSMENTS, CHOICES, Ask, AskKind, Assessment, Event, Reply
from liescope.games.game_options import GameSpec
from liescope.games.game_registry import CARDS, PAGES, PROMPTS, SIDES, WORDS, find_game
from liescope.games.playable import PlayableGame
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.record import GameRecord, Source, record, record_from_json, record_to_json
from liescope.games.record_checks import check_record
from liescope.games.script.persona import PROFILES
from liescope.games.session import GameMaker, Session, drive, fork, replay, start
from liescope.labeling.claims import find_claims
from liescope.labeling.label import label_game

Answer = Callable[[Ask, Sequence[Event]], Reply]

_SHORT = {"debate_turns": 3, "defence_turns": 1, "days": 2}  # where a game has such options
_SEEDS = range(4)


def check_game(name: str) -> None:
    """All checks of a registered game."""
    game = find_game(name)
    for check in (*GAME_CHECKS, *PIECE_CHECKS):
        check(game)


def check_options(game: PlayableGame) -> None:
    """It is registered under the name that its records carry; options have help, and roles have teams."""
    assert game.name == _made(game, 0).game.name
    assert game.options
    assert all(option.help.endswith(".") for option in game.options)
    assert set(game.teams) == set(game.roles)


def check_replay(game: PlayableGame) -> None:
    """A game is a function of its options, seed and replies: its replay is equal to it, up to any step."""
    for seed in _SEEDS:
        session = _made(game, seed)
        replies = drive(session, _random_answer(Random(seed)))
        again = replay(_maker(game, seed), replies)
        assert again.events == session.events
        assert again.outcome == session.outcome
        half = fork(_maker(game, seed), replies, len(replies) // 2)
        assert half.events == session.events[: len(half.events)]


def check_audiences(game: PlayableGame) -> None:
    """Nobody sees what is meant for others, and nobody sees what a speaker intends."""
    for seed in _SEEDS:
        session, random = _made(game, seed), Random(seed)
        while session.asks:
            for ask in session.asks:
                view = session.game.view(ask.seat)
                seen = [event.index for event in session.events if event.seen_by(ask.seat)]
                assert [event.index for event in view] == seen
                assert not any({"private", "claims", "notes"} & set(event.data) for event in view)
            session.send(tuple(_usable(ask, random) for ask in session.asks))


def check_fallbacks(game: PlayableGame) -> None:
    """Exactly what the rules fill in for unusable replies is marked, on an event of that seat."""
    for seed in _SEEDS:
        session, asked = _made(game, seed), Counter[str]()
        while session.asks:
            asked.update(ask.seat for ask in session.asks)
            session.send(tuple(Reply(problem="unreadable") for _ in session.asks))
        marked = Counter(event.actor for event in session.events if event.fallback)
        assert all(marked[seat] >= count for seat, count in asked.items())
        good = _made(game, seed)
        drive(good, _random_answer(Random(seed)))
        assert [event for event in good.events if event.fallback] == []


def check_records(game: PlayableGame) -> None:
    """A record is consistent, and survives JSON."""
    for seed in _SEEDS:
        played, _ = _scripted(game, seed)
        check_record(played)
        assert record_from_json(json.loads(json.dumps(record_to_json(played)))) == played


def check_words(game: PlayableGame) -> None:
    """Every role can be claimed, of oneself and of others, unless the rules state the claims themselves."""
    if game.states_claims:
        return
    assert WORDS[game.name]
    names = tuple(game.spec.seats())
    for role in game.roles:
        found = find_claims(f"I'm the {role}.", names[0], names, game.name)
        assert [(claim.kind, claim.value) for claim in found] == [("role", role)], role
        (claim,) = find_claims(f"{names[1]} is the {role}.", names[0], names, game.name)
        assert claim.value in (role, game.teams[role])


def check_prompts(game: PlayableGame) -> None:
    """Every prompt set renders every ask of the game and of a rater, with its options."""
    from liescope.generate.players.prompts.render import load_prompts

    sets = {name: load_prompts(name, game.name) for name in PROMPTS[game.name].sets}
    assert "full" in sets
    played, asked = _scripted(game, 1)
    for ask, view in asked:
        for prompts in sets.values():
            rendered = prompts.render(ask, view)
            assert ask.seat in rendered.text
            assert all(option in rendered.question for option in ask.options if ask.kind is not AskKind.BID)
    judging = start(lambda: RatedGame(played, RatingSpec(share=0.1, roles=True), "a rater"))
    drive(judging, lambda ask, view: Reply(text=sets["full"].render(ask, view).text))


def check_script(game: PlayableGame) -> None:
    """Scripted players never need the rules to act in their place; they lie, and tell the truth."""
    rows: list[StatementRow] = []
    for seed in range(12):
        played, _ = _scripted(game, seed)
        assert [event for event in played.events if event.fallback] == []
        rows += label_game(played).statements
    assert {True, False} <= {row.label_claim for row in rows}
    assert {True, False} <= {row.planted_type != "none" for row in rows}
    made = _made(game, 0).game
    assert all(row.label_role == made.deceives(row.speaker_role) for row in rows)


def check_pages(game: PlayableGame) -> None:
    """People can be told the rules, the card says what the game is, and every role and team has a colour."""
    assert PAGES[game.name].is_file()
    assert CARDS[game.name].endswith(".")
    teams = set(game.teams.values())
    colours = SIDES[game.name].colours
    assert {*game.roles, *teams} <= set(colours)
    assert len({colours[team] for team in teams}) == len(teams)


def check_detector(kind: str, folder: Path, texts: Iterable[tuple[str, bool]], **options: Any) -> None:
    """A kind of detector learns from texts with their labels, gives probabilities, and is the same once saved and
    loaded. folder: an empty one.
    """
    import numpy as np

    from liescope.detectors.detector_registry import DETECTORS, load_parts, make
    from liescope.detectors.examples import Example
    from liescope.detectors.text_form import TextConfig

    assert DETECTORS[kind].kind == kind
    told = list(texts)
    examples = [Example(f"{n}", f"{n % 5}", "Ann", "m", text, ("Ann", "Ben")) for n, (text, _) in enumerate(told)]
    labels = np.array([lie for _, lie in told])
    groups = np.array([str(number % 5) for number in range(len(told))])
    detector = make(kind, TextConfig(), options).fit(examples, labels, groups)
    found = detector.predict_proba(examples)
    assert found.shape == (len(told), 2)
    assert np.allclose(found.sum(axis=1), 1)
    detector.save(folder)
    again = load_parts(kind, folder, detector.text, detector.options.model_dump())
    assert np.allclose(again.predict_proba(examples), found, rtol=0, atol=1e-6)


GameCheck = Callable[[PlayableGame], None]
GAME_CHECKS: tuple[GameCheck, ...] = (check_options, check_replay, check_audiences, check_fallbacks)
"""The checks of rules."""
PIECE_CHECKS: tuple[GameCheck, ...] = (check_words, check_prompts, check_script, check_records, check_pages)
"""The checks of what a game brings besides."""


def _table(game: PlayableGame) -> GameSpec:
    """The game's own table, assessed, with short talk."""
    known = {option.name for option in game.options}
    return game.resolve({"assess": True, **{name: value for name, value in _SHORT.items() if name in known}})


def _maker(game: PlayableGame, seed: int) -> GameMaker:
    return lambda: game.make(_table(game), seed, f"contract-{seed}")


def _made(game: PlayableGame, seed: int) -> Session:
    return start(_maker(game, seed))


def _scripted(game: PlayableGame, seed: int) -> tuple[GameRecord, list[tuple[Ask, Sequence[Event]]]]:
    """A game of scripted players, with every ask and view."""
    from liescope.generate.players.scripted import ScriptedPlayer

    player = ScriptedPlayer("scripted:bold", PROFILES["bold"], game.name)
    asked: list[tuple[Ask, Sequence[Event]]] = []

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        asked.append((ask, view))
        return player.say(ask, view)

    session = _made(game, seed)
    drive(session, answer)
    seats = dict.fromkeys(session.game.names, ("scripted:bold", Source.SCRIPTED))
    return record(session.game, session.outcome, seats), asked


def _random_answer(random: Random) -> Answer:
    return lambda ask, _: _usable(ask, random)


def _usable(ask: Ask, random: Random) -> Reply:
    if ask.kind in ASSESSMENTS:
        suspicion = None if ask.kind is AskKind.SELF_ASSESSMENT else 0.5
        return Reply(assessment=Assessment(random.random() < 0.5, "omission", 0.5, suspicion, "so"))
    choice = random.choice(ask.options) if ask.kind in CHOICES else None
    if ask.kind in (AskKind.SPEAK, AskKind.EXPLAINED_VOTE):
        return Reply(choice=choice, text="Let us talk.")
    return Reply(choice=choice) if choice else Reply(form={})
