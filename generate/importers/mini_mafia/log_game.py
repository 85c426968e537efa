"""A published game of Mafia as logged, and the game record that is generated from it.

If our rules can play the logged game, they replay it: the log answers every ask and fixes every random draw (who dies,
who speaks first, what a lost vote became, who is arrested in a tie). The record then holds exactly the events that our
engine logs. If the log departs from our rules without contradicting itself (a vote is missing, a player spoke twice,
there was a second day), the events are recorded as logged, and the record names the departure. A log that contradicts
itself is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from liescope.common.errors import BadData
from liescope.games.core import Outcome
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, MINI_MAFIA, TOWN, VILLAGER, Mafia, MafiaSpec
from liescope.games.record import GameRecord, Source, record
from liescope.labeling.conditions import IMPORTED, PROMPTS, SETTINGS, setting_words

UNKNOWN_MODEL = "unknown"
HUMAN_MODEL = "human"
SILENCED = "the published log says that the message could not be read"
DRAWN = "the published log says that the vote was drawn, as the answer could not be read"
FORMAT = "mini-mafia"
_SETTINGS = ("rounds", "reveal_dead", "mutual_discovery")  # the settings that may differ from log to log
ROLES = (MAFIOSO, DETECTIVE, VILLAGER)


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


@dataclass(frozen=True, slots=True)
class LogGame:
    """What a log says about one game. roles: name to role, in table order; models: name to model name; human: the name
    of the seat that a person played, if any; winner: "" if the log does not say; reveal_dead: the players learned the
    role of the dead; meta: what else the record keeps; notes: what was read leniently.
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


class Departure(Exception):
    """The log departs from our rules; the message says where."""


def record_of(log: LogGame) -> GameRecord:
    """The game's record. seed is None: the draws were not ours. Raises BadData if the log contradicts itself."""
    # Imported here because both modules import this one.
    from liescope.generate.importers.mini_mafia.as_logged import replay_log, write_down

    _check(log)
    try:
        return replay_log(log)
    except Departure as departure:
        return write_down(replace(log, notes=(*log.notes, str(departure))))


def _check(log: LogGame) -> None:
    """Raise BadData if the log contradicts itself."""
    for name, role in log.roles.items():
        if role not in ROLES:
            raise BadData(f"{name} is a {role!r}; this format knows {', '.join(ROLES)}")
    gone: set[str] = set()
    for number, day in enumerate(log.days, 1):
        names = {*day.findings, *day.findings.values(), *(vote.voter for vote in day.votes)}
        names |= {vote.target for vote in day.votes} | {message.speaker for message in day.messages}
        if strangers := (names | ({day.killed, day.arrested} - {""})) - log.roles.keys():
            raise BadData(f"{', '.join(sorted(strangers))} is not at the table")
        if back := gone & ({day.killed, day.arrested} | {message.speaker for message in day.messages}):
            raise BadData(f"{', '.join(sorted(back))} is out of the game and acts on day {number}")
        gone |= {day.killed} - {""}
        if day.killed and any(message.speaker == day.killed for message in day.messages):
            raise BadData(f"{day.killed} is dead and speaks")
        _check_votes(log, day, gone)
        gone |= {day.arrested} - {""}
    mafia = [name for name, role in log.roles.items() if role == MAFIOSO]
    if log.winner == TOWN and not gone.issuperset(mafia) and log.days and log.days[-1].arrested:
        raise BadData(f"the log says that the town won, while {mafia[0]}, a mafioso, is still in the game")
    if log.winner == MAFIA and gone.issuperset(mafia):
        raise BadData("the log says that the mafia won, while every mafioso is out of the game")


def _check_votes(log: LogGame, day: LogDay, gone: set[str]) -> None:
    voters = [vote.voter for vote in day.votes]
    if len(set(voters)) != len(voters):
        raise BadData(f"{Counter(voters).most_common(1)[0][0]} votes more than once")
    if not day.arrested or set(voters) != log.roles.keys() - gone:
        return
    counts = Counter(vote.target for vote in day.votes)
    top = [name for name, count in counts.items() if count == max(counts.values())]
    if day.arrested not in top:
        raise BadData(f"the log says that {day.arrested} was arrested, its votes arrest {' or '.join(top)}")


def table_of(log: LogGame, rounds: int) -> MafiaSpec:
    """The table of a log: its names and roles, and the options inferred from its players' knowledge."""
    held = Counter(log.roles.values())
    return replace(
        MINI_MAFIA,
        mafiosos=held[MAFIOSO],
        detectives=held[DETECTIVE],
        villagers=held[VILLAGER],
        names=tuple(log.roles),
        roles=tuple(log.roles.values()),
        rounds=rounds,
        days=len(log.days),
        message_limit=None,
        reveal_dead=log.reveal_dead,
        mutual_discovery=any(day.exposed for day in log.days),
    )


def finished(log: LogGame, game: Mafia, outcome: Outcome | None, failure: str = "") -> GameRecord:
    """The record of a game whose events are written. failure: why the log's game is unfinished."""
    players = {
        name: (HUMAN_MODEL, Source.HUMAN) if name == log.human else (log.models[name], Source.IMPORTED)
        for name in log.roles
    }
    settings = {IMPORTED: FORMAT} | {name: setting_words(getattr(game.spec, name)) for name in _SETTINGS}
    if version := log.meta.get("prompt_version"):
        settings[PROMPTS] = version
    notes = {"import_notes": list(log.notes)} if log.notes else {}
    meta = {**log.meta, **notes, SETTINGS: settings}
    made = record(game, outcome, players, cell=_cell(log, players), failure=failure, meta=meta)
    return replace(made, seed=None)


def _cell(log: LogGame, players: Mapping[str, tuple[str, Source]]) -> str:
    """The models of the players present on the first day, named as a tournament names its cells."""
    killed = log.days[0].killed if log.days else ""
    by_role = {role: players[name][0] for name, role in log.roles.items() if name != killed}
    return " | ".join(by_role.get(role, UNKNOWN_MODEL) for role in ROLES)
