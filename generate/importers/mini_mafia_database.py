"""The authors' SQLite forms of a Mini-Mafia game, each action in a row of its own.

Games with a person: `games` and `game_actions`. `villager_name` is the villager who survived the night; the mafioso's
victim is only in the `kill` action. `winner` is GOOD or EVIL. `background_name` is the model of every other seat than
the person's, which is that of `human_role` (the surviving villager's, for a villager).

The benchmark runs between models: `games`, `game_players` and `players` (each player's role and model) and
`game_sequence`. In both, a message that could not be read has the result "remained silent"; a vote that was drawn at
random ends in " (random)".
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from liescope.common.errors import BadData
from liescope.common.reading import regular
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, TOWN, VILLAGER
from liescope.generate.importers.mini_mafia_log import (
    UNKNOWN_MODEL,
    WINNERS,
    LogDay,
    LogGame,
    LogMessage,
    LogVote,
)
from liescope.generate.importers.mini_mafia_memories import UNCLOSED, role_of

MAGIC = b"SQLite format 3\x00"
QUERY_SECONDS = 10.0
LONGEST_VALUE = 4 << 20  # bytes
MOST_ROWS = 1_000_000
_SQL_STEPS = 20_000  # SQLite virtual machine steps between two checks of the clock


class SafeDatabase:
    """A read-only database, as a context manager; any fault in it raises BadData. No query takes longer than so many
    seconds.
    """

    def __init__(self, path: Path, seconds: float = QUERY_SECONDS) -> None:
        self.path, self._seconds, self._ends = path, seconds, 0.0

    def __enter__(self) -> SafeDatabase:
        self._base = sqlite3.connect(f"{regular(self.path).resolve().as_uri()}?mode=ro", uri=True)
        self._base.text_factory = lambda raw: raw.decode("utf-8", "replace")
        self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        self._base.set_progress_handler(lambda: int(time.monotonic() > self._ends), _SQL_STEPS)
        for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
            self.rows(f"PRAGMA {pragma}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._base.close()

    def table(self, name: str, columns: Sequence[str]) -> list[str]:
        """The columns of these that a table has. Raises BadData unless it is an ordinary table, which lacks none but
        those that came later.
        """
        found = self.rows(f"SELECT type, sql FROM sqlite_master WHERE name = '{name}'")
        if not found:
            raise BadData(f"{self.path}: there is no table {name}: not the authors' database")
        kind, sql = found[0]
        if kind != "table" or "VIRTUAL" in str(sql)[:20].upper():
            raise BadData(f"{self.path}: {name} is no ordinary table; only tables are read")
        have = {row[1] for row in self.rows(f"PRAGMA table_info({name})")}
        if missing := [column for column in columns if column not in (*have, *_LATER)]:
            raise BadData(f"{self.path}: the table {name} lacks {', '.join(missing)}: not the authors' database")
        return [column for column in columns if column in have]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        self._ends = time.monotonic() + self._seconds
        try:
            with closing(self._base.execute(query)) as found:
                rows = found.fetchmany(MOST_ROWS + 1)
        except (sqlite3.Error, OverflowError, UnicodeError) as error:  # SQLite's own message may not be valid text
            if isinstance(error, sqlite3.OperationalError) and "interrupted" in str(error):
                raise BadData(f"{self.path} takes longer than {self._seconds:g} s to answer one query") from error
            raise BadData(f"{self.path} cannot be read as a database: {error}; get the file again") from error
        if len(rows) > MOST_ROWS:
            raise BadData(f"{self.path} has more than {MOST_ROWS:,} rows in one table")
        return rows


Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]
"""By table, the rows of one game."""
_BY_NAME = ("mafioso_name", "detective_name", "villager_name", "arrested_name", "background_name", "human_role")
_PEOPLE = {
    "games": ("game_id", "timestamp", "winner", *_BY_NAME),
    "game_actions": ("game_id", "step", "action_type", "actor", "raw_response", "parsed_result"),
}
_BENCHMARK = {
    "games": ("game_id", "timestamp", "winner"),
    "game_players": ("game_id", "player_id", "character_name", "role", "final_status"),
    "game_sequence": ("game_id", "step", "action", "actor", "raw_response", "parsed_result"),
}
_LATER = ("human_role",)  # missing from the authors' first databases
_NUMBERS = frozenset({"step", "player_id"})


def read_database(path: Path) -> Iterator[tuple[int, str, LogGame | str]]:
    """Every game's place, id, and what its rows say, or why they cannot be read. Place 0 is the whole database.

    Only tables are read, never views, and a damaged row costs its game alone.
    """
    with SafeDatabase(path) as base:
        try:
            benchmark = bool(base.rows("SELECT 1 FROM sqlite_master WHERE name = 'game_sequence'"))
            tables = _BENCHMARK if benchmark else _PEOPLE
            columns = {name: base.table(name, needed) for name, needed in tables.items()}
            games = [row for (row,) in base.rows("SELECT rowid FROM games ORDER BY game_id")]
            places = {name: _places(base, name, columns[name]) for name in columns if name != "games"}
            models = dict[Any, Any]()
            if benchmark:
                base.table("players", ("player_id", "model_name"))
                models.update(base.rows("SELECT player_id, model_name FROM players"))
        except BadData as error:
            yield 0, "", str(error)
            return
        for place, at in enumerate(games, 1):
            game_id = ""
            try:
                game = _row(base, "games", columns["games"], at, benchmark)
                number = game["game_id"]
                game_id = str(number) if benchmark else f"{path.stem}_game_{number:04d}"
                rows = {
                    name: [_row(base, name, columns[name], one, benchmark) for one in found.get(number, ())]
                    for name, found in places.items()
                }
                log = _of_benchmark(game_id, game, rows, models) if benchmark else _with_a_person(game_id, game, rows)
                yield place, game_id, log
            except BadData as error:
                yield place, game_id, str(error)


def _places(base: SafeDatabase, table: str, columns: Sequence[str]) -> dict[Any, list[int]]:
    """The rows of each game in a table."""
    places: dict[Any, list[int]] = {}
    order = "step" if "step" in columns else "rowid"
    for game, row in base.rows(f"SELECT game_id, rowid FROM {table} ORDER BY {order}"):
        places.setdefault(game, []).append(row)
    return places


def _row(base: SafeDatabase, table: str, columns: Sequence[str], row: Any, benchmark: bool) -> dict[str, Any]:
    """One row. Raises BadData if a value is of another type than its column's."""
    if not isinstance(row, int):
        raise BadData(f"a row of {table} has no number")
    found = base.rows(f"SELECT {', '.join(columns)} FROM {table} WHERE rowid = {row}")
    if len(found) != 1:
        raise BadData(f"row {row} of {table} is damaged; get the file again")
    read = dict(zip(columns, found[0], strict=True))
    for column, value in read.items():
        number = column in _NUMBERS or (column == "game_id" and not benchmark)
        if value is not None and not isinstance(value, int if number else str):
            raise BadData(f"{column} is of type {type(value).__name__}")
    if read["game_id"] is None:
        raise BadData("game_id is empty")
    return read


