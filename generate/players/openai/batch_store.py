"""The batches of a run on disk: which requests are in which, written before a batch is made, and the answers that came.

A run that was killed finds its batches again by the files they were made of, whether or not it lived to learn their
ids, and pays for none twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from liescope.common.folders import take_lock
from liescope.generate.players.openai.batch_client import Row
from liescope.generate.players.openai.wire import LARGEST, Response
from liescope.generate.players.reply_cache import AnswerFile, answer_hash

FILE = "batches.sqlite"


@dataclass(frozen=True, slots=True)
class KeptBatch:
    """A batch that has not ended. file: its file at the endpoint; id: None while it is not known that it was made."""

    file: str
    model: str
    id: str | None
    requests: int


class BatchStore(AnswerFile):
    """The batches of one endpoint in a folder, for one process at a time."""

    name = FILE
    what = "batches"
    tables = (
        "CREATE TABLE batches (file TEXT PRIMARY KEY, model TEXT NOT NULL, id TEXT, ended INTEGER NOT NULL DEFAULT 0)",
        "CREATE TABLE requests (key TEXT PRIMARY KEY, file TEXT NOT NULL, answer TEXT, hash BLOB)",
        "CREATE INDEX requests_of_file ON requests (file)",
    )
    largest = 4 * LARGEST

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        try:
            self._lock = take_lock(folder)
        except BaseException:
            super().close()
            raise

    @property
    def advice(self) -> str:
        return f"delete {self.folder} to go on without it; requests in batches are then sent again"

    def close(self) -> None:
        super().close()
        os.close(self._lock)

    def sent(self, file: str, model: str, keys: Sequence[str]) -> None:
        """A file of these requests is at the endpoint, and a batch is about to be made of it."""
        with self.guarded(), self.base:
            self.base.execute("INSERT INTO batches (file, model) VALUES (?, ?)", (file, model))
            rows = ((key, file) for key in keys)
            self.base.executemany("INSERT OR REPLACE INTO requests (key, file) VALUES (?, ?)", rows)

    def made(self, file: str, batch: str) -> None:
        """The batch of a file has this id."""
        with self.guarded(), self.base:
            self.base.execute("UPDATE batches SET id = ? WHERE file = ?", (batch, file))

    def answered(self, file: str, rows: Iterable[Row]) -> None:
        """Keep answers to requests of a file; the first of each stays, and what was not asked for is left out."""
        values = ((text, answer_hash(row.key, text), row.key, file) for row in rows for text in [_dump(row.answer)])
        with self.guarded(), self.base:
            statement = "UPDATE requests SET answer = ?, hash = ? WHERE key = ? AND file = ? AND answer IS NULL"
            self.base.executemany(statement, values)

    def ended(self, file: str) -> None:
        """Nothing more will come of a batch: requests without an answer are in none."""
        with self.guarded(), self.base:
            self.base.execute("DELETE FROM requests WHERE file = ? AND answer IS NULL", (file,))
            self.base.execute("UPDATE batches SET ended = 1 WHERE file = ?", (file,))

    def under_way(self) -> list[KeptBatch]:
        """The batches that have not ended."""
        query = (
            "SELECT file, model, id, (SELECT count(*) FROM requests WHERE requests.file = batches.file) FROM batches "
            "WHERE NOT ended ORDER BY rowid"
        )
        with self.guarded():
            return [KeptBatch(*row) for row in self.base.execute(query)]

    def unanswered(self, file: str) -> list[str]:
        """The requests of a batch that have no answer."""
        query = "SELECT key FROM requests WHERE file = ? AND answer IS NULL"
        with self.guarded():
            return [key for (key,) in self.base.execute(query, (file,))]

    def find(self, key: str) -> tuple[bool, Response | str | None]:
        """Whether a request is in a batch, and its answer if one has come."""
        with self.guarded():
            row = self.base.execute("SELECT answer, hash FROM requests WHERE key = ?", (key,)).fetchone()
        if row is None or row[0] is None:
            return row is not None, None
        if not isinstance(row[0], str) or row[1] != answer_hash(key, row[0]):
            raise self.damaged()
        try:
            match json.loads(row[0]):
                case str(problem):
                    return True, problem
                case [int(status), str(text)]:
                    return True, Response(status, {}, text)
        except (ValueError, RecursionError):
            pass
        raise self.damaged()


def any_under_way(folder: Path) -> bool:
    """Whether batches in the folder of a run's batches, one folder for each endpoint, have not ended. Raises as
    `BatchStore`.
    """
    for file in folder.glob(f"*/{FILE}"):
        with BatchStore(file.parent) as store:
            if store.under_way():
                return True
    return False


def _dump(answer: Response | str) -> str:
    return json.dumps(answer if isinstance(answer, str) else [answer.status, answer.text])
