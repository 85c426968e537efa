"""A cache whose tensors have room for the whole reply from the start.

The cache of transformers is copied for every token that is written; here a token's keys and values are written into
their place. Imported only where a model is run.
"""

from __future__ import annotations

from typing import Any

from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from liescope.generate.players.local.loading import Loaded


class RoomyLayer(DynamicLayer):  # type: ignore[misc]
    """One layer. room: tokens that it will hold."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room
        self._held: tuple[Any, Any]

    def lazy_initialization(self, key_states: Any, value_states: Any) -> None:
        super().lazy_initialization(key_states, value_states)
        self._held = (self._empty(key_states), self._empty(value_states))
        self.keys, self.values = (one[:, :, :0] for one in self._held)

    def update(self, key_states: Any, value_states: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.keys.shape[2]
        end = start + key_states.shape[2]
        for held, new in zip(self._held, (key_states, value_states), strict=True):
            held[:, :, start:end] = new
        self.keys, self.values = (one[:, :, :end] for one in self._held)
        return self.keys, self.values

    def _empty(self, like: Any) -> Any:
        return like.new_zeros((*like.shape[:2], self._room, like.shape[3]))


def fresh_cache(loaded: Loaded, room: int) -> DynamicCache:
    """An empty cache for a model whose layers attend to everything before."""
    cache = DynamicCache(config=loaded.model.config)
    if not loaded.compiled:  # the compiler does not take tensors that are written in place
        cache.layers = [RoomyLayer(room) for _ in cache.layers]
    return cache
