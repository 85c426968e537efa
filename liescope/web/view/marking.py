"""Writing marks: each is on disk before it counts, and several people may write at once."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from liescope.common.errors import UsageError
from liescope.detectors.audit.marks import RIGHT, UNSURE, WRONG, Mark, read_marks

NO_FILE = "nothing is marked without a file for it; start again with: liescope view PATH --marks marks.jsonl"
YES, NO = "yes", "no"
LONGEST_NOTE = 4000


def now() -> str:
    """The time in UTC, as a mark has it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def judged(value: bool, answer: str) -> str:
    """The mark of a label that was hidden, by what was answered to its question: YES, NO or UNSURE."""
    return UNSURE if answer == UNSURE else RIGHT if (answer == YES) == value else WRONG


class MarkFile:
    """A file of marks, which only grows. Processes that write to the same one take turns."""

    def __init__(self, path: Path, kept_from: Path) -> None:
        """kept_from: the folder of the games, in which nothing is written.

        Raises UsageError for a file in it or one that cannot be written, BadData for one that holds something else.
        """
        if kept_from.resolve() in path.resolve().parents:
            raise UsageError(f"{path} is in {kept_from}, which is left as it is; choose another file for --marks")
        self.path = path
        self._lock = Lock()
        try:
            with path.open("ab"):
                pass
        except OSError as error:
            raise UsageError(f"{path} cannot be written ({error.strerror}); choose another file for --marks") from error
        read_marks(path)

    def add(self, marks: Sequence[Mark]) -> None:
        """Write marks; when this returns they survive a crash. Raises UsageError if the disk refuses."""
        lines = "".join(mark.line() for mark in marks).encode()
        try:
            with self._lock, self.path.open("r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                end = _whole_end(file.read())
                file.truncate(end)  # what a writer that was cut off left; nobody was told that it was kept
                file.seek(end)
                file.write(lines)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UsageError(f"{self.path} cannot be written ({error.strerror}); nothing was marked") from error

    def of_session(self, who: str, pass_number: int) -> tuple[Mark, ...]:
        """What somebody has marked in one pass."""
        return tuple(mark for mark in read_marks(self.path) if mark.session == (who, pass_number))


def _whole_end(contents: bytes) -> int:
    """Where the last whole line ends."""
    return contents.rfind(b"\n") + 1
