"""Assessments: speakers know what they meant, peers judge from what they know and heard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from liescope.games.core import AskKind, Assessment, EventKind
from liescope.games.mafia.rules import MINI_MAFIA, MafiaSpec
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.session import drive, start
from liescope.games.taxonomy import DeceptionType
from liescope.games.werewolf.rules import TRIADIC
from liescope.labeling.lesson_tags import CATEGORIES

Play = Callable[..., Any]
TYPES = {kind.value for kind in DeceptionType}
Judged = tuple[str, str, str, Assessment]  # role of the speaker, role of the author, planted type, what it said


def judged(play: Play, kind: AskKind, games: int, **options: Any) -> list[Judged]:
    found = []
    for seed in range(games):
        played = play(seed, assess=True, **options)
        roles = played.game.roles
        for ask, _, reply in played.views:
            if ask.kind is kind:
                event = played.game.events[ask.about]
                assert event.kind is EventKind.STATEMENT
                planted = event.data["private"]["planted_type"]
                found.append((roles[event.actor], roles[ask.seat], planted, reply.assessment))
    return found


def share(values: list[bool]) -> float:
    return sum(values) / len(values)


@pytest.mark.parametrize("limit", [200, 60])
def test_a_self_report_names_what_was_meant_with_some_error(play: Play, limit: int) -> None:
    spec = MINI_MAFIA.replaced(message_limit=limit)
    reports = judged(play, AskKind.SELF_ASSESSMENT, 60, spec=spec, mafioso="bold")
    right = share([planted == said.type for _, _, planted, said in reports])
    assert 0.75 < right < 0.99
    for _, _, _, said in reports:
        assert said.deceptive == (said.type != "none")
        assert said.type in TYPES
        assert said.suspicion is None
        assert 0 <= said.confidence <= 1
        assert said.reason


def test_a_skilled_liar_knows_better_when_it_lies(play: Play) -> None:
    def right(m: float) -> float:
        reports = judged(play, AskKind.SELF_ASSESSMENT, 80, mafioso=f"steady?m={m}")
        return share([planted == said.type for role, _, planted, said in reports if role == "mafioso"])

    assert right(-2) < right(2)


def test_who_knows_the_mafioso_rates_it_so(play: Play) -> None:
    ratings = judged(play, AskKind.PEER_ASSESSMENT, 60)
    of_detectives = [(speaker, said) for speaker, author, _, said in ratings if author == "detective"]
    assert all((said.suspicion or 0) > 0.8 for speaker, said in of_detectives if speaker == "mafioso")
    assert share([bool(said.deceptive) for speaker, said in of_detectives if speaker == "mafioso"]) > 0.6
    assert share([bool(said.deceptive) for speaker, said in of_detectives if speaker == "villager"]) < 0.5


def test_a_better_detector_tells_liars_from_the_honest(play: Play) -> None:
    def gap(v: float) -> float:
        ratings = judged(play, AskKind.PEER_ASSESSMENT, 120, villager=f"steady?v={v}", mafioso="novice")
        mine = [(speaker, said.suspicion or 0) for speaker, author, _, said in ratings if author == "villager"]
        bad = [suspicion for speaker, suspicion in mine if speaker == "mafioso"]
        good = [suspicion for speaker, suspicion in mine if speaker == "detective"]
        return sum(bad) / len(bad) - sum(good) / len(good)

    assert gap(0) == pytest.approx(0, abs=0.05)
    assert gap(2) > 0.15


def test_ratings_are_complete_and_in_range_and_name_every_kind_of_deception(play: Play) -> None:
    named = set()
    for _, _, _, said in judged(play, AskKind.PEER_ASSESSMENT, 60, mafioso="bold"):
        assert said.deceptive == (said.type != "none")
        assert 0 <= said.confidence <= 1
        assert 0 <= said.suspicion <= 1
        named.add(said.type)
    assert named == TYPES


JUDGED = {EventKind.SELF_REPORT, EventKind.RATING, EventKind.ROLES_NAMED}


@pytest.mark.parametrize(
    ("spec", "games"),
    [
        (MINI_MAFIA, 25),
        (MafiaSpec(mafiosos=2, detectives=1, villagers=4), 25),
        (MafiaSpec(mafiosos=1, detectives=2, villagers=3), 25),
        (TRIADIC.replaced(learning=True), 8),
    ],
    ids=["mini", "two mafiosos", "two detectives", "werewolf"],
)
def test_every_judgement_is_usable_and_named_roles_fit_the_table_and_beat_chance(
    play: Play, player: Any, answer: Any, spec: Any, games: int
) -> None:
    right = chance = named = 0.0
    kinds = set()
    for seed in range(games):
        played = play(seed, spec=spec)
        judge = player("steady", played.game.name)
        asked = RatingSpec(share=0.2, roles=True, lessons=played.game.name == "werewolf")
        session = start(partial(RatedGame, played.record, asked, judge.model))
        drive(session, partial(answer, judge))
        for event in (event for event in session.events if "judge" in event.data):
            assert not event.fallback
            kinds.add(event.kind)
            if event.kind is EventKind.LESSON_TAGS:
                assert set(event.data["tags"]["categories"]) <= set(CATEGORIES)
                assert event.data["tags"]["order"][0] in ("1", "2", "3")
            if event.kind is not EventKind.ROLES_NAMED:
                continue
            said = {name: role for name, (role,) in event.data["roles"].items()}
            truth = {name: played.game.roles[name] for name in said}
            assert Counter(said.values()) == Counter(truth.values())
            if played.game.roles[event.actor or ""] == "mafioso":
                assert all(said[name] == "mafioso" for name, role in truth.items() if role == "mafioso")
            right += sum(said[name] == truth[name] for name in said)
            chance += sum(count * count for count in Counter(truth.values()).values()) / len(truth)
            named += len(said)
    assert kinds >= JUDGED
    assert right / named > chance / named + 0.1