def _text(row: Row, column: str) -> str:
    if not isinstance(row[column], str) or not row[column]:
        raise BadData(f"{column} is empty")
    return str(row[column])


def _target(action: Row) -> tuple[str, bool]:
    """The target of an action, and whether the authors' engine drew it at random."""
    result = str(action["parsed_result"])
    return result.removesuffix(" (random)"), result.endswith(" (random)")


def _acts(actions: Sequence[Row], kind: str, actors: Collection[str], notes: list[str]) -> dict[str, list[Row]]:
    """The actions of these actors by their kind, which is in the column of that name; others are noted."""
    acts: dict[str, list[Row]] = {"kill": [], "investigate": [], "discuss": [], "vote": []}
    for action in actions:
        if action[kind] in acts and action["actor"] in actors:
            acts[action[kind]].append(action)
        else:
            notes.append(f"step {action['step']}, {action[kind]!r} by {action['actor']!r}, was not read")
    return acts


def _day(acts: Mapping[str, Sequence[Row]], killed: str, found: Mapping[str, str], arrested: str) -> LogDay:
    said = []
    for action in acts["discuss"]:
        result, first = str(action["parsed_result"]), (action["raw_response"] or "").strip().split("\n")[0]
        silent = result in ("", "None", "remained silent")  # with a full stop, a player said it
        notes = (UNCLOSED,) if first.count('"') == 1 and not silent else ()
        said.append(LogMessage(action["actor"], None if silent else result, notes))
    votes = tuple(LogVote(action["actor"], *_target(action)) for action in acts["vote"])
    return LogDay(killed, found, messages=tuple(said), votes=votes, arrested=arrested)


