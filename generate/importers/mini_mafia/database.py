"""The authors' SQLite form of a Mini-Mafia game: one row in `games`, one in `game_actions` for each thing done.

`villager_name` is the villager who survived the night; whom the mafioso killed stands in the `kill` action alone.
`winner` is GOOD or EVIL. A message that could not be read has the result "remained silent"; a vote that was drawn ends
in " (random)". `background_name` is the model of every seat that no person played, and the person sat in the seat of
`human_role` (the surviving villager's, for a villager).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, TOWN, VILLAGER
from liescope.generate.importers.mini_mafia.log_game import UNKNOWN_MODEL, Cast, LogGame, LogMessage
from liescope.generate.importers.mini_mafia.memories import UNCLOSED

MAGIC = b"SQLite format 3\x00"
_GAMES = (
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
_ACTIONS = ("game_id", "step", "action_type", "actor", "raw_response", "parsed_result")
_DRAWN = " (random)"
_SILENT = frozenset({"", "None", "remained silent"})  # with a full stop, somebody said so
_WINNERS = {"good": TOWN, "town": TOWN, "evil": MAFIA, "mafia": MAFIA}


def read_database(path: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every game's row with its actions in their order. Raises BadData where the file is no such database."""
    uri = f"{path.resolve().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as base:
            base.text_factory = _text
            base.row_factory = sqlite3.Row
            for table, wanted in (("games", _GAMES), ("game_actions", _ACTIONS)):
                have = {row["name"] for row in base.execute(f"PRAGMA table_info({table})")}
                if missing := [column for column in wanted if column not in have]:
                    raise BadData(f"{path}: the table {table} lacks {', '.join(missing)}: not the authors' database")
            for game in base.execute(f"SELECT {', '.join(_GAMES)} FROM games ORDER BY game_id"):
                asked = f"SELECT {', '.join(_ACTIONS)} FROM game_actions WHERE game_id = ? ORDER BY step"
                yield dict(game), [dict(row) for row in base.execute(asked, (game["game_id"],))]
    except sqlite3.DatabaseError as error:
        raise BadData(f"{path} cannot be read as a database: {error}; get the file again") from error


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def read_database_game(game: Mapping[str, Any], actions: list[dict[str, Any]], game_id: str) -> LogGame:
    """What the rows of one game tell. Raises BadData with the reason they cannot be read."""
    kinds: dict[str, list[dict[str, Any]]] = {"kill": [], "investigate": [], "discuss": [], "vote": []}
    for action in actions:
        if action["action_type"] not in kinds:
            raise BadData(f"step {action['step']} is a {action['action_type']!r}, which Mini-Mafia does not have")
        kinds[action["action_type"]].append(action)
    killed = _one(kinds["kill"], "kill")
    seats = {role: _name(game, f"{role}_name") for role in (MAFIOSO, DETECTIVE, VILLAGER)}
    if len({killed, *seats.values()}) != len(seats) + 1:
        raise BadData(f"the killed {killed} and the survivors {', '.join(seats.values())} are not four players")
    roles = dict(sorted([(killed, VILLAGER), *((name, role) for role, name in seats.items())]))
    human = game["human_role"] or None
    if human is not None and human not in seats:
        raise BadData(f"human_role is {human!r}; it can be {', '.join(seats)}")
    arrested = _name(game, "arrested_name")
    winner = _WINNERS.get(str(game["winner"]).casefold())
    if winner != (TOWN if arrested == seats[MAFIOSO] else MAFIA):
        raise BadData(f"winner is {game['winner']!r} while {arrested} was arrested and {seats[MAFIOSO]} is the mafioso")
    model = game["background_name"] or UNKNOWN_MODEL
    return LogGame(
        game_id,
        roles,
        killed,
        _one(kinds["investigate"], "investigate"),
        tuple(_said(action) for action in kinds["discuss"]),
        tuple(_cast(action) for action in kinds["vote"]),
        arrested,
        dict.fromkeys(seats, model),
        human=seats[human] if human else None,
        meta={
            "timestamp": game["timestamp"],
            "background": game["background_name"],
            "actions": [{key: action[key] for key in _ACTIONS if key != "game_id"} for action in actions],
        },
    )


def _one(actions: list[dict[str, Any]], kind: str) -> str:
    if len(actions) != 1:
        raise BadData(f"the game has {len(actions)} actions of kind {kind!r} and needs one")
    return _target(actions[0])[0]


def _target(action: Mapping[str, Any]) -> tuple[str, bool]:
    result = str(action["parsed_result"])
    return result.removesuffix(_DRAWN), result.endswith(_DRAWN)


def _name(game: Mapping[str, Any], column: str) -> str:
    if not isinstance(game[column], str) or not game[column]:
        raise BadData(f"{column} is empty")
    return str(game[column])


def _said(action: Mapping[str, Any]) -> LogMessage:
    result = str(action["parsed_result"])
    if result in _SILENT:
        return LogMessage(action["actor"], None)
    first = (action["raw_response"] or "").strip().split("\n")[0]
    return LogMessage(action["actor"], result, (UNCLOSED,) if first.count('"') == 1 else ())


def _cast(action: Mapping[str, Any]) -> Cast:
    return Cast(action["actor"], *_target(action))
