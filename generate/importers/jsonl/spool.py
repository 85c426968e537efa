"""Rows gathered by game on disk, so that memory use does not grow with the source."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

_BATCH = 1000


class Spool:
    """Rows in any order, given back game by game, in the order in which each game first occurs. It lives in a private
    file that goes away by itself.
    """

    def __init__(self) -> None:
        self._base = sqlite3.connect("")
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("CREATE TABLE rows (game INTEGER, line INTEGER, row TEXT)")
        self._games: dict[str, int] = {}
        self._waiting: list[tuple[int, int, str]] = []

    def add(self, game_id: str, line: int, row: Mapping[str, Any]) -> None:
        """Keep a row. line: its line in the source."""
        game = self._games.setdefault(game_id, len(self._games))
        self._waiting.append((game, line, json.dumps(row, default=str)))
        if len(self._waiting) >= _BATCH:
            self._write()

    def games(self) -> Iterator[tuple[str, Iterator[tuple[int, dict[str, Any]]]]]:
        """Each game with its rows, in the order of the source, and their lines."""
        self._write()
        names = list(self._games)
        rows = self._base.execute("SELECT game, line, row FROM rows ORDER BY game, rowid")
        for game, mine in groupby(rows, key=itemgetter(0)):
            yield names[game], ((line, json.loads(row)) for _, line, row in mine)

    def close(self) -> None:
        self._base.close()

    def _write(self) -> None:
        self._base.executemany("INSERT INTO rows VALUES (?, ?, ?)", self._waiting)
        self._waiting.clear()