def _with_a_person(game_id: str, game: Row, rows: Rows) -> LogGame:
    """What the rows of a game with a person say. Raises BadData."""
    actions, notes = rows["game_actions"], list[str]()
    if "human_role" not in game:
        notes.append("the database does not say whether and where a person sat")
    seats = {role: _text(game, f"{role}_name") for role in (MAFIOSO, DETECTIVE, VILLAGER)}
    acts = _acts(actions, "action_type", {action["actor"] for action in actions}, notes)
    for kind in ("kill", "investigate"):
        if len(acts[kind]) != 1:
            raise BadData(f"the game has {len(acts[kind])} actions of kind {kind!r} and needs one")
    killed = _target(acts["kill"][0])[0]
    if len({killed, *seats.values()}) != len(seats) + 1:
        raise BadData(f"the killed {killed} and the survivors {', '.join(seats.values())} are not four players")
    roles = dict(sorted([(killed, VILLAGER), *((name, role) for role, name in seats.items())]))
    human = game.get("human_role") or ""
    if human and human not in seats:
        raise BadData(f"human_role is {human!r}; it can be {', '.join(seats)}")
    arrested, winner = game["arrested_name"] or "", WINNERS.get(str(game["winner"]).casefold(), "")
    if arrested and winner != (TOWN if arrested == seats[MAFIOSO] else MAFIA):
        raise BadData(f"winner is {game['winner']!r} while {arrested} was arrested and {seats[MAFIOSO]} is the mafioso")
    day = _day(acts, killed, {seats[DETECTIVE]: _target(acts["investigate"][0])[0]}, arrested)
    models = dict.fromkeys(roles, game["background_name"] or UNKNOWN_MODEL)
    kept = [{name: value for name, value in action.items() if name != "game_id"} for action in actions]
    meta = {"timestamp": game["timestamp"], "background": game["background_name"], "actions": kept}
    return LogGame(game_id, roles, (day,), models, seats.get(human, ""), winner, meta=meta, notes=tuple(notes))


def _of_benchmark(game_id: str, game: Row, rows: Rows, named: Mapping[Any, Any]) -> LogGame:
    """What the rows of a game of the benchmark say. named: models by the number of their player. Raises BadData."""
    seats, steps, notes = rows["game_players"], rows["game_sequence"], list[str]()
    roles = {_text(seat, "character_name"): role_of(_text(seat, "role")) for seat in seats}
    if len(roles) != len(seats):
        raise BadData("two players have one name")
    own = {seat["character_name"]: str(named.get(seat["player_id"]) or "") for seat in seats}
    by_role = {roles[name]: model for name, model in own.items() if model}
    models = {name: model or by_role.get(roles[name], UNKNOWN_MODEL) for name, model in own.items()}
    acts = _acts(steps, "action", roles, notes)
    status = {seat["character_name"]: str(seat["final_status"]).casefold() for seat in seats}
    killed = {_target(act)[0] for act in acts["kill"]} | {n for n, is_ in status.items() if is_ in ("killed", "dead")}
    arrested = {name for name, is_ in status.items() if is_ in ("arrested", "imprisoned")}
    if max(len(killed), len(arrested)) > 1:
        raise BadData(f"{len(killed)} players were killed and {len(arrested)} arrested; it can be one of each")
    found = {act["actor"]: _target(act)[0] for act in acts["investigate"] if roles[act["actor"]] == DETECTIVE}
    day = _day(acts, "".join(killed), found, "".join(arrested))
    winner = WINNERS.get(str(game["winner"]).casefold(), "")
    meta = {"timestamp": game["timestamp"], "actions": list(steps)}
    return LogGame(game_id, roles, (day,), models, winner=winner, meta=meta, notes=tuple(notes))
