"""Prompts that begin alike: asked at the same moment of a game, they are sent once the first of them was answered.

Providers that cache prompts charge a known beginning at a fraction of its price, but know it only when the first
request with it has been processed. Where no caching was seen, nothing waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from liescope.games.core import Ask

ALIKE = 4096  # characters, about the 1,024 tokens below which nothing is cached


class Prefixes:
    """Of one endpoint."""

    def __init__(self) -> None:
        self._caches: set[Hashable] = set()  # models whose prompts are cached
        self._first: dict[Hashable, asyncio.Event] = {}  # set once the first request of its beginning has ended

    def learn(self, model: Hashable, cached: int | None) -> None:
        """An answer reports so many tokens from the cache."""
        if cached:
            self._caches.add(model)

    @asynccontextmanager
    async def turn(self, ask: Ask, body: Mapping[str, Any]) -> AsyncIterator[None]:
        """Wait while another request with this beginning is the first."""
        key = self._key(ask, body) if body.get("model") in self._caches else None
        if key is None:
            yield
        elif (first := self._first.get(key)) is not None:
            await first.wait()
            yield
        else:
            ended = self._first[key] = asyncio.Event()
            try:
                yield
            finally:
                ended.set()
                del self._first[key]

    @staticmethod
    def _key(ask: Ask, body: Mapping[str, Any]) -> Hashable | None:
        beginning = "".join(message["content"] for message in body["messages"])[:ALIKE]
        return (body["model"], ask.game, ask.step, beginning) if len(beginning) == ALIKE else None
