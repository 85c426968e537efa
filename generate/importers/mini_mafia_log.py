"""A published game of Mafia as logged, and its record, with the events that our engine logs for such a game.

Where the log departs from our rules without contradicting itself (a vote is missing, a player spoke twice, there was a
second day), its record names the departure. A log that contradicts itself is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.games.core import Ask, AskKind, EventKind, Outcome, Phase, Reply
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, MINI_MAFIA, TOWN, VILLAGER, Mafia, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.shared_rules import speech
from liescope.generate.importers.game_reader import PERSON, UNFINISHED
from liescope.labeling.conditions import IMPORTED, PROMPTS, SETTINGS, setting_words

UNKNOWN_MODEL = "unknown"
SILENCED = "the published log says that the message could not be read"
DRAWN = "the published log says that the vote was drawn, as the answer could not be read"
FORMAT = "mini-mafia"
_SETTINGS = ("rounds", "reveal_dead", "mutual_discovery")  # the settings that may differ from log to log
ROLES = (MAFIOSO, DETECTIVE, VILLAGER)
WINNERS = {"good": TOWN, "town": TOWN, "evil": MAFIA, "mafia": MAFIA}
"""The team that a log's word means."""


@dataclass(frozen=True, slots=True)
class LogMessage:
    """One turn to speak. text: None if the authors' engine recorded a silence because it could not read the answer."""

    speaker: str
    text: str | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogVote:
    """One vote. drawn: the authors' engine drew it at random because it could not read the answer."""

    voter: str
    target: str
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class LogDay:
    """A night and the day after it. killed: "" if no one died; findings: detective to the player investigated; exposed:
    the detectives who know that their mafioso knows them, and the mafiosos who know the detective; arrested: "" if the
    log does not say.
    """

    killed: str = ""
    findings: Mapping[str, str] = field(default_factory=dict)
    exposed: frozenset[str] = frozenset()
    messages: tuple[LogMessage, ...] = ()
    votes: tuple[LogVote, ...] = ()
    arrested: str = ""

    def most_voted(self) -> list[str]:
        """Who got the most votes, in the order first voted for."""
        counts = Counter(vote.target for vote in self.votes)
        return [name for name, count in counts.items() if count == max(counts.values())]


@dataclass(frozen=True, slots=True)
class LogGame:
    """What a log says about one game. roles: name to role, in table order; models: name to model name; human: the name
    of the seat that a person played, if any; winner: "" if the log does not say; reveal_dead: the players learned the
    role of the dead; meta: what else the record keeps; notes: where reading was lenient.
    """

    game_id: str
    roles: Mapping[str, str]
    days: tuple[LogDay, ...]
    models: Mapping[str, str]
    human: str = ""
    winner: str = ""
    reveal_dead: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def record_of(log: LogGame) -> GameRecord:
    """The game's record; a failed game if the log does not say how it ended. seed is None: the draws were not ours.

    Raises BadData if the log contradicts itself, or Mafia allows no such table.
    """
    _check(log)
    notes = [*log.notes, *([departure] if (departure := next(_departures(log), "")) else [])]
    game = _game(log)
    game.set_up()
    for day in log.days:
        game.day += 1
        _night(game, log, day)
        if day.messages or day.votes or day.arrested:
            _day(game, day)
    outcome = _outcome(game, log)
    players = {
        name: (PERSON, Source.HUMAN) if name == log.human else (log.models[name], Source.IMPORTED) for name in log.roles
    }
    here = {role: players[name][0] for name, role in log.roles.items() if not log.days or name != log.days[0].killed}
    settings = {IMPORTED: FORMAT} | {name: setting_words(getattr(game.spec, name)) for name in _SETTINGS}
    if version := log.meta.get("prompt_version"):
        settings[PROMPTS] = version
    meta = {**log.meta, **({"import_notes": notes} if notes else {}), SETTINGS: settings}
    cell = " | ".join(here.get(role, UNKNOWN_MODEL) for role in ROLES)  # named like the cells of a tournament
    made = record(game, outcome, players, cell=cell, failure="" if outcome else UNFINISHED, meta=meta)
    return replace(made, seed=None)


def _check(log: LogGame) -> None:
    """Raise BadData if the log contradicts itself."""
    for name, role in log.roles.items():
        if role not in ROLES:
            raise BadData(f"{name} is a {role!r}; this format knows {', '.join(ROLES)}")
    gone: set[str] = set()
    for number, day in enumerate(log.days, 1):
        speakers, out = {message.speaker for message in day.messages}, {day.killed, day.arrested} - {""}
        voters = [vote.voter for vote in day.votes]
        named = {*day.findings, *day.findings.values(), *voters, *(vote.target for vote in day.votes), *speakers, *out}
        if strangers := named - log.roles.keys():
            raise BadData(f"{', '.join(sorted(strangers))} is not in the game")
        if back := gone & (out | speakers):
            raise BadData(f"{', '.join(sorted(back))} is out of the game and acts on day {number}")
        if day.killed in speakers:
            raise BadData(f"{day.killed} is dead and speaks")
        if len(set(voters)) != len(voters):
            raise BadData(f"{Counter(voters).most_common(1)[0][0]} votes more than once")
        gone |= {day.killed} - {""}
        if day.arrested and {*voters} == log.roles.keys() - gone and day.arrested not in (top := day.most_voted()):
            raise BadData(f"the log says that {day.arrested} was arrested, its votes arrest {' or '.join(top)}")
        gone |= out
    mafia = [name for name, role in log.roles.items() if role == MAFIOSO]
    if log.winner == TOWN and not gone.issuperset(mafia) and log.days and log.days[-1].arrested:
        raise BadData(f"the log says that the town won, while {mafia[0]}, a mafioso, is still in the game")
    if log.winner == MAFIA and gone.issuperset(mafia):
        raise BadData("the log says that the mafia won, while every mafioso is out of the game")


