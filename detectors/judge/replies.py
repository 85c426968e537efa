"""Every reply of a judge that was paid for, kept in one SQLite file and found again by its request."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.generate.players.openai.completion import Alternatives, Completion

_FORMAT = 1
_ADVICE = "delete it or choose another --judge-cache; what was paid for in it is lost"


@dataclass(frozen=True, slots=True)
class Kept:
    """One reply. content: the message; tokens: as in `Completion`."""

    content: str
    tokens: tuple[Alternatives, ...]
    served_model: str | None


def default_file() -> Path:
    """The file in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache"
    return Path(base) / "liescope" / "judge.sqlite"


def key_of(url: str, request: Mapping[str, Any]) -> str:
    """A request's key: the address and everything that is sent to it."""
    return sha256(json.dumps([url, request], sort_keys=True).encode()).hexdigest()


class Replies:
    """The replies in a file. Each is committed as it arrives."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def find(self, key: str) -> Kept | None:
        row = self._database.execute(
            "SELECT content, tokens, served_model FROM replies WHERE key = ?", [key]
        ).fetchone()
        if row is None:
            return None
        try:
            tokens = tuple(tuple((str(token), float(at)) for token, at in place) for place in json.loads(row[1]))
        except (ValueError, TypeError, RecursionError):
            return None
        return Kept(str(row[0]), tokens, row[2] and str(row[2]))

    def keep(self, key: str, model: str, completion: Completion) -> None:
        with self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?)",
                [key, model, completion.content, json.dumps(completion.tokens), completion.served_model],
            )


@contextmanager
def opened_replies(path: Path) -> Iterator[Replies]:
    """Open the file, or make it. Raises BadData if it is another file, UsageError if it cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(path, timeout=60)
    except (OSError, sqlite3.Error) as error:
        raise UsageError(f"{path} cannot be opened ({error}); choose another --judge-cache") from error
    try:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version == 0 and not database.execute("SELECT 1 FROM sqlite_master").fetchone():
                database.execute(
                    "CREATE TABLE IF NOT EXISTS replies "
                    "(key TEXT PRIMARY KEY, model TEXT, content TEXT, tokens TEXT, served_model TEXT)"
                )
                database.execute(f"PRAGMA user_version = {_FORMAT}")
            elif version != _FORMAT:
                raise BadData(f"{path} is not a cache of judges' replies of this version; {_ADVICE}")
            yield Replies(database)
        except sqlite3.DatabaseError as error:
            raise BadData(f"{path} cannot be used ({error}); {_ADVICE}") from error
    finally:
        database.close()
