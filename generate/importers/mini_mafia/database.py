"""The authors' SQLite form of a Mini-Mafia game: one row in `games`, one in `game_actions` for each action.

`villager_name` is the villager who survived the night; the mafioso's victim is only in the `kill` action. `winner` is
GOOD or EVIL. A message that could not be read has the result "remained silent"; a vote that was drawn at random ends in
" (random)". `background_name` is the model of every seat not played by a person, who sat in the seat of `human_role`
(the surviving villager's, for a villager).

The benchmark runs between models have another form: each player's model and role in separate tables (`games`,
`game_players`, `players`), and the actions in `game_sequence`.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from liescope.common.errors import BadData
from liescope.common.reading import regular
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, TOWN, VILLAGER
from liescope.generate.importers.mini_mafia.log_game import UNKNOWN_MODEL, LogDay, LogGame, LogMessage, LogVote
from liescope.generate.importers.mini_mafia.wording import UNCLOSED, role_of

QUERY_SECONDS = 10.0
LONGEST_VALUE = 4 << 20  # bytes
MOST_ROWS = 5_000_000
_SQL_STEPS = 20_000  # SQLite virtual machine steps between two checks of the clock


class SafeDatabase:
    """A read-only database. Use it as a context manager, more than once if needed; any fault in it raises BadData."""

    def __init__(self, path: Path, seconds: float = QUERY_SECONDS) -> None:
        self.path = path
        self._seconds = seconds
        self._base: sqlite3.Connection | None = None
        self._ends = 0.0

    def __enter__(self) -> SafeDatabase:
        regular(self.path)
        self._base = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
        self._base.text_factory = _cell_text
        self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        self._base.set_progress_handler(lambda: int(time.monotonic() > self._ends), _SQL_STEPS)
        for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
            list(self.rows(f"PRAGMA {pragma}"))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._base is not None:
            self._base.close()
            self._base = None

    def has_table(self, table: str) -> bool:
        """Whether anything with this name exists, table or not."""
        return bool(list(self.rows(f"SELECT 1 FROM sqlite_master WHERE name = '{table}'")))

    def check_table(self, table: str, columns: Sequence[str]) -> frozenset[str]:
        """The columns of a table. Raises BadData unless it is an ordinary table with at least these columns."""
        found = list(self.rows(f"SELECT type, sql FROM sqlite_master WHERE name = '{table}'"))
        if not found:
            raise BadData(f"{self.path}: there is no table {table}: not the authors' database")
        kind, sql = found[0]
        if kind != "table" or "VIRTUAL" in str(sql)[:20].upper():
            raise BadData(f"{self.path}: {table} is no ordinary table; only tables are read")
        have = frozenset(row[1] for row in self.rows(f"PRAGMA table_info({table})"))
        if missing := [column for column in columns if column not in have]:
            raise BadData(f"{self.path}: the table {table} lacks {', '.join(missing)}: not the authors' database")
        return have

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, within the time limit."""
        if self._base is None:
            raise ValueError("the database is not open")
        self._ends = time.monotonic() + self._seconds
        try:
            for count, row in enumerate(self._base.execute(query)):
                if count >= MOST_ROWS:
                    raise BadData(f"{self.path} has more than {MOST_ROWS:,} rows in one table")
                yield row
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise BadData(f"{self.path} takes longer than {self._seconds:g} s to answer one query") from error
            raise BadData(f"{self.path} cannot be read as a database: {error}; get the file again") from error
        except (sqlite3.Error, OverflowError, UnicodeError) as error:  # SQLite's own message may not be valid text
            raise BadData(f"{self.path} cannot be read as a database: {error}; get the file again") from error


def _cell_text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


MAGIC = b"SQLite format 3\x00"
_ROW_OF_A_GAME = (
    "game_id",
    "timestamp",
    "winner",
    "mafioso_name",
    "detective_name",
    "villager_name",
    "arrested_name",
    "background_name",
    "human_role",
)
_LATER = frozenset({"human_role"})  # columns missing from the authors' first databases
_GAME_TYPES = {"game_id": int}
_ACTION_TYPES = {"game_id": int, "step": int}
_ACTIONS = ("game_id", "step", "action_type", "actor", "raw_response", "parsed_result")
_DRAWN = " (random)"
_SILENT = frozenset({"", "None", "remained silent"})  # with a full stop, a player said it
WINNERS = {"good": TOWN, "town": TOWN, "evil": MAFIA, "mafia": MAFIA}


