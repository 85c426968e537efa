"""The authors' SQLite form of a Mini-Mafia game: one row in `games`, one in `game_actions` for each action.

`villager_name` is the villager who survived the night; the mafioso's victim is only in the `kill` action. `winner` is
GOOD or EVIL. A message that could not be read has the result "remained silent"; a vote that was drawn at random ends in
" (random)". `background_name` is the model of every seat not played by a person, who sat in the seat of `human_role`
(the surviving villager's, for a villager).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.games.mafia import DETECTIVE, MAFIA, MAFIOSO, TOWN, VILLAGER
from liescope.generate.importers.mini_mafia.log_game import UNKNOWN_MODEL, LogDay, LogGame, LogMessage, LogVote
from liescope.generate.importers.mini_mafia.wording import UNCLOSED
from liescope.generate.importers.sqlite import SafeDatabase

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
            have = base.check_table("games", [column for column in _GAMES if column not in _LATER])
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
                game = read_row(base, "games", [column for column in _GAMES if column in have], row, _GAME_TYPES)
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
