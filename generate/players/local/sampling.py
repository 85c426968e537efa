"""Drawing tokens with random numbers of each ask's own, whatever else is in its batch.

A token is drawn by the Gumbel-max trick: noise is added to its scores and the largest wins, which draws from exactly
their softmax. The noise is a hash of the seed, the ask, the place in the reply and the token, so there is no generator
whose state could depend on other asks, on the batch or on the device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

_LOW = 0xFFFFFFFF  # the 32 bits that are kept of a product
_STEP = 0x9E3779B9


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the tokens of one reply are drawn. temperature 0 takes the likeliest; top_k 0 and top_p 1 leave none out;
    key: of its random numbers, from `random_key`.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    key: tuple[int, int] = (0, 0)


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
