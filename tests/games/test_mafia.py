"""Mafia's rules where no game frozen in tests/golden shows them: what is asked, and what is drawn how evenly.

Who wins is in test_win_rate.py, for every way that the draws of a table can go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.games.core import Ask, AskKind, Event, EventKind, Reply
from liescope.games.mafia.rules import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from liescope.games.session import Session, drive, start

FIXED = MINI_MAFIA.replaced(roles=("mafioso", "detective", "villager", "villager"))


def of(session: Session, kind: EventKind) -> list[Event]:
    return [event for event in session.events if event.kind is kind]


def choosing(choices: Callable[[Ask], str | None]) -> Callable[..., Reply]:
    """A table where everyone says "hm" and chooses as told."""
    return lambda ask, view: Reply(text="hm") if ask.kind is AskKind.SPEAK else Reply(choice=choices(ask))


def even(counts: Mapping[Hashable, int], kinds: Iterable[Hashable], bound: float) -> None:
    """Pearson's chi-square against equal shares stays under a bound far in the tail; nothing else was drawn."""
    expected = list(kinds)
    assert set(counts) <= set(expected)
    share = sum(counts.values()) / len(expected)
    assert sum((counts.get(kind, 0) - share) ** 2 / share for kind in expected) < bound


# What each phase does


@pytest.mark.parametrize("rounds", [1, 2, 8])
def test_each_round_asks_everyone_alive_once_and_then_all_vote_at_once(rounds: int) -> None:
    session = start(lambda: MiniMafia(MINI_MAFIA.replaced(rounds=rounds), 3))
    alive = set(session.game.alive)
    batches = []
    while session.asks:
        batches.append(session.asks)
        session.send(tuple(Reply(text="hm", choice=(ask.options or ("",))[0]) for ask in session.asks))
    *talk, votes = batches
    assert [len(batch) for batch in talk] == [1] * (3 * rounds)
    for number in range(rounds):
        turns = [batch[0] for batch in talk[3 * number : 3 * number + 3]]
        assert {ask.seat for ask in turns} == alive
        assert {(ask.round, ask.rounds, ask.limit) for ask in turns} == {(number + 1, rounds, 200)}
    assert {ask.seat for ask in votes} == alive


# What is drawn


def test_every_deal_of_roles_over_names_is_equally_likely() -> None:
    deals = set(permutations(MINI_MAFIA.deck()))
    assert len(deals) == 12
    dealt = Counter(tuple(MiniMafia(MINI_MAFIA, seed).roles.values()) for seed in range(2400))
    even(dealt, deals, 40)


def test_the_victim_and_the_speaking_order_of_both_rounds_are_drawn_evenly_and_apart() -> None:
    victims: Counter[Hashable] = Counter()
    orders: Counter[Hashable] = Counter()
    for seed in range(1800):
        session = start(lambda seed=seed: MiniMafia(FIXED, seed, "g"))
        alive = list(session.game.alive)
        victims[of(session, EventKind.DEATH)[0].target] += 1
        spoken = []
        while session.asks[0].kind is AskKind.SPEAK:
            spoken.append(alive.index(session.asks[0].seat))
            session.send((Reply(text="hm"),))
        orders[tuple(spoken[:3]), tuple(spoken[3:])] += 1
    even(victims, ("Charlie", "Diana"), 16)
    even(orders, [(a, b) for a in permutations(range(3)) for b in permutations(range(3))], 80)


def test_the_killer_is_drawn_evenly_among_the_mafiosos() -> None:
    spec = MafiaSpec(mafiosos=3, detectives=0, villagers=3, roles=("mafioso",) * 3 + ("villager",) * 3)
    killers = Counter(start(lambda seed=seed: Mafia(spec, seed, "g")).asks[0].seat for seed in range(600))
    even(killers, ("Alice", "Bob", "Charlie"), 25)


# Tables that cannot be played


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mafiosos": 0}, "--mafiosos must be 1 or more"),
        ({"rounds": 0}, "--rounds must be 1 or more"),
        ({"detectives": -1}, "must be 0 or more"),
        ({"mafiosos": 2, "detectives": 0, "villagers": 0}, "not a mafioso"),
        ({"names": ("Ann", "Ben")}, "7 players need 7 names, but 2"),
        ({"mafiosos": 1, "detectives": 0, "villagers": 1, "names": ("Ann", "ANN")}, "Ann and ANN are alike"),
        ({"mafiosos": 1, "detectives": 0, "villagers": 1, "names": ("Ann", "\u0410nn")}, "are alike"),
        ({"mafiosos": 1, "detectives": 0, "villagers": 1, "names": ("Ann", " ")}, "a player's name is empty"),
        ({"mafiosos": 1, "detectives": 0, "villagers": 1, "roles": ("villager", "villager")}, "do not match"),
    ],
)
def test_a_table_that_cannot_be_played_is_refused_with_the_reason(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Mafia(MafiaSpec.of(options), 0, "g")


# What earlier versions of the authors' games let players know


def test_an_investigation_of_the_town_exposes_nobody() -> None:
    spec = MafiaSpec(
        mafiosos=1,
        detectives=1,
        villagers=3,
        roles=("mafioso", "detective", "villager", "villager", "villager"),
        mutual_discovery=True,
    )
    session = start(lambda: Mafia(spec, 0, "g"))
    drive(session, choosing(lambda ask: max(ask.options)))
    assert of(session, EventKind.INVESTIGATION)
    assert not of(session, EventKind.DISCOVERY)


def test_discovery_and_an_announced_role_draw_nothing_and_change_no_other_event() -> None:
    def others(spec: MafiaSpec) -> list[Event]:
        events = start(lambda: MiniMafia(spec, 5, "g")).events
        return [replace(event, index=0, data={}) for event in events if event.kind is not EventKind.DISCOVERY]

    assert others(MINI_MAFIA.replaced(mutual_discovery=True, reveal_dead=True)) == others(MINI_MAFIA)
