"""Reading one game of the authors' log: the players' memories are parsed and checked against each other.

Memories follow Appendix A.2 of the Mini-Mafia paper. Every player remembers the same public events until they leave the
game: a killed player remembers nothing of the day, an arrested one nothing of the vote. Memories that contradict each
other, or the flags stored with them, make the game unreadable, since there is no way to know which is right. A line of
unknown form is kept, and the game's notes say that it was not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from liescope.common.errors import BadData
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, TOWN
from liescope.generate.importers.mini_mafia.log_game import LogDay, LogGame, LogMessage
from liescope.generate.importers.mini_mafia.wording import (
    NOT_MAFIOSO,
    PUBLIC,
    Arrest,
    Begins,
    Death,
    Entry,
    Exposure,
    Kill,
    LearnedRole,
    OwnRole,
    Votes,
    role_of,
    wording,
)

MOST_PLAYERS = 50
LONGEST_NAME = 60
_IN_SENTENCES = frozenset(':,"()\n.')  # characters that the log's sentences are built with
_WINNERS = {"good": TOWN, "town": TOWN, "evil": MAFIA, "mafia": MAFIA}
_REMEMBERED = {Death: "who was killed", LogMessage: "what was said", Votes: "the votes", Arrest: "the arrest"}
_STRANGER = re.compile(r'(?:The \w+ )?(\w[\w -]*?)(?:: "| was found dead| was arrested).*', re.DOTALL)


@dataclass(slots=True)
class _Player:
    """One player of the log. alive, jailed: the flags stored with the memory, None if the log has none."""

    name: str
    role: str
    alive: bool | None
    jailed: bool | None
    entries: list[Entry] = field(default_factory=list)
    public: list[Entry] = field(default_factory=list)
    unread: list[tuple[int, str]] = field(default_factory=list)


def read_log_game(game: Mapping[str, Any], models: Mapping[str, str], meta: Mapping[str, Any]) -> LogGame:
    """The contents of one game of the log. models: name to model name, for every player.

    Raises BadData with the reason it cannot be read.
    """
    game_id = _field(game, "game_id", str, "the game")
    players = _players(game)
    roles = {player.name: player.role for player in players}
    notes = [f"{player.name}: line {number} was not read" for player in players for number, _ in player.unread]
    for player in players:
        _check_own_role(player)
    witness = max(players, key=lambda player: (bool(player.alive) and not player.jailed, len(player.public)))
    _check_flags(players, notes)
    _check_agreement(witness, players)
    days = [list(entries) for entries in _days(witness.entries)] or [[]]
    log_days = [_day(number, entries, players) for number, entries in enumerate(days)]
    log_days = _with_flags(log_days, players, notes)
    reveals = {entry.name: entry.role for entry in witness.public if isinstance(entry, Death) and entry.role}
    for name, role in reveals.items():
        _check_role(name, role, roles, "was found dead as")
    for player in players:
        for entry in player.entries:
            if isinstance(entry, Arrest) and entry.role:
                _check_role(entry.name, entry.role, roles, "was arrested as")
            elif isinstance(entry, LearnedRole):
                _check_role(entry.name, entry.role, roles, f"was found by {player.name} to be")
                if not entry.stated and player.role == DETECTIVE:
                    notes.append(f"{player.name} knows the mafioso; the log does not speak of an investigation")
    unread = [[player.name, number, line] for player in players for number, line in player.unread]
    return LogGame(
        game_id,
        roles,
        tuple(log_days),
        models,
        winner=_winner(game, notes),
        reveal_dead=bool(reveals),
        meta={**meta, **({"unread": unread} if unread else {})},
        notes=tuple(notes),
    )


def player_list(game: Mapping[str, Any]) -> list[Any]:
    """The player list of a log, whose key depends on the version."""
    return list(_field(game, "final_state" if "final_state" in game else "players", list, "the game"))


def _players(game: Mapping[str, Any]) -> list[_Player]:
    players: list[_Player] = []
    listed = player_list(game)
    if not 1 < len(listed) <= MOST_PLAYERS:
        raise BadData(f"the game has {len(listed)} players; a game of 2 to {MOST_PLAYERS} can be read")
    for entry in listed:
        if not isinstance(entry, dict):
            raise BadData("a player is not an object")
        name = _field(entry, "name", str, "a player")
        if not name.strip() or len(name) > LONGEST_NAME or _IN_SENTENCES & set(name) or not name.isprintable():
            raise BadData(
                f"a player has the name {name[:LONGEST_NAME]!r}, which cannot be kept apart from the text of the log"
            )
        if any(name == other.name for other in players):
            raise BadData(f"two players are named {name}")
        role = role_of(_field(entry, "role", str, name))
        players.append(_Player(name, role, _flag(entry, "alive", name), _flag(entry, "imprisoned", name)))
    reader = wording(tuple(player.name for player in players))
    for player, entry in zip(players, listed, strict=True):
        for number, line in enumerate(_field(entry, "memory", list, player.name), 1):
            if not isinstance(line, str):
                raise BadData(f"line {number} of {player.name}'s memory is not text")
            read = reader.read(line, player.name)
            if read is None:
                if stranger := _STRANGER.fullmatch(line):
                    raise BadData(f"{stranger[1][:LONGEST_NAME]} is in {player.name}'s memory and not at the table")
                player.unread.append((number, line))
            else:
                player.entries.append(read)
                player.public += [read] if isinstance(read, PUBLIC) else []
    return players


def _check_own_role(player: _Player) -> None:
    for entry in player.entries:
        if isinstance(entry, OwnRole) and entry.role != player.role:
            raise BadData(f"{player.name} is {player.role} in the log and {entry.role} in their own memory")


def _check_role(name: str, role: str, roles: Mapping[str, str], what: str) -> None:
    if role == NOT_MAFIOSO and roles.get(name) != MAFIOSO:
        return
    if roles.get(name) != role:
        raise BadData(f"{name} {what} {role}; the log has {roles.get(name)}")


def _check_agreement(witness: _Player, players: Sequence[_Player]) -> None:
    """Check that every player remembers what the witness does, up to some point."""
    for player in players:
        for mine, other in zip(player.public, witness.public, strict=False):
            if mine != other:
                what = _REMEMBERED[type(mine)]
                raise BadData(f"{witness.name} and {player.name} remember {what} differently")
        if len(player.public) > len(witness.public):
            what = _REMEMBERED[type(player.public[len(witness.public)])]
            raise BadData(f"{witness.name} and {player.name} remember {what} differently")
        stayed = player.alive and player.jailed is False
        if stayed and len(player.public) < len(witness.public):
            what = _REMEMBERED[type(witness.public[len(player.public)])]
            raise BadData(f"{witness.name} and {player.name} remember {what} differently")


def _days(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """A player's memory, split where a night begins."""
    day: list[Entry] = []
    started = False  # whether the day of this part has begun, so that the next death belongs to another night
    for entry in entries:
        if started and (isinstance(entry, Death | Kill) or (isinstance(entry, Begins) and entry.night)):
            yield day
            day, started = [], False
        day.append(entry)
        started = started or isinstance(entry, LogMessage | Votes | Arrest)
    if day:
        yield day


