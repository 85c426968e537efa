"""Answers that are told to be kept once the journal holds them, and not before."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from liescope.common.errors import UsageError
from liescope.generate.runs.shards.absorb import Piece

_LOST = "The server is stopping, and your answer was not kept. Your words are still here: send them again in a moment."


class Promises:
    """Replies that somebody waits for until they are kept. `kept` is what the run feeds."""

    def __init__(self) -> None:
        self._waiting: dict[tuple[int, str], asyncio.Future[None]] = {}

    def promise(self, step: int, seat: str) -> asyncio.Future[None]:
        """Done once the journal holds the reply of a seat to the batch at this step."""
        return self._waiting.setdefault((step, seat), asyncio.get_running_loop().create_future())

    def kept(self, pieces: Sequence[Piece]) -> None:
        """The journal has committed these rows."""
        for table, rows in pieces:
            for _, step, seat, *_ in rows if table == "replies" else ():
                if (waiting := self._waiting.pop((step, seat), None)) and not waiting.done():
                    waiting.set_result(None)

    def end(self) -> None:
        """The run is over: nothing more will be kept. Whoever still waits gets a UsageError."""
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(UsageError(_LOST))
        self._waiting.clear()
