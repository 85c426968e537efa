"""Choices and votes: replacing illegal choices, ballots, pluralities and strict majorities; how votes would end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from random import Random

from liescope.games.assessing import remind
from liescope.games.core import Ask, AskKind, Asks, EventKind, Game, Phase, Replies, Reply


def legal_choice(ask: Ask, reply: Reply, random: Random) -> tuple[str, str]:
    """The chosen option and, if the reply held no legal one, the reason why a random option replaces it."""
    if not reply.problem and reply.choice in ask.options:
        return str(reply.choice), ""
    if reply.problem:
        why = reply.problem
    elif reply.choice is None:
        why = "no choice in the reply"
    else:
        why = f"{reply.choice!r} is not one of the options"
    return random.choice(ask.options), why


def ballot(game: Game, phase: Phase) -> Generator[Asks, Replies, list[str]]:
    """All living players vote simultaneously, each for another player; returns the votes in seating order."""
    remind(game, phase)
    asks = [game.ask(name, AskKind.VOTE, phase, options=game.others(name)) for name in game.alive]
    replies = yield game.batch(asks)
    votes = []
    for ask, reply in zip(asks, replies, strict=True):
        target, why = legal_choice(ask, reply, game.random)
        votes.append(target)
        game.log(EventKind.VOTE, phase, actor=ask.seat, target=target, fallback=why)
    return votes


def plurality(votes: Sequence[str], random: Random) -> tuple[str, tuple[str, ...]]:
    """Who got the most votes (ties are broken at random), and all who tied for most, in the order first voted for."""
    counts = Counter(votes)
    most = max(counts.values())
    top = tuple(name for name, count in counts.items() if count == most)
    return (top[0] if len(top) == 1 else random.choice(top)), top


def strict_majority(votes: Sequence[str], voters: int) -> str | None:
    """Who got more than half of all possible votes, or None."""
    counts = Counter(votes)
    return next((name for name, count in counts.items() if 2 * count > voters), None)


Tally = Callable[[Sequence[str]], Mapping[str, float]]
"""From the votes of a ballot to how likely each player is to be voted out; ties that the rules break at random give
shares.
"""


def one_of_most(votes: Sequence[str]) -> dict[str, float]:
    """The tally of `plurality`."""
    top = _most(votes)
    return dict.fromkeys(top, 1 / len(top)) if top else {}


def more_than_half(votes: Sequence[str]) -> dict[str, float]:
    """The tally of `strict_majority`, where every living player votes."""
    return {name: 1.0 for name, count in Counter(votes).items() if 2 * count > len(votes)}


def all_with_most(votes: Sequence[str], needed: int) -> dict[str, float]:
    """The tally where all go who have the most votes, if those are as many as needed."""
    top = _most(votes)
    return dict.fromkeys(top, 1.0) if votes.count(top[0] if top else "") >= needed else {}


def _most(votes: Sequence[str]) -> list[str]:
    counts = Counter(votes)
    return [name for name, count in counts.items() if count == max(counts.values())]
