"""One batch of prompts in, one reply for each out: a single `generate` call, padded on the left.

A token is drawn by the Gumbel-max trick: noise is added to its scores and the largest wins, which draws from exactly
their softmax. The noise is a hash of the seed, the ask, the place in the reply and the token, so there is no generator
whose state could depend on other asks, on the batch or on the device.

What a model keeps of a prompt (the keys and values of its attention) is held for each seat, within a bound of memory,
and the oldest goes first. A new prompt takes over the longest beginning that it shares with what is held: of its own
seat, of the other seats of its game, or of the prompts read last, which share the rules. That is for models whose
layers all attend to everything before; for others (sliding windows, recurrent layers) nothing is held. The cache of
transformers is copied for every token that is written; ours has room for the whole reply from the start.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from liescope.generate.players.local.loading import Loaded, Sampling, sees_all


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
class SharedStart:
    """The first `length` tokens of a held prompt; held None and 0 tokens for nothing."""

    held: Held | None = None
    length: int = 0


class HeldPrompts:
    """most: bytes held; 0 holds nothing."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = 0
        self._held: OrderedDict[Owner, Held] = OrderedDict()
        self._seats: dict[str, list[str]] = {}

    def longest(self, owner: Owner, ids: NDArray[np.int64]) -> SharedStart:
        """What a prompt shares with a held one. Its last token is always left to be read."""
        game, seat = owner
        near = [seat, *(other for other in self._seats.get(game, ()) if other != seat)]
        found = [held for other in near if (held := self._held.get((game, other))) is not None]
        found += islice(reversed(self._held.values()), _NEWEST)
        lengths = [common(held.ids, ids[:-1]) for held in found]
        best = max(range(len(found)), key=lengths.__getitem__, default=None)
        return SharedStart() if best is None or not lengths[best] else SharedStart(found[best], lengths[best])

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

    given = torch.from_numpy(ids)[None].to(loaded.model.device)
    cache = fresh_cache(loaded, len(ids))
    loaded.model.base_model(input_ids=given, past_key_values=cache, use_cache=True)
    return held_row(cache, 0, ids, slice(None))


def filled_cache(loaded: Loaded, rows: Sequence[SharedStart], room: int) -> Any:
    """A cache that begins with what each row shares, padded on the left to the longest. room: tokens it will hold."""
    import torch

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


_LOW = 0xFFFFFFFF  # the 32 bits that are kept of a product
_STEP = 0x9E3779B9


def random_key(seed: int, game: str, step: int, seat: str) -> tuple[int, int]:
    """The key of an ask's random numbers, 64 bits."""
    digest = sha256("\0".join((str(seed), game, str(step), seat)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:4], "big"), int.from_bytes(digest[4:8], "big")


class Draw:
    """Draws the next token of every row; a logits processor for `generate` without sampling. width: of the prompts."""

    def __init__(self, rows: Sequence[Sampling], width: int, device: Any) -> None:
        import torch

        self._width = width
        self._keys = torch.tensor([row.key for row in rows], dtype=torch.int64, device=device)
        self._greedy = torch.tensor([[row.temperature == 0] for row in rows], device=device)
        self._temperature = torch.tensor([[row.temperature or 1.0] for row in rows], device=device)
        self._top_p = torch.tensor([[row.top_p] for row in rows], device=device)
        self._top_k = torch.tensor([[row.top_k or _LOW] for row in rows], device=device)
        self._ranked = any(row.top_k or row.top_p < 1 for row in rows)
        self._widest = max((row.top_k or _LOW) if row.top_p == 1 or row.top_k else _LOW for row in rows)

    def __call__(self, ids: Any, scores: Any) -> Any:
        """(rows, vocabulary) scores in which each row's drawn token is the only one left."""
        import torch

        tokens = torch.arange(scores.shape[1], device=scores.device).expand(scores.shape)
        kept = scores.float() / self._temperature
        if self._ranked:
            kept, tokens = kept.topk(min(self._widest, scores.shape[1]))
            rank = torch.arange(kept.shape[1], device=scores.device)
            kept = kept.masked_fill(rank >= self._top_k, -torch.inf)
            chances = kept.softmax(1)
            kept = kept.masked_fill(chances.cumsum(1) - chances >= self._top_p, -torch.inf)
        noise = gumbel(self._keys, ids.shape[1] - self._width, tokens)
        best = (kept + noise.masked_fill(self._greedy, 0.0)).argmax(1, keepdim=True)
        return torch.full_like(scores, -torch.inf).scatter_(1, tokens.gather(1, best), 0.0)


def gumbel(keys: Any, place: int, tokens: Any) -> Any:
    """(rows, n) standard Gumbel noise for these tokens at this place of each reply. keys: (rows, 2)."""
    import torch

    first, second = keys[:, :1], keys[:, 1:]
    mixed = _mixed(_mixed(tokens ^ _mixed((first + place * _STEP) & _LOW)) ^ second)
    return -torch.log(-torch.log1p(-(mixed.float() + 0.5) / 2**32))


def _mixed(x: Any) -> Any:
    """A permutation of 32-bit numbers that looks random (lowbias32 by Chris Wellons), in int64."""
    x = x ^ (x >> 16)
    x = (x * 0x7FEB352D) & _LOW
    x = x ^ (x >> 15)
    x = (x * 0x846CA68B) & _LOW
    return x ^ (x >> 16)


