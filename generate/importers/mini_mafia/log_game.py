"""A published Mini-Mafia game as its log tells it, and the same game retold by our own rules.

The rules of `games` play the game again: the log answers every ask, and every random draw (who dies, who speaks first,
what a lost vote became, who of a tie is arrested) is dictated by the log. The record is therefore made of the very
events that our engine logs, and a log that our rules cannot follow is refused with the place where they part.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from liescope.common.errors import BadData
from liescope.games.core import Ask, AskKind, Reply
from liescope.games.mafia import DETECTIVE, MAFIOSO, MINI_MAFIA, VILLAGER, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import Session

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem

UNKNOWN_MODEL = "unknown"
HUMAN_MODEL = "human"
SILENCED = "the published log says that the message could not be read"
DRAWN = "the published log says that the vote was drawn, as the answer could not be read"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class LogMessage:
    """One turn to speak. text: None where the authors' engine put a silence in place of what it could not read."""

    speaker: str
    text: str | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """One vote. drawn: the authors' engine drew it because it could not read the answer."""

    voter: str
    target: str
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class LogGame:
    """What a log says of one game. roles: name to role, in the order of the table; models: role to model name;
    human: the name of the seat that a person played, if any; meta: what the record keeps besides.
    """

    game_id: str
    roles: Mapping[str, str]
    killed: str
    investigated: str
    said: tuple[LogMessage, ...]
    cast: tuple[Cast, ...]
    arrested: str
    models: Mapping[str, str]
    human: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


def replay_log(told: LogGame) -> GameRecord:
    """The game's record, with the events that our Mini-Mafia logs. seed is None: the draws were not ours.

    Raises BadData where our rules cannot follow what the log tells.
    """
    if sorted(told.roles.values()) != sorted(MINI_MAFIA.deck()):
        raise BadData(f"the roles are {', '.join(told.roles.values())}: not those of Mini-Mafia")
    table = replace(
        MINI_MAFIA,
        names=tuple(told.roles),
        roles=tuple(told.roles.values()),
        rounds=_rounds(told),
        message_limit=None,
    )
    game = MiniMafia(table, 0, told.game_id)
    draws = _Dictated(_draws(told))
    game.random = draws
    session = Session(game)
    said = deque(told.said)
    votes = {vote.voter: vote for vote in told.cast}
    while session.asks:
        session.send(tuple(_reply(ask, said, votes) for ask in session.asks))
    arrested = next(name for name in reversed(game.names) if name not in game.alive and name != told.killed)
    if arrested != told.arrested:
        raise BadData(f"the log says that {told.arrested} was arrested, its votes arrest {arrested}")
    players = {
        name: (HUMAN_MODEL, Source.HUMAN) if name == told.human else (told.models[role], Source.IMPORTED)
        for name, role in told.roles.items()
    }
    return replace(record(game, session.outcome, players, cell=_cell(told, players), meta=told.meta), seed=None)


def _cell(told: LogGame, players: Mapping[str, tuple[str, Source]]) -> str:
    """The models of the three who are there by day, as a tournament names its cells."""
    by_role = {role: players[name][0] for name, role in told.roles.items() if name != told.killed}
    return " | ".join(by_role.get(role, UNKNOWN_MODEL) for role in (MAFIOSO, DETECTIVE, VILLAGER))


def _rounds(told: LogGame) -> int:
    speakers = len(told.roles) - 1
    rounds, rest = divmod(len(told.said), speakers)
    if rest or not rounds:
        raise BadData(
            f"{len(told.said)} messages do not make whole rounds of {speakers} speakers; is the game cut off?"
        )
    return rounds


def _draws(told: LogGame) -> Iterable[tuple[str, Any]]:
    """Every draw of the game in the order in which the rules make it, each with its name."""
    speakers = len(told.roles) - 1
    yield "the killer", next(name for name, role in told.roles.items() if role == MAFIOSO)
    yield "the killed player", told.killed
    yield "the investigated player", told.investigated
    for number, start in enumerate(range(0, len(told.said), speakers), 1):
        yield f"the speaking order of round {number}", [said.speaker for said in told.said[start : start + speakers]]
    targets = {vote.voter: vote.target for vote in told.cast if vote.drawn}
    for name in told.roles:
        if name in targets:
            yield f"the drawn vote of {name}", targets[name]
    yield "the arrest of a tie", told.arrested


def _reply(ask: Ask, said: deque[LogMessage], votes: Mapping[str, Cast]) -> Reply:
    if ask.kind is AskKind.SPEAK:
        message = said.popleft()
        if message.text is None:
            return Reply(problem=SILENCED, notes=message.notes)
        return Reply(text=message.text, notes=message.notes)
    if ask.seat not in votes:
        raise BadData(f"the log holds no vote by {ask.seat}")
    vote = votes[ask.seat]
    if vote.target not in ask.options:
        raise BadData(f"{vote.voter} votes for {vote.target}, who cannot be voted for")
    return Reply(problem=DRAWN) if vote.drawn else Reply(choice=vote.target)


class _Dictated(Random):
    """A generator whose draws are known. Raises BadData for a draw that the rules do not allow."""

    def __init__(self, draws: Iterable[tuple[str, Any]]) -> None:
        super().__init__(0)
        self._draws = iter(draws)

    def choice(self, seq: SupportsLenAndGetItem[_T]) -> _T:
        what, drawn = self._next()
        options = [seq[place] for place in range(len(seq))]
        if drawn not in options:
            raise BadData(f"{what} is {drawn}; the rules allow {', '.join(map(str, options))}")
        return options[options.index(drawn)]

    def sample(self, population: Sequence[_T], k: int, **_: Any) -> list[_T]:
        what, drawn = self._next()
        if len(drawn) != k or {*drawn} != {*population}:
            raise BadData(f"{what} is {', '.join(drawn)}; the rules ask each of {', '.join(map(str, population))} once")
        return list(drawn)

    def _next(self) -> tuple[str, Any]:
        return next(self._draws)
