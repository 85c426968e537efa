"""Published Mini-Mafia games, from either of the authors' forms, as records; what cannot be read, with the reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.games.mafia import DETECTIVE, MAFIOSO, VILLAGER
from liescope.games.record import GameRecord
from liescope.generate.importers.lines import read_lines
from liescope.generate.importers.mini_mafia.database import MAGIC, read_database, read_database_game
from liescope.generate.importers.mini_mafia.log_game import UNKNOWN_MODEL, LogGame, replay_log
from liescope.generate.importers.mini_mafia.memories import read_log_game
from liescope.generate.importers.mini_mafia.models import paper_name

ROLES = (MAFIOSO, DETECTIVE, VILLAGER)


@dataclass(frozen=True, slots=True)
class Rejected:
    """Something that could not be read. line: of the file, from 1; in a database, the game's place."""

    file: str
    line: int
    game_id: str
    reason: str


def read_mini_mafia(
    path: Path, batches: Path | None = None, paper_names: bool = False
) -> Iterator[GameRecord | Rejected]:
    """Every game of a log (`.jsonl`, also gzipped) or of a SQLite database, in the file's order.

    batches: the log's batch configurations, which hold each role's model; without them models are "unknown".
    paper_names: name models as the paper does, where it does. Raises OSError where a file cannot be opened and
    BadData for a damaged database.
    """
    with path.open("rb") as file:
        is_database = file.read(len(MAGIC)) == MAGIC
    seen: dict[str, int] = {}
    for item in _database(path) if is_database else _log(path, batches):
        if isinstance(item, Rejected):
            yield item
            continue
        place, game_id, tell = item
        try:
            if game_id in seen:
                raise BadData(f"the game stands on line {seen[game_id]} already")
            told = tell()
            record = replay_log(_renamed(told) if paper_names else told)
        except UsageError as error:
            yield Rejected(path.name, place, game_id, str(error))
            continue
        seen[game_id] = place
        yield record


_Tale = tuple[int, str, Callable[[], LogGame]]


def _log(path: Path, batches: Path | None) -> Iterator[Rejected | _Tale]:
    """The games of a JSON-lines log, each with its line and the function that reads it."""
    configs: dict[str, dict[str, Any]] = {}
    for line, entry in [] if batches is None else _objects(batches):
        if isinstance(entry, Rejected):
            yield entry
        elif isinstance(entry.get("batch_id"), str) and isinstance(entry.get("model_configs"), dict):
            configs[entry["batch_id"]] = entry
        else:
            yield Rejected(str(batches), line, "", "the batch has no batch_id and model_configs")
    for line, entry in _objects(path):
        if isinstance(entry, Rejected):
            yield entry
        else:
            yield line, str(entry.get("game_id", "")), partial(_told, entry, None if batches is None else configs)


def _told(game: dict[str, Any], configs: Mapping[str, dict[str, Any]] | None) -> LogGame:
    batch = str(game.get("game_id", "")).partition("_game_")[0]
    meta = {"batch": batch, "number": game.get("game_number"), "timestamp": game.get("timestamp")}
    models = dict.fromkeys(ROLES, UNKNOWN_MODEL)
    if configs is not None:
        if batch not in configs:
            raise BadData(f"its batch {batch!r} is not among the batches given")
        players = configs[batch]["model_configs"]
        for role in ROLES:
            if not isinstance(players.get(role), dict) or not isinstance(players[role].get("model"), str):
                raise BadData(f"its batch {batch!r} names no model for the {role}")
            models[role] = players[role]["model"]
        meta["players"] = players
    return read_log_game(game, models, meta)


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | Rejected]]:
    """The JSON objects of a file by line, and a rejection for everything else."""
    for line in read_lines(path):
        if line.problem:
            yield line.number, Rejected(path.name, line.number, "", line.problem)
        if not line.text:
            continue
        reason = "JSON, but not an object"
        try:
            entry = json.loads(line.text)
        except (ValueError, RecursionError) as error:
            entry, reason = None, f"not JSON: {error}"
        if isinstance(entry, dict):
            yield line.number, entry
        elif not line.problem:
            yield line.number, Rejected(path.name, line.number, "", reason)


def _database(path: Path) -> Iterator[_Tale]:
    for place, (game, actions) in enumerate(read_database(path), 1):
        number = game["game_id"]
        game_id = f"{path.stem}_game_{f'{number:04d}' if isinstance(number, int) else number}"
        yield place, game_id, partial(read_database_game, game, actions, game_id)


def _renamed(told: LogGame) -> LogGame:
    return replace(told, models={role: paper_name(model) for role, model in told.models.items()})