@dataclass(frozen=True, slots=True, eq=False)
class PromptRow:
    """One ask. ids: the prompt's tokens; most: tokens of the reply; layers: whose hidden states are wanted."""

    owner: Owner
    ids: NDArray[np.int64]
    most: int
    sampling: Sampling
    layers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A reply. ids: its tokens without the one that ends it; ended: False if it was cut off; reused: tokens of the
    prompt that did not have to be read again; states: (tokens, layers, width) float16 hidden states at its tokens.
    """

    ids: NDArray[np.int64]
    ended: bool
    reused: int = 0
    states: NDArray[np.float16] | None = None


class Writer:
    """Writes with one model. memory: bytes for prompts that were already read."""

    def __init__(self, loaded: Loaded, memory: int) -> None:
        self.loaded = loaded
        self._sees_all = sees_all(loaded.model)
        self.prefixes = HeldPrompts(memory if self._sees_all else 0)

    def unread(self, row: PromptRow) -> int:
        """Tokens of its prompt that would have to be read."""
        return len(row.ids) - self.prefixes.longest(row.owner, row.ids).length

    def write(self, rows: Sequence[PromptRow]) -> list[Written]:
        """The replies of one batch. Raises torch.OutOfMemoryError, and whatever else the model raises."""
        import torch
        from transformers import GenerationConfig

        with torch.inference_mode():
            shared = self._shared(rows)
            ids, mask = self._laid_out(rows, shared)
            most = max(row.most for row in rows)
            config = GenerationConfig(
                max_new_tokens=most,
                do_sample=False,
                eos_token_id=list(self.loaded.ends) or None,
                pad_token_id=self.loaded.pad,
                return_dict_in_generate=True,
                use_cache=True,
            )
            model = self.loaded.model
            out = model.generate(
                ids,
                attention_mask=mask,
                generation_config=config,
                logits_processor=[Draw([row.sampling for row in rows], ids.shape[1], ids.device)],
                stopping_criteria=[_Limits(rows, ids.shape[1], ids.device)],
                **(
                    {"past_key_values": filled_cache(self.loaded, shared, ids.shape[1] + most)}
                    if self._sees_all
                    else {}
                ),
            )
            written = out.sequences[:, ids.shape[1] :].cpu().numpy()
            replies = [self._cut(row, tokens) for row, tokens in zip(rows, written, strict=True)]
            states = self._states(rows, replies)
            self._keep(rows, mask, out.past_key_values)
        return [
            Written(reply, ended, one.length, found)
            for (reply, ended), one, found in zip(replies, shared, states, strict=True)
        ]

    def _shared(self, rows: Sequence[PromptRow]) -> list[SharedStart]:
        """What each row need not read. A long beginning of all rows, such as the rules of their game, is read once."""
        shared = [self.prefixes.longest(row.owner, row.ids) for row in rows]
        if not self.prefixes.most:
            return shared
        first = rows[0].ids[:-1]
        length = min(common(first, row.ids[:-1]) for row in rows)
        if sum(max(length - one.length, 0) for one in shared) <= 2 * length:
            return shared
        begin = SharedStart(read(self.loaded, first[:length]), length)
        return [one if one.length >= length else begin for one in shared]

    def _laid_out(self, rows: Sequence[PromptRow], shared: Sequence[SharedStart]) -> tuple[Any, Any]:
        """(ids, mask), (rows, tokens): what is known already, padded on the left, and then what is new, padded too."""
        import torch

        known = max(one.length for one in shared)
        fresh = max(len(row.ids) - one.length for row, one in zip(rows, shared, strict=True))
        ids = np.full((len(rows), known + fresh), self.loaded.pad, dtype=np.int64)
        mask = np.zeros_like(ids)
        for at, (row, one) in enumerate(zip(rows, shared, strict=True)):
            new = len(row.ids) - one.length
            for part, end in ((row.ids[: one.length], known), (row.ids[one.length :], known + fresh)):
                ids[at, end - len(part) : end] = part
                mask[at, end - len(part) : end] = 1
            assert new > 0
        device = self.loaded.model.device
        return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)

    def _cut(self, row: PromptRow, tokens: NDArray[np.int64]) -> tuple[NDArray[np.int64], bool]:
        """A reply up to the token that ends it, and whether one does."""
        tokens = tokens[: row.most]
        ends = np.flatnonzero(np.isin(tokens, self.loaded.ends))
        return (tokens[: ends[0]], True) if len(ends) else (tokens, False)

    def _keep(self, rows: Sequence[PromptRow], mask: Any, cache: Any) -> None:
        """Hold the prompts for the next asks of their seats."""
        if not self.prefixes.most:
            return
        for at, row in enumerate(rows):
            self.prefixes.keep(row.owner, held_row(cache, at, row.ids, mask[at].nonzero()[:, 0]))

    def _states(
        self, rows: Sequence[PromptRow], replies: Sequence[tuple[NDArray[np.int64], bool]]
    ) -> list[NDArray[np.float16] | None]:
        """The hidden states at the tokens of the replies that they are wanted of, from one more pass over each."""
        import torch

        found: list[NDArray[np.float16] | None] = []
        for row, (reply, _) in zip(rows, replies, strict=True):
            if not row.layers:
                found.append(None)
                continue
            ids = torch.from_numpy(np.concatenate([row.ids, reply]))[None].to(self.loaded.model.device)
            hidden = self.loaded.model.base_model(
                input_ids=ids, output_hidden_states=True, use_cache=False
            ).hidden_states
            kept = torch.stack([hidden[layer][0, len(row.ids) :].float().cpu() for layer in row.layers], dim=1)
            limit = torch.finfo(torch.float16).max
            found.append(kept.clamp(-limit, limit).half().numpy())
        return found


class _Limits:
    """Ends each row at its own number of tokens."""

    def __init__(self, rows: Sequence[PromptRow], width: int, device: Any) -> None:
        import torch

        self._most = torch.tensor([row.most for row in rows], device=device)
        self._width = width

    def __call__(self, ids: Any, _scores: Any, **_: Any) -> Any:
        return ids.shape[1] - self._width >= self._most
