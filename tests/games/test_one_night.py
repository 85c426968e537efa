"""One-night werewolf: who learns what at night, whom the vote exiles, and who wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.one_night.rules import OneNightSpec, OneNightWerewolf
from liescope.games.session import Session, drive, start

WOLVES = ("werewolf", "werewolf", "seer", "villager", "villager")  # Alice, Bob, Charlie, Diana, Erin
LONE = ("werewolf", "villager", "seer", "villager", "villager")
NONE = ("villager", "villager", "seer", "villager", "villager")


def play(roles: Sequence[str], votes: Mapping[str, str], looks_at: str = "Alice", seed: int = 1) -> Session:
    """One game in which everybody says hello. roles: of Alice to Erin; the other cards lie in the centre."""
    spec = OneNightSpec(rounds=1)
    rest = spec.deck()
    for role in roles:
        rest.remove(role)

    def answer(ask: Ask, _view: Sequence[Event]) -> Reply:
        choice = {AskKind.VOTE: votes.get(ask.seat, "Erin"), AskKind.INVESTIGATE: looks_at}.get(ask.kind)
        return Reply(choice=choice, text="Hello.")

    session = start(lambda: OneNightWerewolf(spec.replaced(roles=(*roles, *rest)), seed, "night"))
    drive(session, answer)
    return session


def of(session: Session, *kinds: EventKind) -> list[Event]:
    return [event for event in session.events if event.kind in kinds]


EACH_ONE = {"Alice": "Bob", "Bob": "Charlie", "Charlie": "Diana", "Diana": "Erin", "Erin": "Alice"}
ALL_AT_ALICE = {"Alice": "Bob", "Bob": "Alice", "Charlie": "Alice", "Diana": "Alice", "Erin": "Alice"}
TWO_AND_TWO = {"Alice": "Erin", "Bob": "Alice", "Charlie": "Alice", "Diana": "Erin", "Erin": "Diana"}
ALL_AT_ERIN = {"Erin": "Diana"}


@pytest.mark.parametrize(
    ("roles", "votes", "exiled", "winner"),
    [
        (WOLVES, ALL_AT_ALICE, ["Alice"], "villagers"),
        (WOLVES, ALL_AT_ERIN, ["Erin"], "werewolves"),
        (WOLVES, EACH_ONE, [], "werewolves"),
        (WOLVES, TWO_AND_TWO, ["Alice", "Erin"], "villagers"),
        (NONE, EACH_ONE, [], "villagers"),
        (NONE, ALL_AT_ALICE, ["Alice"], "nobody"),
    ],
)
def test_the_vote_decides(roles: Sequence[str], votes: dict[str, str], exiled: list[str], winner: str) -> None:
    session = play(roles, votes)
    assert [event.target for event in of(session, EventKind.EXILE)] == exiled
    assert len(of(session, EventKind.NO_EXILE)) == (not exiled)
    assert session.outcome is not None
    assert session.outcome.winner == winner
    won = {name for name in session.game.names if session.game.team(session.game.roles[name]) == winner}
    assert set(session.outcome.winners) == won


def test_a_lone_werewolf_sees_one_card_of_the_centre_and_two_see_each_other_and_none() -> None:
    seen = set()
    for seed in range(20):
        session = play(LONE, ALL_AT_ERIN, seed=seed)
        assert sorted(session.game.centre) == ["villager", "werewolf"]
        (partners,) = of(session, EventKind.PARTNERS)
        assert (partners.audience, partners.data["names"]) == (("Alice",), ["Alice"])
        seen.add(partners.data["seen"])
    assert seen == {"villager", "werewolf"}
    (partners,) = of(play(WOLVES, ALL_AT_ERIN), EventKind.PARTNERS)
    assert (partners.audience, partners.data) == (("Alice", "Bob"), {"names": ["Alice", "Bob"]})


def test_every_card_is_dealt_or_lies_in_the_centre() -> None:
    for seed in range(30):
        game = OneNightWerewolf(OneNightSpec(), seed)
        assert len(game.names) == len(game.roles) == 5
        assert sorted([*game.roles.values(), *game.centre]) == sorted(OneNightSpec().deck())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"werewolves": 0}, "--werewolves must be 1 or more"),
        ({"centre": 5}, "three players"),
        ({"centre": -1}, "must be 0 or more"),
        ({"rounds": 0}, "--rounds must be 1 or more"),
    ],
)
def test_options_without_a_game_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        OneNightWerewolf(OneNightSpec.of(options), 1, "night")
