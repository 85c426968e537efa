"""Driving a game: start, replay, resume, fork, and a simple loop for players that answer immediately."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from liescope.common.errors import RuleViolation
from liescope.games.core import Ask, Asks, Event, Game, Outcome, Play, Replies, Reply
from liescope.games.memory import with_summaries

GameMaker = Callable[[], Game]


class Session:
    """A game in progress: `asks` is the batch waiting for replies, empty once there is an `outcome`."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.asks: Asks = ()
        self.outcome: Outcome | None = None
        self._play: Play = with_summaries(game)
        self._advance(None)

    @property
    def events(self) -> list[Event]:
        return self.game.events

    def send(self, replies: Replies) -> None:
        """Answer the waiting batch, with one reply for each ask in the same order.

        Raises RuleViolation when the game is over or the number of replies differs from the number of asks.
        """
        if self.outcome is not None:
            raise RuleViolation(f"game {self.game.game_id} is over; it takes no more replies")
        if len(replies) != len(self.asks):
            raise RuleViolation(f"{len(self.asks)} asks are waiting, {len(replies)} replies came; send one for each")
        self._advance(replies)

    def _advance(self, replies: Replies | None) -> None:
        try:
            self.asks = next(self._play) if replies is None else self._play.send(replies)
        except StopIteration as end:
            self.asks, self.outcome = (), end.value


def start(make: GameMaker) -> Session:
    """A fresh game at its first ask."""
    return Session(make())


def resume(make: GameMaker, replies: Iterable[Replies]) -> Session:
    """The game after the recorded batches of replies, waiting at its next ask (or over)."""
    session = start(make)
    for batch in replies:
        session.send(batch)
    return session


def replay(make: GameMaker, replies: Iterable[Replies]) -> Session:
    """The whole game from its recorded replies. Raises RuleViolation if they end before the game does."""
    session = resume(make, replies)
    if session.outcome is None:
        raise RuleViolation(f"the recorded replies end at step {session.asks[0].step}, before the game does")
    return session


def fork(make: GameMaker, replies: Sequence[Replies], step: int) -> Session:
    """The game at the given step of a recorded one, ready for other replies from there on."""
    if not 0 <= step <= len(replies):
        raise RuleViolation(f"step {step} is not in the recorded game, which has steps 0 to {len(replies)}")
    return resume(make, replies[:step])


def branch(session: Session, game_id: str, seed: int) -> None:
    """Make the rest of a game a game of its own: it gets an id, and from here on the rules draw from the new seed."""
    session.game.game_id = game_id
    session.game.random.seed(seed)
    session.asks = tuple(replace(ask, game=game_id) for ask in session.asks)


def drive(session: Session, answer: Callable[[Ask, Sequence[Event]], Reply]) -> list[Replies]:
    """Play to the end with a function that answers an ask from its seat's view; returns its replies."""
    given: list[Replies] = []
    while session.asks:
        batch = tuple(answer(ask, session.game.view(ask.seat)) for ask in session.asks)
        given.append(batch)
        session.send(batch)
    return given
