"""A log as a record: replayed by our own rules where they can follow it, else taken literally, event by event."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from liescope.common.errors import BadData, UsageError
from liescope.games.core import Ask, AskKind, EventKind, Outcome, Phase, Reply
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, MINI_MAFIA, TOWN, Mafia, MiniMafia
from liescope.games.record import GameRecord
from liescope.games.session import Session
from liescope.games.talk import speech
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


UNFINISHED = "the published log ends before the game does"


def write_down(log: LogGame) -> GameRecord:
    """The record of a log that our rules cannot follow; a failed game if the log does not say how it ended.

    Raises BadData if Mafia allows no such table.
    """
    rounds = max((_turns(day).most_common(1)[0][1] for day in log.days if day.messages), default=1)
    try:
        game = game_of(log, rounds)
    except Departure as error:
        raise BadData(str(error)) from error
    game.set_up()
    for day in log.days:
        game.day += 1
        _night(game, log, day)
        _day(game, day)
    outcome = _outcome(game, log)
    return finished(log, game, outcome, "" if outcome else UNFINISHED)


def _turns(day: LogDay) -> Counter[str]:
    return Counter(message.speaker for message in day.messages)


def _night(game: Mafia, log: LogGame, day: LogDay) -> None:
    game.log(EventKind.NIGHT, Phase.NIGHT)
    mafia = game.holding(MAFIOSO, alive=False)
    if day.killed:
        alone = mafia[0] if len(mafia) == 1 else None
        game.log(EventKind.KILL, Phase.NIGHT, actor=alone, target=day.killed, audience=mafia)
        game.alive.remove(day.killed)
        data = {"role": log.roles[day.killed]} if log.reveal_dead else {}
        game.log(EventKind.DEATH, Phase.NIGHT, target=day.killed, data=data)
    for detective, target in day.findings.items():
        data = {"role": log.roles[target]}
        game.log(EventKind.INVESTIGATION, Phase.NIGHT, actor=detective, target=target, audience=(detective,), data=data)
        if warned := tuple(name for name in (detective, target) if name in day.exposed):
            game.log(EventKind.DISCOVERY, Phase.NIGHT, actor=detective, target=target, audience=warned)


def _day(game: Mafia, day: LogDay) -> None:
    if not (day.messages or day.votes or day.arrested):
        return
    game.log(EventKind.DAY, Phase.DISCUSSION)
    turns: Counter[str] = Counter()
    for message in day.messages:
        turns[message.speaker] += 1
        ask = Ask(game.game_id, 0, message.speaker, AskKind.SPEAK, game.day, Phase.DISCUSSION, turns[message.speaker])
        problem = SILENCED if message.text is None else ""
        game.log(**speech(ask, Reply(text=message.text, problem=problem, notes=message.notes)))
    for vote in day.votes:
        why = DRAWN if vote.drawn else ""
        game.log(EventKind.VOTE, Phase.VOTING, actor=vote.voter, target=vote.target, fallback=why)
    if day.arrested:
        game.alive.remove(day.arrested)
        game.log(EventKind.ARREST, Phase.VOTING, target=day.arrested)


def _outcome(game: Mafia, log: LogGame) -> Outcome | None:
    mafia = game.holding(MAFIOSO)
    if not mafia:
        return game.end(TOWN, "every mafioso is out of the game")
    if len(mafia) == len(game.alive):
        return game.end(MAFIA, "only mafiosos are left")
    if len(log.days) == 1 and log.days[0].arrested and log.winner in ("", MAFIA):
        return game.end(MAFIA, "the days ran out with a mafioso in the game")
    if log.winner:
        return game.end(log.winner, "the published log says so")
    return None
