"""The batches of a run on disk: which requests are in which, written before a batch is made, and the answers that came.

A run that was killed finds its batches again by the files they were made of, whether or not it lived to learn their
ids, and pays for none twice.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from liescope.common.errors import BadData, UsageError
from liescope.common.folders import take_lock
from liescope.generate.players.openai.batches.wire import Row
from liescope.generate.players.openai.wire import LARGEST, Response

FILE = "batches.sqlite"
_FORMAT = 1
_TABLES = (
    "CREATE TABLE batches (file TEXT PRIMARY KEY, model TEXT NOT NULL, id TEXT, ended INTEGER NOT NULL DEFAULT 0)",
    "CREATE TABLE requests (key TEXT PRIMARY KEY, file TEXT NOT NULL, answer TEXT, hash BLOB)",
    "CREATE INDEX requests_of_file ON requests (file)",
)


@dataclass(frozen=True, slots=True)
class KeptBatch:
    """A batch that has not ended. file: its file at the endpoint; id: None while it is not known that it was made."""

    file: str
    model: str
    id: str | None
    requests: int


class BatchStore:
    """The batches of one endpoint in a folder, for one process at a time. Raises BadData if the file is damaged,
    UsageError if it cannot be written or another process has it.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self.folder = folder
        with self._guard():
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = take_lock(folder)
            try:
                self._base = self._open()
            except BaseException:
                os.close(self._lock)
                raise

    def _open(self) -> sqlite3.Connection:
        if self._file.is_symlink() or (self._file.exists() and not self._file.is_file()):
            raise BadData(f"{self._file} is no ordinary file; {self._advice}")
        base = sqlite3.connect(f"{self._file.resolve().as_uri()}?mode=rwc", uri=True, timeout=10)
        try:
            self._prepare(base)
        except BaseException:
            base.close()
            raise
        return base

    def _prepare(self, base: sqlite3.Connection) -> None:
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 4 * LARGEST)
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA journal_mode = WAL")
        with base:
            base.execute("BEGIN IMMEDIATE")
            schema = tuple(sql for (sql,) in base.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
            (number,) = base.execute("PRAGMA user_version").fetchone()
            if (number, schema) == (0, ()):
                for statement in _TABLES:
                    base.execute(statement)
                base.execute(f"PRAGMA user_version = {_FORMAT}")
            elif (number, schema) != (_FORMAT, _TABLES):
                raise BadData(f"{self._file} holds no batches of this version; {self._advice}")

    def close(self) -> None:
        self._base.close()
        os.close(self._lock)

    def sent(self, file: str, model: str, keys: Sequence[str]) -> None:
        """A file of these requests is at the endpoint, and a batch is about to be made of it."""
        with self._guard(), self._base:
            self._base.execute("INSERT INTO batches (file, model) VALUES (?, ?)", (file, model))
            rows = ((key, file) for key in keys)
            self._base.executemany("INSERT OR REPLACE INTO requests (key, file) VALUES (?, ?)", rows)

    def made(self, file: str, batch: str) -> None:
        """The batch of a file has this id."""
        with self._guard(), self._base:
            self._base.execute("UPDATE batches SET id = ? WHERE file = ?", (batch, file))

    def answered(self, file: str, rows: Iterable[Row]) -> None:
        """Keep answers to requests of a file; the first of each stays, and what was not asked for is left out."""
        values = ((text, _hash(row.key, text), row.key, file) for row in rows for text in [_dump(row.answer)])
        with self._guard(), self._base:
            statement = "UPDATE requests SET answer = ?, hash = ? WHERE key = ? AND file = ? AND answer IS NULL"
            self._base.executemany(statement, values)

    def ended(self, file: str) -> None:
        """Nothing more will come of a batch: requests without an answer are in none."""
        with self._guard(), self._base:
            self._base.execute("DELETE FROM requests WHERE file = ? AND answer IS NULL", (file,))
            self._base.execute("UPDATE batches SET ended = 1 WHERE file = ?", (file,))

    def under_way(self) -> list[KeptBatch]:
        """The batches that have not ended."""
        query = (
            "SELECT file, model, id, (SELECT count(*) FROM requests WHERE requests.file = batches.file) FROM batches "
            "WHERE NOT ended ORDER BY rowid"
        )
        with self._guard():
            return [KeptBatch(*row) for row in self._base.execute(query)]

    def unanswered(self, file: str) -> list[str]:
        """The requests of a batch that have no answer."""
        with self._guard():
            return [
                key
                for (key,) in self._base.execute("SELECT key FROM requests WHERE file = ? AND answer IS NULL", (file,))
            ]

    def find(self, key: str) -> tuple[bool, Response | str | None]:
        """Whether a request is in a batch, and its answer if one has come."""
        with self._guard():
            row = self._base.execute("SELECT answer, hash FROM requests WHERE key = ?", (key,)).fetchone()
        if row is None or row[0] is None:
            return row is not None, None
        try:
            if row[1] != _hash(key, row[0]):
                raise ValueError
            kept = json.loads(row[0])
            return True, kept if isinstance(kept, str) else Response(int(kept[0]), {}, str(kept[1]))
        except (ValueError, TypeError, AttributeError, KeyError, IndexError, RecursionError):
            raise BadData(f"{self._file} holds an answer that is not what was written; {self._advice}") from None

    @property
    def _advice(self) -> str:
        return f"delete {self.folder} to go on without it; requests in batches are then sent again"

    @contextmanager
    def _guard(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UsageError(f"{self.folder} cannot hold the batches under way ({error.strerror})") from error
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "") or ""
            if name.startswith(("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_BUSY")):
                raise UsageError(f"{self._file} cannot be written ({error}); check permissions and space") from error
            raise BadData(f"{self._file} is damaged ({error}); {self._advice}") from error


def any_under_way(folder: Path) -> bool:
    """Whether batches in the folder of a run's batches, one folder for each endpoint, have not ended. Raises as
    `BatchStore`.
    """
    for file in folder.glob(f"*/{FILE}"):
        store = BatchStore(file.parent)
        try:
            if store.under_way():
                return True
        finally:
            store.close()
    return False


def _dump(answer: Response | str) -> str:
    return json.dumps(answer if isinstance(answer, str) else [answer.status, answer.text])


def _hash(key: str, text: str) -> bytes:
    return blake2b(f"{key} {text}".encode(), digest_size=16).digest()
