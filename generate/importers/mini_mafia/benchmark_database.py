"""The SQLite form of the authors' benchmark runs: games between models only, with each player's model and role in
separate tables (`games`, `game_players`, `players`) and the actions in `game_sequence`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.games.mafia import DETECTIVE
from liescope.generate.importers.mini_mafia.database import WINNERS, read_message, read_row, read_vote, target_of
from liescope.generate.importers.mini_mafia.log_game import UNKNOWN_MODEL, LogDay, LogGame
from liescope.generate.importers.mini_mafia.wording import role_of
from liescope.generate.importers.sqlite import SafeDatabase

SEQUENCE = "game_sequence"
_GAMES = ("game_id", "timestamp", "winner")
_SEATS = ("game_id", "player_id", "character_name", "role", "final_status")
_PLAYERS = ("player_id", "model_name")
_STEPS = ("game_id", "step", "action", "actor", "raw_response", "parsed_result")
_NUMBERS = {"player_id": int, "step": int}
_KILLED = frozenset({"killed", "dead"})
_ARRESTED = frozenset({"arrested", "imprisoned"})


@dataclass(frozen=True, slots=True)
class BenchmarkRows:
    """The rows of one game."""

    game: Mapping[str, Any]
    seats: Sequence[Mapping[str, Any]]
    steps: Sequence[Mapping[str, Any]]
    models: Mapping[int, str]


def is_benchmark(path: Path) -> bool:
    """Whether a database has this form."""
    try:
        with SafeDatabase(path) as base:
            return base.has_table(SEQUENCE)
    except BadData:
        return False


def read_benchmark(path: Path) -> Iterator[tuple[int, str | BenchmarkRows]]:
    """Every game's place and rows, or the reason they cannot be read. Place 0 means the whole database."""
    with SafeDatabase(path) as base:
        try:
            yield from _read(base)
        except BadData as error:
            yield 0, str(error)


def _read(base: SafeDatabase) -> Iterator[tuple[int, str | BenchmarkRows]]:
    for table, columns in (("games", _GAMES), ("game_players", _SEATS), ("players", _PLAYERS), (SEQUENCE, _STEPS)):
        base.check_table(table, columns)
    games = [row[0] for row in base.rows("SELECT rowid FROM games ORDER BY game_id")]
    seats, steps = _places(base, "game_players", "rowid"), _places(base, SEQUENCE, "step")
    models = {
        player: model
        for player, model in base.rows("SELECT player_id, model_name FROM players")
        if isinstance(player, int) and isinstance(model, str)
    }
    for place, row in enumerate(games, 1):
        try:
            game = read_row(base, "games", _GAMES, row, _NUMBERS)
            yield (
                place,
                BenchmarkRows(
                    game,
                    [read_row(base, "game_players", _SEATS, at, _NUMBERS) for at in seats.get(game["game_id"], ())],
                    [read_row(base, SEQUENCE, _STEPS, at, _NUMBERS) for at in steps.get(game["game_id"], ())],
                    models,
                ),
            )
        except BadData as error:
            yield place, str(error)


def _places(base: SafeDatabase, table: str, order: str) -> dict[Any, list[int]]:
    """The rows of each game in a table."""
    places: dict[Any, list[int]] = {}
    for game, row in base.rows(f"SELECT game_id, rowid FROM {table} ORDER BY {order}"):
        places.setdefault(game, []).append(row)
    return places


def read_benchmark_game(rows: BenchmarkRows) -> LogGame:
    """What the rows of one game say. Raises BadData with the reason they cannot be read."""
    roles = {_text(seat, "character_name"): role_of(_text(seat, "role")) for seat in rows.seats}
    if len(roles) != len(rows.seats):
        raise BadData("two players have one name")
    by_role = {roles[s["character_name"]]: rows.models.get(s["player_id"], "") for s in rows.seats if s["player_id"]}
    models = {
        s["character_name"]: rows.models.get(s["player_id"] or 0) or by_role.get(roles[s["character_name"]])
        for s in rows.seats
    }
    known: dict[str, list[Mapping[str, Any]]] = {"kill": [], "investigate": [], "discuss": [], "vote": []}
    notes = []
    for step in rows.steps:
        if step["action"] in known and step["actor"] in roles:
            known[step["action"]].append(step)
        else:
            notes.append(f"step {step['step']}, {step['action']!r} by {step['actor']!r}, was not read")
    killed = {target_of(step)[0] for step in known["kill"]} | _with_status(rows, _KILLED)
    arrested = _with_status(rows, _ARRESTED)
    if max(len(killed), len(arrested)) > 1:
        raise BadData(f"{len(killed)} players were killed and {len(arrested)} arrested; it can be one of each")
    found = {step["actor"]: target_of(step)[0] for step in known["investigate"] if roles[step["actor"]] == DETECTIVE}
    day = LogDay(
        "".join(killed),
        found,
        messages=tuple(read_message(step) for step in known["discuss"]),
        votes=tuple(read_vote(step) for step in known["vote"]),
        arrested="".join(arrested),
    )
    return LogGame(
        _text(rows.game, "game_id"),
        roles,
        (day,),
        {name: model or UNKNOWN_MODEL for name, model in models.items()},
        winner=WINNERS.get(str(rows.game["winner"]).casefold(), ""),
        meta={"timestamp": rows.game["timestamp"], "actions": [dict(step) for step in rows.steps]},
        notes=tuple(notes),
    )


def _with_status(rows: BenchmarkRows, words: frozenset[str]) -> set[str]:
    return {s["character_name"] for s in rows.seats if str(s["final_status"]).casefold() in words}


def _text(row: Mapping[str, Any], column: str) -> str:
    value = row[column]
    if not isinstance(value, str) or not value:
        raise BadData(f"{column} is empty")
    return value
