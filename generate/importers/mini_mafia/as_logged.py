"""A log that departs from our rules, recorded literally: the events it mentions, in the log's order."""

from __future__ import annotations

from collections import Counter

from liescope.common.errors import BadData
from liescope.games.core import Ask, AskKind, EventKind, Outcome, Phase, Reply
from liescope.games.mafia import MAFIA, MAFIOSO, TOWN, Mafia
from liescope.games.record import GameRecord
from liescope.games.talk import speech
from liescope.generate.importers.mini_mafia.log_game import DRAWN, SILENCED, Departure, LogDay, LogGame, finished
from liescope.generate.importers.mini_mafia.replayed import game_of

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
