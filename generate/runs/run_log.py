"""The log of a run: one JSON object a line, for programs that watch it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from liescope.common.errors import UsageError
from liescope.games.record import GameRecord
from liescope.generate.players.protocol import Attempt


class RunLog:
    """Writes each line when it happens. Prompts and replies are left out: the journal has them. Without a file it
    writes nothing.
    """

    def __init__(self, file: BinaryIO | None = None) -> None:
        self._file = file

    def write(self, event: str, **facts: Any) -> None:
        """One line: the time (UTC), what happened, and its facts (plain JSON data, no secret)."""
        if self._file is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **facts}, allow_nan=False) + "\n"
        try:
            self._file.write(line.encode())
        except OSError as error:
            raise _unwritable(self._file.name, error) from None

    def request(self, attempt: Attempt) -> None:
        """A request that ended, answered or not."""
        if self._file is None:
            return
        self.write(
            "request",
            host=attempt.host,
            served_model=attempt.served_model,
            game=attempt.game,
            step=attempt.step,
            seat=attempt.seat,
            attempt=attempt.attempt,
            problem=attempt.problem,
            latency_ms=attempt.latency_ms,
            prompt_tokens=attempt.prompt_tokens,
            cached_tokens=attempt.cached_tokens,
            completion_tokens=attempt.completion_tokens,
            cost=attempt.cost,
            via=attempt.via,
        )

    def game(self, game: GameRecord) -> None:
        """A game that ended."""
        winner = None if game.outcome is None else game.outcome.winner
        self.write("game", game=game.game_id, status=game.status.value, winner=winner, failure=game.failure)


@contextmanager
def open_log(path: Path | None) -> Iterator[RunLog]:
    """The log that is appended to a file, or none. Raises UsageError if the file cannot be written."""
    if path is None:
        yield RunLog()
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab", buffering=0)
    except OSError as error:
        raise _unwritable(path, error) from None
    with file:
        yield RunLog(file)


def _unwritable(path: object, error: OSError) -> UsageError:
    return UsageError(f"the log {path} cannot be written: {error.strerror}; choose another --log")
