"""Replies that were paid for, kept in a folder and found again by the requests that brought them.

A key is made from the request (the address and the whole body, hence the model, the prompt and every parameter) and the
place of the draw: the game's own place in its plan, the step and the seat. The place is part of it because a model is
sampled: two games of one run that ask the very same question must get two answers, or they would not be independent.
The hash of the plan is not, so that a plan with more games finds the replies of the games that it shares with an
earlier one. Only answers are kept, never errors, so the answer in a place is the first there, whatever failed before
it.

The folder holds one SQLite file, which several processes may use at once. Prompts and keys of endpoints are not kept.
As with a run's folder, whoever can write to it decides what the models appear to have said.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

from liescope.common.errors import BadData, UsageError
from liescope.common.stores import check_not_in_store
from liescope.games.core import Ask

FILE = "replies.sqlite"
LARGEST = 8 * 1024 * 1024  # bytes of a row; a response has at most half of it
_FORMAT = 1
_TABLE = "CREATE TABLE replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL, hash BLOB NOT NULL)"
_ADVICE = "delete it, or choose another folder for the reply cache"
_PATIENCE = 30.0  # seconds to wait while another process writes
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_UNWRITABLE = (*_BUSY, "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")


def request_key(url: str, body: Mapping[str, Any], draw: str, ask: Ask) -> str:
    """The key of a request, 32 hexadecimal digits. url: of the endpoint, without secrets; draw: the game's place in its
    plan.
    """
    parts = [url, body, draw, ask.step, ask.seat]
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=16).hexdigest()


class ReplyCache:
    """The replies in a folder, open; a context manager that closes the file. A reply is kept as it arrives. A row
    carries a hash of its key and reply: a file that is something else, or a row that has changed, is an error and never
    a reply.

    Every method raises BadData if the file is damaged, and UsageError if it cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        """Opens the file, or makes it with its folder."""
        check_not_in_store(folder)
        self.folder = folder
        self.file = folder / FILE
        with self.guarded():
            folder.mkdir(parents=True, exist_ok=True)
            if self.file.is_symlink() or (self.file.exists() and not self.file.is_file()):
                raise BadData(f"{self.file} is not an ordinary file; {_ADVICE}")
            self.base = sqlite3.connect(f"{self.file.resolve().as_uri()}?mode=rwc", uri=True, timeout=_PATIENCE)
            try:
                self._prepare()
            except BaseException:
                self.base.close()
                raise

    def damaged(self) -> BadData:
        """The error for a row that has changed since it was written."""
        return BadData(f"{self.file} holds an answer that is not what was written; {_ADVICE}")

    def close(self) -> None:
        self.base.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn errors of the file into errors that say what to do."""
        try:
            yield
        except OSError as error:
            raise UsageError(f"{self.folder} cannot hold a reply cache ({error.strerror}); choose another") from error
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", "") or ""
            if not name.startswith(_UNWRITABLE):
                raise BadData(f"{self.file} is damaged, or no file of a reply cache ({error}); {_ADVICE}") from error
            busy = "another process holds it" if name.startswith(_BUSY) else "check its permissions and the space left"
            raise UsageError(f"{self.file} cannot be used ({error}); {busy}") from error

    def _prepare(self) -> None:
        base = self.base
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
        base.execute("PRAGMA trusted_schema = OFF")
        self._patiently("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = NORMAL")
        self._patiently("BEGIN IMMEDIATE")
        with base:
            schema = tuple(sql for (sql,) in base.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL"))
            (number,) = base.execute("PRAGMA user_version").fetchone()
            if (number, schema) == (0, ()):
                base.execute(_TABLE)
                base.execute(f"PRAGMA user_version = {_FORMAT}")
            elif (number, schema) != (_FORMAT, (_TABLE,)):
                raise BadData(f"{self.file} holds no reply cache of this version; {_ADVICE}")

    def _patiently(self, statement: str) -> None:
        """Retry a statement that SQLite may refuse immediately, despite its timeout, while another process opens the
        file.
        """
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                self.base.execute(statement)
            except sqlite3.OperationalError as error:
                if not error.sqlite_errorname.startswith(_BUSY) or time.monotonic() > end:
                    raise
                time.sleep(0.02)
            else:
                return

    def find(self, key: str) -> str | None:
        """The reply kept under a key."""
        with self.guarded():
            row = self.base.execute("SELECT reply, hash FROM replies WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        if not isinstance(row[0], str) or row[1] != answer_hash(key, row[0]):
            raise self.damaged()
        return row[0]

    def keep(self, key: str, reply: str) -> None:
        """Keep a reply. The first under a key stays; one that is too large is not kept."""
        if len(reply) * 4 < LARGEST:
            row = (key, reply, answer_hash(key, reply))
            with self.guarded(), self.base:
                self.base.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", row)


def answer_hash(key: str, answer: str) -> bytes:
    """What a row carries beside its key and its answer."""
    return blake2b(f"{key} {answer}".encode(), digest_size=16).digest()
