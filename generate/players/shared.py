"""What the players of one run have in common: a typed store, the signal to stop, and what is going on right now."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TypeVar

from liescope.common.errors import RunPaused

T = TypeVar("T")


class Shared:
    """Objects that the players of a run share (clients, limits, the budget). The first player that needs one makes it;
    the others find it under the same type and key.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[type, Hashable], object] = {}

    def once(self, kind: type[T], make: Callable[[], T], key: Hashable = None) -> T:
        """The object of this type and key, made by `make` when it is asked for the first time."""
        if (kind, key) not in self._made:
            self._made[kind, key] = make()
        found = self._made[kind, key]
        assert isinstance(found, kind)
        return found

    def drop(self, kind: type, key: Hashable = None) -> None:
        """Forget an object that was closed."""
        self._made.pop((kind, key), None)


class Halt:
    """Says that the run is ending: requests under way may come in, and no new one is sent."""

    def __init__(self) -> None:
        self.error: RunPaused | None = None
        self._set = asyncio.Event()

    def set(self, error: RunPaused) -> None:
        """End the run for this reason; the first reason counts."""
        if self.error is None:
            self.error = error
            self._set.set()

    def check(self) -> None:
        """Raises the reason for which the run is ending, if it is."""
        if self.error is not None:
            raise self.error

    async def sleep(self, seconds: float) -> None:
        """Wait; raises the reason as soon as the run is ending."""
        self.check()
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._set.wait()
        except TimeoutError:
            return
        self.check()


@dataclass(slots=True)
class Activity:
    """What is going on right now, for a progress display.

    under_way: requests that were sent and not answered yet; waits: for each host that is being waited for, the moment
    (`time.monotonic`) at which it is asked again, and why; retries: by reason, how many requests had to be sent again.
    """

    under_way: int = 0
    waits: dict[str, tuple[float, str]] = field(default_factory=dict)
    retries: Counter[str] = field(default_factory=Counter)
