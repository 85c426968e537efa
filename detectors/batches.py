"""Batches that waste no work: each text once, and texts of similar length together, so that little is padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def distinct(texts: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """(each text once, in the order of its first appearance; (n,) the place of every text among them)."""
    places: dict[str, int] = {}
    place = np.array([places.setdefault(text, len(places)) for text in texts], dtype=np.int64)
    return list(places), place


def by_length(lengths: Sequence[int], budget: int) -> Iterator[NDArray[np.int64]]:
    """The places of the texts of each batch, shortest first. budget: most tokens of a batch, padding included; a text
    longer than that is a batch of its own.
    """
    order = np.argsort(lengths, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - start) * lengths[order[end]] > budget:
            yield order[start:end]
            start = end