def _departures(log: LogGame) -> Iterator[str]:
    """Where the log departs from our rules."""
    if len(log.days) != 1:
        yield f"the log holds {len(log.days)} days, not one"
        return
    (day,) = log.days
    living = [name for name in log.roles if name != day.killed]
    for name in living:
        if log.roles[name] == DETECTIVE and log.roles.get(day.findings.get(name, "")) != MAFIOSO:
            yield f"the log does not say whom {name}, the detective, investigated, or it was no mafioso"
    if day.exposed and day.exposed != {*day.findings, *day.findings.values()}:
        yield f"only {', '.join(sorted(day.exposed))} is warned of the other"
    if log.roles.get(day.killed) != VILLAGER and VILLAGER in log.roles.values():
        yield f"the killed player is {day.killed or 'unknown'}; by our rules it is a villager"
    rounds, rest = divmod(len(day.messages), len(living))
    if rest or not rounds:
        yield f"{len(day.messages)} messages do not make whole rounds of {len(living)} speakers"
    for number in range(rounds):
        order = [message.speaker for message in day.messages[number * len(living) :][: len(living)]]
        if {*order} != {*living}:
            yield f"the speaking order of round {number + 1} is {', '.join(order)}; our rules ask each of them once"
    votes = {vote.voter: vote.target for vote in day.votes}
    for name in living:
        if name not in votes:
            yield f"the log holds no vote by {name}" if votes else "the log holds no votes"
        elif votes[name] in (name, day.killed):
            yield f"{name} votes for {votes[name]}, who cannot be voted for"
    if not day.arrested:
        yield "the log does not say who was arrested"


def _game(log: LogGame) -> Mafia:
    """The game that was played (Mini-Mafia if it fits), with options inferred from what its players knew."""
    held = Counter(log.roles.values())
    turns = (Counter(message.speaker for message in day.messages) for day in log.days)
    spec = MINI_MAFIA.replaced(
        mafiosos=held[MAFIOSO],
        detectives=held[DETECTIVE],
        villagers=held[VILLAGER],
        names=tuple(log.roles),
        roles=tuple(log.roles.values()),
        rounds=max((count for day in turns for count in day.values()), default=1),
        days=len(log.days),
        message_limit=None,
        reveal_dead=log.reveal_dead,
        mutual_discovery=any(day.exposed for day in log.days),
    )
    mini = sorted(log.roles.values()) == sorted(MINI_MAFIA.deck()) and len(log.days) == 1
    try:
        return (MiniMafia if mini else Mafia)(spec, 0, log.game_id)
    except UsageError as error:
        raise BadData(f"our rules have no such table: {error}") from error


def _night(game: Mafia, log: LogGame, day: LogDay) -> None:
    """The night, which the authors' engine drew at random."""
    drawn = {"drawn": True}
    game.log(EventKind.NIGHT, Phase.NIGHT)
    mafia = game.holding(MAFIOSO, alive=False)
    if day.killed:
        alone = mafia[0] if len(mafia) == 1 else None
        game.log(EventKind.KILL, Phase.NIGHT, actor=alone, target=day.killed, audience=mafia, data=drawn)
        game.alive.remove(day.killed)
        data = {"role": log.roles[day.killed]} if log.reveal_dead else {}
        game.log(EventKind.DEATH, Phase.NIGHT, target=day.killed, data=data)
    for detective, target in day.findings.items():
        who: Any = {"actor": detective, "target": target}
        found = {"role": log.roles[target], **drawn}
        game.log(EventKind.INVESTIGATION, Phase.NIGHT, **who, audience=(detective,), data=found)
        if warned := tuple(name for name in (detective, target) if name in day.exposed):
            game.log(EventKind.DISCOVERY, Phase.NIGHT, **who, audience=warned)


def _day(game: Mafia, day: LogDay) -> None:
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
        tied = day.most_voted()
        game.alive.remove(day.arrested)
        data = {"tied": tied} if len(tied) > 1 and day.arrested in tied else {}
        game.log(EventKind.ARREST, Phase.VOTING, target=day.arrested, data=data)


def _outcome(game: Mafia, log: LogGame) -> Outcome | None:
    mafia = game.holding(MAFIOSO)
    if not mafia:
        return game.end(TOWN, "every mafioso is out of the game")
    if len(mafia) == len(game.alive):
        return game.end(MAFIA, "only mafiosos are left")
    if len(log.days) == 1 and log.days[0].arrested and log.winner in ("", MAFIA):
        return game.end(MAFIA, "the days ran out with a mafioso in the game")
    return game.end(log.winner, "the published log says so") if log.winner else None
