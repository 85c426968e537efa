"""What the players of one run share: a typed store, and the signal to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
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
        """The object of this type and key, made by `make` on first use."""
        if (kind, key) not in self._made:
            self._made[kind, key] = make()
        found = self._made[kind, key]
        assert isinstance(found, kind)
        return found

    def drop(self, kind: type, key: Hashable = None) -> None:
        """Forget an object that was closed."""
        self._made.pop((kind, key), None)


class Halt:
    """Signals that the run is ending: requests in flight may complete, and no new ones are sent."""

    def __init__(self) -> None:
        self.error: RunPaused | None = None
        self._set = asyncio.Event()

    def set(self, error: RunPaused) -> None:
        """End the run for this reason; the first reason counts."""
        if self.error is None:
            self.error = error
            self._set.set()

    def check(self) -> None:
        """Raises the reason why the run is ending, if it is."""
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
