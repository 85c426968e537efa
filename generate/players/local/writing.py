"""One batch of prompts in, one reply for each out: a single `generate` call, padded on the left.

A token is drawn by one number between 0 and 1, which depends on the seed, the ask and the place in the reply alone: it
cuts the sum of the tokens' probabilities, likeliest first. So a reply does not depend on what else is in its batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.generate.players.local.loading import Loaded, Sampling


@dataclass(frozen=True, slots=True, eq=False)
class PromptRow:
    """One ask. ids: the prompt's tokens; most: tokens of the reply; layers: whose hidden states are wanted."""

    ids: NDArray[np.int64]
    most: int
    sampling: Sampling
    layers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """A reply. ids: its tokens without the one that ends it; ended: False if it was cut off; states: (tokens, layers,
    width) float16 hidden states at its tokens.
    """

    ids: NDArray[np.int64]
    ended: bool
    states: NDArray[np.float16] | None = None


def random_key(seed: int, game: str, step: int, seat: str) -> int:
    """The key of an ask's random numbers, 64 bits."""
    return int.from_bytes(sha256("\0".join((f"{seed}", game, f"{step}", seat)).encode("utf-8", "replace")).digest()[:8])


class Draw:
    """Draws the next token of every row; a logits processor for `generate` without sampling. width: of the prompts;
    most: tokens of a reply.
    """

    def __init__(self, rows: Sequence[Sampling], width: int, most: int, device: Any) -> None:
        import torch

        def column(values: Sequence[float]) -> Any:
            return torch.tensor([[value] for value in values], device=device)

        self._width = width
        luck = np.array([np.random.default_rng(row.key).random(most) for row in rows])
        self._luck = torch.tensor(luck, device=device, dtype=torch.float32)
        self._temperature = column([row.temperature or 1.0 for row in rows])
        self._top_p = column([row.top_p for row in rows])
        self._top_k = column([1 if row.temperature == 0 else row.top_k or np.inf for row in rows])

    def __call__(self, ids: Any, scores: Any) -> Any:
        """(rows, vocabulary) scores in which each row's drawn token is the only one left."""
        import torch

        chances, tokens = (scores.float() / self._temperature).softmax(1).sort(dim=1, descending=True, stable=True)
        rank = torch.arange(chances.shape[1], device=chances.device)
        left_out = (rank >= self._top_k) | (chances.cumsum(1) - chances >= self._top_p)
        reached = chances.masked_fill(left_out, 0.0).cumsum(1)
        place = ids.shape[1] - self._width
        cut = self._luck[:, place : place + 1] * reached[:, -1:]
        drawn = tokens.gather(1, (reached <= cut).sum(1, keepdim=True))
        return torch.full_like(scores, -torch.inf).scatter_(1, drawn, 0.0)


def write(loaded: Loaded, rows: Sequence[PromptRow]) -> list[Written]:
    """The replies of one batch. Raises torch.OutOfMemoryError, and whatever else the model raises."""
    import torch
    from transformers import GenerationConfig

    model, width, most = loaded.model, max(len(row.ids) for row in rows), max(row.most for row in rows)
    ids = np.full((len(rows), width), loaded.pad, dtype=np.int64)
    mask = np.zeros_like(ids)
    for at, row in enumerate(rows):
        ids[at, width - len(row.ids) :] = row.ids
        mask[at, width - len(row.ids) :] = 1
    limits = torch.tensor([row.most for row in rows], device=model.device)
    ends = list(loaded.ends) or None
    with torch.inference_mode():
        written = model.generate(
            torch.from_numpy(ids).to(model.device),
            attention_mask=torch.from_numpy(mask).to(model.device),
            generation_config=GenerationConfig(
                max_new_tokens=most, do_sample=False, eos_token_id=ends, pad_token_id=loaded.pad
            ),
            logits_processor=[Draw([row.sampling for row in rows], width, most, model.device)],
            stopping_criteria=[lambda ids, _scores, **_: ids.shape[1] - width >= limits],
        )
        replies = written[:, width:].cpu().numpy()
        return [_written(loaded, row, tokens[: row.most]) for row, tokens in zip(rows, replies, strict=True)]


def _written(loaded: Loaded, row: PromptRow, tokens: NDArray[np.int64]) -> Written:
    """The reply in the tokens written, up to the one that ends it; the states wanted of it take one more pass."""
    import torch

    ends = np.flatnonzero(np.isin(tokens, loaded.ends))
    reply = tokens[: ends[0]] if len(ends) else tokens
    if not row.layers:
        return Written(reply, bool(len(ends)))
    model, limit = loaded.model, torch.finfo(torch.float16).max
    ids = torch.from_numpy(np.concatenate([row.ids, reply]))[None].to(model.device)
    hidden = model.base_model(input_ids=ids, output_hidden_states=True, use_cache=False).hidden_states
    kept = torch.stack([hidden[layer][0, len(row.ids) :].float().cpu() for layer in row.layers], dim=1)
    return Written(reply, bool(len(ends)), kept.clamp(-limit, limit).half().numpy())
