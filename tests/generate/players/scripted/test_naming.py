"""A scripted judge of a frozen game rates every statement, tags lessons, and names roles from what each seat knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from liescope.games.core import EventKind
from liescope.games.mafia.rules import MINI_MAFIA, MafiaSpec
from liescope.games.rated_game import RatedGame, RatingSpec
from liescope.games.session import drive, start
from liescope.games.werewolf.rules import TRIADIC
from liescope.labeling.lesson_tags import CATEGORIES

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
    play: Callable[..., Any], player: Any, answer: Any, spec: Any, games: int
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