def _day(number: int, entries: Sequence[Entry], players: Sequence[_Player]) -> LogDay:
    """One night and day: the public part from the witness, the rest from the players concerned."""
    own = {player.name: (list(_days(player.entries)) + [[]] * (number + 1))[number] for player in players}
    killed = _only([entry.name for entry in entries if isinstance(entry, Death)], "deaths in one night")
    victims = {entry.victim for mine in own.values() for entry in mine if isinstance(entry, Kill)}
    if victims - {killed} and (killed or len(victims) > 1):
        raise BadData(f"the players remember that {killed or 'nobody'} was killed; the mafioso says otherwise")
    return LogDay(
        killed or next(iter(victims), ""),
        {
            player.name: entry.name
            for player in players
            if player.role == DETECTIVE
            for entry in own[player.name]
            if isinstance(entry, LearnedRole)
        },
        _exposed(own, players),
        tuple(entry for entry in entries if isinstance(entry, LogMessage)),
        _only([entry.votes for entry in entries if isinstance(entry, Votes)], "votes in one day", ()),
        _only([entry.name for entry in entries if isinstance(entry, Arrest)], "arrests in one day"),
    )


def _exposed(own: Mapping[str, Sequence[Entry]], players: Sequence[_Player]) -> frozenset[str]:
    """Who is exposed: players who know that another one knows their role, and a mafioso who knows the detective."""
    roles = {player.name: player.role for player in players}
    warned = set()
    for name, entries in own.items():
        for entry in entries:
            if isinstance(entry, Exposure) or (isinstance(entry, LearnedRole) and roles[name] == MAFIOSO):
                if {roles[name], roles.get(entry.name)} != {MAFIOSO, DETECTIVE}:
                    raise BadData(f"{name}, a {roles[name]}, is warned of {entry.name}, a {roles.get(entry.name)}")
                warned.add(name)
    return frozenset(warned)


