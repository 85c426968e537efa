"""Prompts that were already read: a seat's next prompt begins like its last one, so only what is new has to be read.

What a model keeps of a prompt (the keys and values of its attention) is held for each seat, within a bound of memory,
and the oldest goes first. A new prompt takes over the longest beginning that it shares with what is held: of its own
seat, of the other seats of its game, or of the prompts read last, which share the rules. That is for models whose
layers all attend to everything before; for others (sliding windows, recurrent layers) nothing is held.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.generate.players.local.loading import Loaded

_NEWEST = 4  # prompts of other games that are looked at

Owner = tuple[str, str]
"""A game and a seat."""


@dataclass(frozen=True, slots=True)
class Held:
    """A prompt that was read. ids: its tokens; layers: keys and values of each layer, (heads, tokens, width)."""

    ids: NDArray[np.int64]
    layers: tuple[tuple[Any, Any], ...]

    @property
    def size(self) -> int:
        """Bytes."""
        return sum(part.nbytes for layer in self.layers for part in layer)


@dataclass(frozen=True, slots=True)
class Shared:
    """The first `length` tokens of a held prompt; held None and 0 tokens for nothing."""

    held: Held | None = None
    length: int = 0


class Prefixes:
    """most: bytes held; 0 holds nothing."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = 0
        self._held: OrderedDict[Owner, Held] = OrderedDict()
        self._seats: dict[str, list[str]] = {}

    def longest(self, owner: Owner, ids: NDArray[np.int64]) -> Shared:
        """What a prompt shares with a held one. Its last token is always left to be read."""
        game, seat = owner
        near = [seat, *(other for other in self._seats.get(game, ()) if other != seat)]
        found = [held for other in near if (held := self._held.get((game, other))) is not None]
        found += islice(reversed(self._held.values()), _NEWEST)
        lengths = [common(held.ids, ids[:-1]) for held in found]
        best = max(range(len(found)), key=lengths.__getitem__, default=None)
        return Shared() if best is None or not lengths[best] else Shared(found[best], lengths[best])

    def keep(self, owner: Owner, held: Held) -> None:
        """Hold a prompt instead of its seat's last one."""
        self._drop(owner)
        if held.size > self.most:
            return
        self._held[owner] = held
        self._seats.setdefault(owner[0], []).append(owner[1])
        self.size += held.size
        while self.size > self.most:
            self._drop(next(iter(self._held)))

    def clear(self) -> None:
        for owner in list(self._held):
            self._drop(owner)

    def _drop(self, owner: Owner) -> None:
        held = self._held.pop(owner, None)
        if held is None:
            return
        self.size -= held.size
        game, seat = owner
        self._seats[game].remove(seat)
        if not self._seats[game]:
            del self._seats[game]


def read(loaded: Loaded, ids: NDArray[np.int64]) -> Held:
    """The beginning of a prompt, read by the model. ids: (tokens,)."""
    import torch

    from liescope.generate.players.local.roomy_cache import fresh_cache

    given = torch.from_numpy(ids)[None].to(loaded.model.device)
    cache = fresh_cache(loaded, len(ids))
    loaded.model.base_model(input_ids=given, past_key_values=cache, use_cache=True)
    return held_row(cache, 0, ids, slice(None))


def filled_cache(loaded: Loaded, rows: Sequence[Shared], room: int) -> Any:
    """A cache that begins with what each row shares, padded on the left to the longest. room: tokens it will hold."""
    import torch

    from liescope.generate.players.local.roomy_cache import fresh_cache

    width = max(row.length for row in rows)
    cache = fresh_cache(loaded, room)
    first = next((row.held for row in rows if row.held is not None), None)
    for number, layer in enumerate(first.layers if first is not None else ()):
        made = []
        for side, like in enumerate(layer):
            filled = torch.zeros((len(rows), like.shape[0], width, like.shape[2]), dtype=like.dtype, device=like.device)
            for at, row in enumerate(rows):
                if row.held is not None and row.length:
                    filled[at, :, width - row.length :] = row.held.layers[number][side][:, : row.length]
            made.append(filled)
        cache.update(*made, number)
    return cache


def held_row(cache: Any, row: int, ids: NDArray[np.int64], columns: Any) -> Held:
    """A row of a cache without its padding. columns: the places of the prompt's tokens."""
    return Held(ids, tuple((layer.keys[row][:, columns], layer.values[row][:, columns]) for layer in cache.layers))


def common(first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    """How many tokens two prompts begin with in common."""
    least = min(len(first), len(second))
    apart = np.flatnonzero(first[:least] != second[:least])
    return int(apart[0]) if len(apart) else least
