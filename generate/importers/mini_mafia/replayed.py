"""A log of one day, replayed by our own rules."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from liescope.common.errors import UsageError
from liescope.games.core import Ask, AskKind, Reply
from liescope.games.mafia import DETECTIVE, MAFIOSO, MINI_MAFIA, Mafia, MiniMafia
from liescope.games.record import GameRecord
from liescope.games.session import Session
from liescope.generate.importers.mini_mafia.log_game import (
    DRAWN,
    SILENCED,
    Departure,
    LogDay,
    LogGame,
    LogMessage,
    LogVote,
    finished,
    table_of,
)

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem

_T = TypeVar("_T")


def replay_log(log: LogGame) -> GameRecord:
    """The record with the events that our rules log. Raises Departure if they cannot follow the log."""
    if len(log.days) != 1:
        raise Departure(f"the log holds {len(log.days)} days, not one")
    (day,) = log.days
    game = game_of(log, _rounds(log, day))
    game.random = _FixedDraws(_draws(log, day))
    _check_knowledge(log, day)
    session = Session(game)
    messages = deque(day.messages)
    votes = {vote.voter: vote for vote in day.votes}
    while session.asks:
        session.send(tuple(_reply(ask, messages, votes) for ask in session.asks))
    arrested = next(name for name in reversed(game.names) if name not in game.alive and name != day.killed)
    if arrested != day.arrested:
        raise Departure(f"the votes arrest {arrested}; the log does not say who was arrested")
    return finished(log, game, session.outcome)


def game_of(log: LogGame, rounds: int) -> Mafia:
    """The game for the log's table, Mini-Mafia if it is one. Raises Departure if our rules have no such table."""
    spec = table_of(log, rounds)
    mini = sorted(log.roles.values()) == sorted(MINI_MAFIA.deck()) and len(log.days) == 1
    try:
        return (MiniMafia if mini else Mafia)(spec, 0, log.game_id)
    except UsageError as error:
        raise Departure(f"our rules have no such table: {error}") from error


def _check_knowledge(log: LogGame, day: LogDay) -> None:
    """Raise Departure unless both sides know or neither does, and each detective finds a mafioso, as in our rules."""
    for name, role in log.roles.items():
        if role == DETECTIVE and name != day.killed and name not in day.findings:
            raise Departure(f"the log does not say whom {name}, the detective, investigated")
    both = {*day.findings, *day.findings.values()}
    if day.exposed and day.exposed != both:
        raise Departure(f"only {', '.join(sorted(day.exposed))} is warned of the other")


def _rounds(log: LogGame, day: LogDay) -> int:
    speakers = len(log.roles) - 1
    rounds, rest = divmod(len(day.messages), speakers)
    if rest or not rounds:
        raise Departure(f"{len(day.messages)} messages do not make whole rounds of {speakers} speakers")
    return rounds


def _draws(log: LogGame, day: LogDay) -> Iterable[tuple[str, Any]]:
    """Every draw of the game with its name, in the order the rules make them."""
    speakers = len(log.roles) - 1
    yield "the killer", next((name for name, role in log.roles.items() if role == MAFIOSO), "")
    yield "the killed player", day.killed
    for name, role in log.roles.items():
        if role == DETECTIVE:
            yield "the investigated player", day.findings.get(name)
    for number, start in enumerate(range(0, len(day.messages), speakers), 1):
        turn = day.messages[start : start + speakers]
        yield f"the speaking order of round {number}", [message.speaker for message in turn]
    targets = {vote.voter: vote.target for vote in day.votes if vote.drawn}
    for name in log.roles:
        if name in targets:
            yield f"the drawn vote of {name}", targets[name]
    yield "the arrest of a tie", day.arrested


def _reply(ask: Ask, messages: deque[LogMessage], votes: Mapping[str, LogVote]) -> Reply:
    if ask.kind is AskKind.SPEAK:
        message = messages.popleft()
        if message.text is None:
            return Reply(problem=SILENCED, notes=message.notes)
        return Reply(text=message.text, notes=message.notes)
    if ask.seat not in votes:
        raise Departure(f"the log holds no vote by {ask.seat}" if votes else "the log holds no votes")
    vote = votes[ask.seat]
    if vote.target not in ask.options:
        raise Departure(f"{vote.voter} votes for {vote.target}, who cannot be voted for")
    return Reply(problem=DRAWN) if vote.drawn else Reply(choice=vote.target)


class _FixedDraws(Random):
    """A random generator with known draws. Raises Departure for a draw that the rules do not allow."""

    def __init__(self, draws: Iterable[tuple[str, Any]]) -> None:
        super().__init__(0)
        self._draws = iter(draws)

    def choice(self, seq: SupportsLenAndGetItem[_T]) -> _T:
        what, drawn = self._next()
        options = [seq[place] for place in range(len(seq))]
        if drawn not in options:
            raise Departure(f"{what} is {drawn or 'unknown'}; our rules allow {', '.join(map(str, options))}")
        return options[options.index(drawn)]

    def sample(self, population: Sequence[_T], k: int, **_: Any) -> list[_T]:
        what, drawn = self._next()
        if len(drawn) != k or {*drawn} != {*population}:
            raise Departure(
                f"{what} is {', '.join(drawn)}; our rules ask each of {', '.join(map(str, population))} once"
            )
        return list(drawn)

    def _next(self) -> tuple[str, Any]:
        return next(self._draws)
