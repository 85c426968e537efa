"""A published game of Mafia as logged, and the game record that is generated from it.

If our rules can play the logged game, they replay it: the log answers every ask and fixes every random draw (who dies,
who speaks first, what a lost vote became, who is arrested in a tie). The record then holds exactly the events that our
engine logs. If the log departs from our rules without contradicting itself (a vote is missing, a player spoke twice,
there was a second day), the events are recorded as logged, and the record names the departure. A log that contradicts
itself is refused.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from liescope.common.errors import BadData, UsageError
from liescope.games.core import Ask, AskKind, EventKind, Outcome, Phase, Reply
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, MINI_MAFIA, TOWN, VILLAGER, Mafia, MafiaSpec, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import Session
from liescope.games.table_rules import speech
from liescope.labeling.conditions import IMPORTED, PROMPTS, SETTINGS, setting_words

if TYPE_CHECKING:
    from _typeshed import SupportsLenAndGetItem


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
