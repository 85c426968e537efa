"""Reading an untrusted SQLite file, with limits on its schema, the size of its values and the time of its queries."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from liescope.common.errors import BadData
from liescope.common.reading import regular

QUERY_SECONDS = 10.0
LONGEST_VALUE = 4 << 20  # bytes
MOST_ROWS = 5_000_000
_STEPS = 20_000  # SQLite virtual machine steps between two checks of the clock


class SafeDatabase:
    """A read-only database. Use it as a context manager, more than once if needed; any fault in it raises BadData."""

    def __init__(self, path: Path, seconds: float = QUERY_SECONDS) -> None:
        self.path = path
        self._seconds = seconds
        self._base: sqlite3.Connection | None = None
        self._ends = 0.0

    def __enter__(self) -> SafeDatabase:
        regular(self.path)
        self._base = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)
        self._base.text_factory = _text
        self._base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        self._base.set_progress_handler(lambda: int(time.monotonic() > self._ends), _STEPS)
        for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
            list(self.rows(f"PRAGMA {pragma}"))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._base is not None:
            self._base.close()
            self._base = None

    def has_table(self, table: str) -> bool:
        """Whether anything with this name exists, table or not."""
        return bool(list(self.rows(f"SELECT 1 FROM sqlite_master WHERE name = '{table}'")))

    def check_table(self, table: str, columns: Sequence[str]) -> frozenset[str]:
        """The columns of a table. Raises BadData unless it is an ordinary table with at least these columns."""
        found = list(self.rows(f"SELECT type, sql FROM sqlite_master WHERE name = '{table}'"))
        if not found:
            raise BadData(f"{self.path}: there is no table {table}: not the authors' database")
        kind, sql = found[0]
        if kind != "table" or "VIRTUAL" in str(sql)[:20].upper():
            raise BadData(f"{self.path}: {table} is no ordinary table; only tables are read")
        have = frozenset(row[1] for row in self.rows(f"PRAGMA table_info({table})"))
        if missing := [column for column in columns if column not in have]:
            raise BadData(f"{self.path}: the table {table} lacks {', '.join(missing)}: not the authors' database")
        return have

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, within the time limit."""
        if self._base is None:
            raise ValueError("the database is not open")
        self._ends = time.monotonic() + self._seconds
        try:
            for count, row in enumerate(self._base.execute(query)):
                if count >= MOST_ROWS:
                    raise BadData(f"{self.path} has more than {MOST_ROWS:,} rows in one table")
                yield row
        except sqlite3.OperationalError as error:
            if "interrupted" in str(error):
                raise BadData(f"{self.path} takes longer than {self._seconds:g} s to answer one query") from error
            raise BadData(f"{self.path} cannot be read as a database: {error}; get the file again") from error
        except (sqlite3.Error, OverflowError, UnicodeError) as error:  # SQLite's own message may not be valid text
            raise BadData(f"{self.path} cannot be read as a database: {error}; get the file again") from error


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