def read_database(path: Path) -> Iterator[tuple[int, str | tuple[dict[str, Any], list[dict[str, Any]]]]]:
    """Every game's place and row, with its actions in order, or the reason the row cannot be read.

    Only tables are read, never views, and no query may take longer than its limit.
    """
    base = SafeDatabase(path)
    try:
        with base:
            have = base.check_table("games", [column for column in _ROW_OF_A_GAME if column not in _LATER])
            base.check_table("game_actions", _ACTIONS)
            games = [row[0] for row in base.rows("SELECT rowid FROM games ORDER BY game_id")]
            actions: dict[Any, list[int]] = {}
            for game, row in base.rows("SELECT game_id, rowid FROM game_actions ORDER BY step"):
                actions.setdefault(game, []).append(row)
    except BadData as error:
        yield 0, str(error)
        return
    with base:
        for place, row in enumerate(games, 1):
            try:
                game = read_row(
                    base, "games", [column for column in _ROW_OF_A_GAME if column in have], row, _GAME_TYPES
                )
                yield (
                    place,
                    (
                        game,
                        [
                            read_row(base, "game_actions", _ACTIONS, action, _ACTION_TYPES)
                            for action in actions.get(game["game_id"], ())
                        ],
                    ),
                )
            except BadData as error:
                yield place, str(error)


def read_row(
    base: SafeDatabase, table: str, columns: Sequence[str], row: int, types: Mapping[str, type]
) -> dict[str, Any]:
    """One row. types: of columns that are not text. Raises BadData if a value is of another type."""
    if not isinstance(row, int):
        raise BadData(f"a row of {table} has no number")
    found = list(base.rows(f"SELECT {', '.join(columns)} FROM {table} WHERE rowid = {row}"))
    if len(found) != 1:
        raise BadData(f"row {row} of {table} is damaged; get the file again")
    read = dict(zip(columns, found[0], strict=True))
    for column, value in read.items():
        if value is not None and not isinstance(value, types.get(column, str)):
            raise BadData(f"{column} is of type {type(value).__name__}")
    return read


def read_database_game(game: Mapping[str, Any], actions: list[dict[str, Any]], game_id: str) -> LogGame:
    """What the rows of one game say. Raises BadData with the reason they cannot be read."""
    kinds: dict[str, list[dict[str, Any]]] = {"kill": [], "investigate": [], "discuss": [], "vote": []}
    notes = [] if "human_role" in game else ["the database does not say whether and where a person sat"]
    for action in actions:
        if action["action_type"] in kinds:
            kinds[action["action_type"]].append(action)
        else:
            notes.append(f"step {action['step']}, a {action['action_type']!r}, was not read")
    killed = _one(kinds["kill"], "kill")
    seats = {role: _name(game, f"{role}_name") for role in (MAFIOSO, DETECTIVE, VILLAGER)}
    if len({killed, *seats.values()}) != len(seats) + 1:
        raise BadData(f"the killed {killed} and the survivors {', '.join(seats.values())} are not four players")
    roles = dict(sorted([(killed, VILLAGER), *((name, role) for role, name in seats.items())]))
    human = game.get("human_role") or None
    if human is not None and human not in seats:
        raise BadData(f"human_role is {human!r}; it can be {', '.join(seats)}")
    arrested = game["arrested_name"] or ""
    winner = WINNERS.get(str(game["winner"]).casefold(), "")
    if arrested and winner != (TOWN if arrested == seats[MAFIOSO] else MAFIA):
        raise BadData(f"winner is {game['winner']!r} while {arrested} was arrested and {seats[MAFIOSO]} is the mafioso")
    day = LogDay(
        killed,
        {seats[DETECTIVE]: _one(kinds["investigate"], "investigate")},
        messages=tuple(read_message(action) for action in kinds["discuss"]),
        votes=tuple(read_vote(action) for action in kinds["vote"]),
        arrested=arrested,
    )
    model = game["background_name"] or UNKNOWN_MODEL
    return LogGame(
        game_id,
        roles,
        (day,),
        dict.fromkeys(roles, model),
        human=seats[human] if human else "",
        winner=winner,
        meta={
            "timestamp": game["timestamp"],
            "background": game["background_name"],
            "actions": [{key: action[key] for key in _ACTIONS if key != "game_id"} for action in actions],
        },
        notes=tuple(notes),
    )


def _one(actions: list[dict[str, Any]], kind: str) -> str:
    if len(actions) != 1:
        raise BadData(f"the game has {len(actions)} actions of kind {kind!r} and needs one")
    return target_of(actions[0])[0]


def target_of(action: Mapping[str, Any]) -> tuple[str, bool]:
    """The target of an action, and whether the authors' engine drew it at random."""
    result = str(action["parsed_result"])
    return result.removesuffix(_DRAWN), result.endswith(_DRAWN)


def _name(game: Mapping[str, Any], column: str) -> str:
    if not isinstance(game[column], str) or not game[column]:
        raise BadData(f"{column} is empty")
    return str(game[column])


def read_message(action: Mapping[str, Any]) -> LogMessage:
    """The message of a discuss action."""
    result = str(action["parsed_result"])
    if result in _SILENT:
        return LogMessage(action["actor"], None)
    first = (action["raw_response"] or "").strip().split("\n")[0]
    return LogMessage(action["actor"], result, (UNCLOSED,) if first.count('"') == 1 else ())


def read_vote(action: Mapping[str, Any]) -> LogVote:
    """The vote of a vote action."""
    return LogVote(action["actor"], *target_of(action))


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
