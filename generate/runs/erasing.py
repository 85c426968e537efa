"""Takes the words of people who withdrew out of the rows of a journal."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from liescope.games.record import GameRecord, record_to_json, reply_to_json
from liescope.games.withdrawal import withdrawn_from, wordless
from liescope.generate.runs.checks import read_kept_reply
from liescope.generate.runs.tables import NAMES, insertion, rows, signed

_Row = Mapping[str, Any]
_Change = Callable[[_Row], _Row]  # from a row, by column, to what differs


def erase(
    base: sqlite3.Connection,
    folder: Path,
    games: Collection[GameRecord],
    dropped: Iterable[str],
    own: bool,
    names: Mapping[str, str],
) -> None:
    """Keep games as they are now, without the words of those who withdrew, and without the requests that may have held
    them. dropped: ids of games whose rows all go; own: replies are those of the people in the seats, not a judge's;
    names: new ones of people, by the old.
    """
    for game in games:
        seats = frozenset(withdrawn_from(game) if own else ())
        _rewrite(base, folder, "games", game.game_id, partial(_record, game=game))
        change = partial(_reply, seats=seats, names=names, folder=folder)
        _rewrite(base, folder, "replies", game.game_id, change)
        _rewrite(base, folder, "attempts", game.game_id, partial(_attempt, seats=seats))
    for game_id in dropped:
        for table in ("replies", "attempts", "unanswered"):
            base.execute(f"DELETE FROM {table} WHERE game_id = ?", (game_id,))
    _sweep(base)


def _rewrite(base: sqlite3.Connection, folder: Path, table: str, game_id: str, change: _Change) -> None:
    names = NAMES[table]
    kept = rows(base, folder, table, ", ".join(names), "WHERE game_id = ?", (game_id,))
    changed = [{**row, **change(row)} for row in [dict(zip(names, values, strict=True)) for values in kept]]
    base.execute(f"DELETE FROM {table} WHERE game_id = ?", (game_id,))
    base.executemany(insertion(table), [signed(tuple(row.values())) for row in changed])


def _record(_: _Row, game: GameRecord) -> _Row:
    return {"record": json.dumps(record_to_json(game), separators=(",", ":"))}


def _reply(row: _Row, seats: Collection[str], names: Mapping[str, str], folder: Path) -> _Row:
    if row["seat"] not in seats:
        return {}
    where = f"{folder}, game {row['game_id']}, step {row['step']}"
    reply = wordless(read_kept_reply(row["reply"], row["raw"], where))
    model = names.get(row["model"], row["model"])
    return {"reply": json.dumps(reply_to_json(reply), separators=(",", ":")), "raw": "", "model": model}


def _attempt(row: _Row, seats: Collection[str]) -> _Row:
    return {"parameters": None, "prompts": None} | ({"raw": ""} if row["seat"] in seats else {})


def _sweep(base: sqlite3.Connection) -> None:
    """Delete the texts and prompts that no request needs any more."""
    needed: set[int] = set()
    texts: set[int] = set()
    for parameters, prompts in base.execute("SELECT parameters, prompts FROM attempts WHERE parameters IS NOT NULL"):
        texts.add(parameters)
        needed.update(array("q", prompts or b""))
    prompts = base.execute("SELECT id, parent, tail FROM prompts")
    known = {name: (parent, array("q", tail)) for name, parent, tail in prompts}
    waiting = list(needed)
    while waiting:
        parent, tail = known[waiting.pop()]
        texts.update(tail)
        if parent is not None and parent not in needed:
            needed.add(parent)
            waiting.append(parent)
    for table, kept in (("prompts", needed), ("texts", texts)):
        gone = [(name,) for (name,) in base.execute(f"SELECT id FROM {table}") if name not in kept]
        base.executemany(f"DELETE FROM {table} WHERE id = ?", gone)