def _only(found: Sequence[Any], what: str, default: Any = "") -> Any:
    if len(found) > 1:
        raise BadData(f"the log has {len(found)} {what}")
    return found[0] if found else default


def _check_flags(players: Sequence[_Player], notes: list[str]) -> None:
    """Check that the flags agree with the memory lines wherever both exist."""
    for kind, what in ((Death, "killed"), (Arrest, "arrested")):
        stated = {entry.name for player in players for entry in player.public if isinstance(entry, kind)} - {""}
        flagged = _flagged(players, what)
        if flagged is None:
            notes.append(f"the log does not flag who was {what}")
        elif stated and stated != flagged:
            names, others = ", ".join(sorted(stated)), ", ".join(sorted(flagged)) or "nobody"
            raise BadData(f"the players remember that {names} was {what}; the log has {others}")


def _with_flags(days: list[LogDay], players: Sequence[_Player], notes: list[str]) -> list[LogDay]:
    """The days, with facts missing from the lines filled in from the flags."""
    for what in ("killed", "arrested"):
        flagged = _flagged(players, what)
        if not flagged or any(getattr(day, what) for day in days):
            continue
        if len(flagged) > 1:
            raise BadData(f"{len(flagged)} players are {what} and no line says when")
        (name,) = flagged
        notes.append(f"no line says that {name} was {what}; the flag beside the memory does")
        last = replace(days[-1], killed=name) if what == "killed" else replace(days[-1], arrested=name)
        days = [*days[:-1], last]
    return days


def _flagged(players: Sequence[_Player], what: str) -> set[str] | None:
    """Who was killed or arrested according to the flags; None if the log has no such flag."""
    flags = {player.name: player.jailed if what == "arrested" else _not(player.alive) for player in players}
    return None if None in flags.values() else {name for name, flag in flags.items() if flag}


def _not(flag: bool | None) -> bool | None:
    return None if flag is None else not flag


def _winner(game: Mapping[str, Any], notes: list[str]) -> str:
    if "winner" not in game:
        return ""
    winner = _WINNERS.get(str(game["winner"]).casefold(), "")
    if not winner:
        notes.append(f"the log names the winner {str(game['winner'])[:40]!r}")
    return winner


def _flag(entry: Mapping[str, Any], key: str, name: str) -> bool | None:
    return _field(entry, key, bool, name) if key in entry else None


def _field(thing: Mapping[str, Any], key: str, kind: type, whose: str) -> Any:
    value = thing.get(key)
    if not isinstance(value, kind):
        raise BadData(f"{whose} has no {key!r} that is a {kind.__name__}")
    return value
