"""Where nobody can be read, every choice is drawn; then the mafia's chance to win is known exactly.

The whole tree of a game is walked: each draw is taken every way it can go, with its probability as a fraction. The
order of speaking is left out, since it changes nothing in a silent game.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import prod
from random import Random
from typing import Any

import pytest

from liescope.games.core import Game, Reply
from liescope.games.mafia.rules import MINI_MAFIA, Mafia, MafiaSpec, MiniMafia
from liescope.games.session import Session, drive


class Branching(Random):
    """Takes the given way at each draw and the first one after them, and notes how many ways there were."""

    def __init__(self, ways: Sequence[int]) -> None:
        super().__init__(0)
        self.ways = list(ways)
        self.sizes: list[int] = []

    def choice(self, seq: Any) -> Any:
        place = len(self.sizes)
        self.sizes.append(len(seq))
        self.ways += [0] * (len(self.ways) <= place)
        return seq[self.ways[place]]

    def sample(self, population: Sequence[Any], k: int, **_: Any) -> list[Any]:
        assert k == len(population)
        return list(population)


def mafia_wins(make: Callable[[], Game]) -> Fraction:
    """The exact probability, over all draws, that mafia wins a game in which no reply can be used."""
    ways: list[int] = []
    total, won = Fraction(0), Fraction(0)
    while True:
        game = make()
        game.random = draws = Branching(ways)
        session = Session(game)
        drive(session, lambda ask, view: Reply())
        assert session.outcome is not None
        chance = Fraction(1, prod(draws.sizes))
        total += chance
        won += chance * (session.outcome.winner == "mafia")
        ways = draws.ways
        while ways and ways[-1] == draws.sizes[len(ways) - 1] - 1:
            ways.pop()
        if not ways:
            assert total == 1
            return won
        ways[-1] += 1


def open_table(mafiosos: int, detectives: int, villagers: int, days: int = 0) -> MafiaSpec:
    spec = MafiaSpec(mafiosos=mafiosos, detectives=detectives, villagers=villagers, rounds=1, days=days)
    return spec.replaced(roles=tuple(spec.deck()))


@pytest.mark.parametrize("rounds", [1, 2, 8])
def test_random_votes_give_the_mafioso_of_mini_mafia_two_games_in_three_after_any_silence(rounds: int) -> None:
    """Both others vote for the mafioso with 1/4; of the 1/4 of three-way ties a third falls on the mafioso: 1/3."""
    spec = MINI_MAFIA.replaced(roles=tuple(MINI_MAFIA.deck()), rounds=rounds)
    assert mafia_wins(lambda: MiniMafia(spec)) == Fraction(2, 3)


@pytest.mark.parametrize(
    ("table", "chance"),
    [
        ((1, 0, 1), Fraction(1)),
        ((1, 0, 2), Fraction(1, 2)),
        ((1, 1, 1), Fraction(1, 2)),
        ((1, 0, 3), Fraction(2, 3)),
        ((1, 0, 4), Fraction(3, 8)),
        ((1, 0, 4, 1), Fraction(3, 4)),
        ((2, 0, 2), Fraction(1)),
        ((2, 0, 3), Fraction(3, 4)),
    ],
)
def test_a_table_without_a_readable_word_is_won_as_often_as_counting_says(
    table: tuple[int, ...], chance: Fraction
) -> None:
    """Everyone alive by day is as likely to be arrested as anyone else: only the numbers of the two teams matter."""
    assert mafia_wins(lambda: Mafia(open_table(*table), 0, "g")) == chance
