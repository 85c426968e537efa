"""The published games of the Mini-Mafia paper's authors, in both forms and every version.

Batch configurations tell which model played which role, and with which version of the prompts. A database holds each
action in a row of its own, in one of two forms.

Games with a person: `games` and `game_actions`. `villager_name` is the villager who survived the night; the mafioso's
victim is only in the `kill` action. `winner` is GOOD or EVIL. `background_name` is the model in every seat but the
person's, the seat of `human_role` (for a villager, that of the survivor).

The benchmark runs between models: `games`, `game_players` and `players` (each player's role and model) and
`game_sequence`. In both, a message that could not be read has the result "remained silent"; a vote that was drawn at
random ends in " (random)".
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

from pydantic import Field

from liescope.common.errors import BadData
from liescope.common.reading import open_regular, regular
from liescope.common.settings import OptionsModel
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, TOWN, VILLAGER
from liescope.games.record import GameRecord
from liescope.generate.importers.importer_protocol import Imported, Importer, Rejected, attempt
from liescope.generate.importers.mini_mafia_log import (
    FORMAT,
    ROLES,
    UNKNOWN_MODEL,
    WINNERS,
    LogDay,
    LogGame,
    LogMessage,
    LogVote,
    record_of,
)
from liescope.generate.importers.mini_mafia_memories import UNCLOSED, player_list, read_log_game, role_of
from liescope.generate.importers.tables import read_objects

PAPER_NAMES = {
    "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf": "Llama 3.1 8B Instruct",
    "Mistral-7B-Instruct-v0.2-Q4_K_M.gguf": "Mistral 7B Instruct",
    "Mistral-7B-Instruct-v0.3-Q4_K_M.gguf": "Mistral 7B Instruct",
    "Qwen2.5-7B-Instruct-Q4_K_M.gguf": "Qwen2.5 7B Instruct",
    "claude-opus-4-1-20250805": "Claude Opus 4.1",
    "claude-sonnet-4-20250514": "Claude Sonnet 4",
    "deepseek-chat": "DeepSeek V3.1",
    "gemini-2.5-flash-lite": "Gemini 2.5 Flash Lite",
    "gpt-4.1-mini": "GPT-4.1 Mini",
    "gpt-5-mini": "GPT-5 Mini",
    "grok-3-mini": "Grok 3 Mini",
    "mistral.gguf": "Mistral 7B Instruct",  # in the earliest batches
    # The backgrounds of the games with people
    "deepseek": "DeepSeek V3.1",
    "mistral": "Mistral 7B Instruct",
}


def paper_name(logged: str) -> str:
    """The paper's name for a model, or the logged one if the paper has none.

    The database of games with people writes the older backgrounds as `detective_villager`, with "_" for "-" inside a
    name.
    """
    half, even = divmod(len(logged), 2)
    if even and logged[half] == "_" and logged[:half] == logged[half + 1 :]:
        logged = logged[:half]
    return PAPER_NAMES.get(logged) or PAPER_NAMES.get(logged.replace("_", "-"), logged)


MOST_BATCHES = 10_000
_VERSION = re.compile(r"_(v\d+(?:\.\d+)*)$")


def read_batches(file: Path, batches: dict[str, dict[str, Any]]) -> Iterator[Rejected]:
    """Add the batches of a file by id, and by id without its version; yields rejections for anything else."""
    for line, entry in read_objects(file):
        if isinstance(entry, Rejected):
            yield entry
        elif not isinstance(entry.get("batch_id"), str) or not isinstance(entry.get("model_configs"), dict):
            yield Rejected(file.name, line, "", "the batch has no batch_id and model_configs")
        elif len(batches) >= 2 * MOST_BATCHES:
            yield Rejected(file.name, line, "", f"there are more than {MOST_BATCHES:,} batches")
            return
        else:
            batches[entry["batch_id"]] = entry
            batches.setdefault(_VERSION.sub("", entry["batch_id"]), entry)


def players_of(
    game: Mapping[str, Any], batches: Mapping[str, Mapping[str, Any]] | None
) -> tuple[dict[str, str], dict[str, Any], list[str]]:
    """A game's models (name to model), what else its record keeps, and notes on what is not known.

    What the game itself says about its models comes first: early versions name them with the players.
    """
    name, known = str(game.get("game_id", "")).partition("_game_")[0], batches or {}
    batch = known.get(name) or known.get(str(game.get("batch_id", "")), {})
    own = game.get("model_configs")
    configs = (own if isinstance(own, dict) else None) or batch.get("model_configs") or {}
    by_role = {role_of(str(role)): _model(config) for role, config in configs.items()}
    meta = {"batch": name, "number": game.get("game_number"), "timestamp": game.get("timestamp")}
    meta |= {"players": configs} if configs else {}
    prompts, found = batch.get("prompt_config"), _VERSION.search(name)
    stated = prompts.get("version") if isinstance(prompts, dict) else None
    if version := stated if isinstance(stated, str) and stated else found and found[1]:
        meta["prompt_version"] = version
    notes = []
    if batches is not None and not batch and not configs:
        notes.append(f"its batch {name!r} is not among the batches given")
    elif missing := [role for role in ROLES if configs and not by_role.get(role)]:
        notes.append(f"its batch names no model for the {', '.join(missing)}")
    models = {}
    for player in player_list(game):
        if isinstance(player, dict) and isinstance(player.get("name"), str):
            role = role_of(str(player.get("role", "")))
            models[player["name"]] = _model(player.get("model")) or by_role.get(role) or UNKNOWN_MODEL
    return models, meta, notes


def _model(config: Any) -> str:
    """The model that a configuration names; for a local model, its file name. "" if it names none."""
    for key in ("model", "model_name", "model_path") if isinstance(config, dict) else ():
        if isinstance(config.get(key), str) and config[key]:
            return str(config[key] if key == "model" else re.split(r"[/\\]", config[key].rstrip("/\\"))[-1])
    return ""


# Databases

MAGIC = b"SQLite format 3\x00"
QUERY_SECONDS = 10.0
LONGEST_VALUE = 4 << 20  # bytes
MOST_ROWS = 1_000_000
_SQL_STEPS = 20_000  # SQLite virtual machine steps between two checks of the clock


class SafeDatabase:
    """A read-only database, as a context manager; any fault in it raises BadData. Every query is limited to so many
    seconds.
    """

    def __init__(self, path: Path, seconds: float = QUERY_SECONDS) -> None:
        self.path, self._seconds, self._ends = path, seconds, 0.0

    def __enter__(self) -> SafeDatabase:
        self._base = sqlite3.connect(f"{regular(self.path).resolve().as_uri()}?mode=ro", uri=True)
        self._base.text_factory = lambda raw: raw.decode("utf-8", "replace")
        self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        self._base.set_progress_handler(lambda: int(time.monotonic() > self._ends), _SQL_STEPS)
        # A stranger's schema may hold triggers and views that run their own SQL, and cells of false sizes.
        for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
            self.rows(f"PRAGMA {pragma}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._base.close()

    def table(self, name: str, columns: Sequence[str]) -> list[str]:
        """Those of these columns that a table has. Raises BadData unless it is an ordinary table that lacks only
        columns added later.
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
    """Every game's place and id with its contents, or why they cannot be read. Place 0 is the whole database.

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
        silent = result in ("", "None", "remained silent")  # with a full stop, it is what a player said
        notes = (UNCLOSED,) if first.count('"') == 1 and not silent else ()
        said.append(LogMessage(action["actor"], None if silent else result, notes))
    votes = tuple(LogVote(action["actor"], *_target(action)) for action in acts["vote"])
    return LogDay(killed, found, messages=tuple(said), votes=votes, arrested=arrested)


def _with_a_person(game_id: str, game: Row, rows: Rows) -> LogGame:
    """The contents of a game with a person. Raises BadData."""
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
    """The contents of a benchmark game. named: models by the number of their player. Raises BadData."""
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


# The importer


class MiniMafiaOptions(OptionsModel):
    """batches: without them, models are "unknown" unless the game itself names them."""

    batches: Path | None = Field(default=None, description="The log's batch configurations, which name the models.")
    paper_names: bool = Field(default=False, description="Name models as the paper does, not as the log does.")


class MiniMafiaImporter(Importer):
    """Logs with one JSON object per line (`.jsonl`, optionally gzipped), or a SQLite database."""

    format: ClassVar[str] = FORMAT
    reads: ClassVar[str] = "a log (.jsonl, .jsonl.gz) or a SQLite database"
    origin: ClassVar[str] = "the Mini-Mafia paper's authors, https://github.com/bastoscostadavi/llm-mafia-game"
    licence: ClassVar[str] = "The authors state no licence: for research, not to be redistributed."
    languages: ClassVar[tuple[str, ...]] = ("en",)
    version: ClassVar[int] = 2
    Options: ClassVar[type[OptionsModel]] = MiniMafiaOptions

    def __init__(self, options: MiniMafiaOptions) -> None:
        super().__init__(options)
        self._paper_names = options.paper_names
        self._file = options.batches
        self._batches: dict[str, dict[str, Any]] | None = None

    def read(self, source: Path) -> Iterator[Imported | Rejected]:
        with open_regular(source) as file:
            is_database = file.read(len(MAGIC)) == MAGIC
        if is_database:
            for place, game_id, log in read_database(source):
                if isinstance(log, str):
                    yield Rejected(source.name, place, game_id, log)
                else:
                    yield attempt(source.name, place, game_id, partial(self._record, log))
            return
        if self._file is not None and self._batches is None:
            self._batches = {}
            yield from read_batches(self._file, self._batches)
        for line, entry in read_objects(source):
            if isinstance(entry, Rejected):
                yield entry
            else:
                named = entry.get("game_id")
                make = partial(self._from_line, entry)
                yield attempt(source.name, line, named if isinstance(named, str) else "", make)

    def _from_line(self, game: dict[str, Any]) -> GameRecord:
        models, meta, notes = players_of(game, self._batches)
        log = read_log_game(game, models, meta)
        return self._record(replace(log, notes=(*notes, *log.notes)))

    def _record(self, log: LogGame) -> GameRecord:
        if self._paper_names:
            log = replace(log, models={name: paper_name(model) for name, model in log.models.items()})
        return record_of(log)
