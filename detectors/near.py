"""Copies among many texts, exact or near, in time linear in their number: MinHash with banding (Broder 1997)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.detectors.examples import Example
from liescope.detectors.textualize import TextConfig, textualize

Bools = NDArray[np.bool_]

ALIKE = 0.8
"""The Jaccard similarity of their 5-character shingles from which two texts are near copies."""
SHORT = 5
"""Statements of fewer words repeat by nature ("I agree."), so that only copies of longer ones count."""
BANDS, ROWS = 20, 5
"""Of the hashes of a text: a pair of similarity 0.8 shares a band of five with probability 0.9996."""

_SHINGLE = 5
_COMMON = 20  # games beyond which a text says nothing about which one was copied
_SAME = 3  # statements that a copied game shares at least
_PRIME = (1 << 31) - 1
_COMPARED = 50  # texts of one bucket


def normal(examples: Sequence[Example]) -> list[str]:
    """Each statement as it is compared: names masked, the words alone, in small letters."""
    return [" ".join(re.findall(r"\w+", textualize(one, TextConfig()).casefold())) for one in examples]


def is_long(text: str) -> bool:
    """Whether a normal text has enough words for a copy of it to count."""
    return text.count(" ") >= SHORT - 1


def copied_games(learned: pl.DataFrame, there: pl.DataFrame) -> dict[str, str]:
    """Games of `there` that share most of their statements, and at least three, with one learned game, and which one
    that is. learned, there: `game_id` and `normal`, the text or its hash.
    """
    mine = there.select(game="game_id", text="normal").unique()
    theirs = learned.select(other="game_id", text="normal").unique().filter(pl.len().over("text") <= _COMMON)
    pairs = mine.join(theirs, on="text").group_by("game", "other").agg(shared=pl.len())
    sizes = mine.group_by("game").agg(size=pl.len())
    most = pl.max_horizontal(pl.lit(_SAME), pl.col("size") / 2)
    copied = pairs.join(sizes, on="game").filter(pl.col("shared") >= most)
    return dict(copied.sort("game", "shared", "other").select("game", "other").iter_rows())


def near_copies(texts: list[str], among: Bools, wanted: Bools, seed: int) -> Bools:
    """(n,): which of the `wanted` texts, of 5 characters or more, are near copies of one `among` the others. Pairs that
    share a band are compared exactly.
    """
    found = np.zeros(len(texts), dtype=bool)
    if not (among.any() and wanted.any()):
        return found
    use = np.flatnonzero(among | wanted)
    shingles = shingled([texts[row] for row in use])
    left, right = (pl.DataFrame({"row": np.flatnonzero(rows[use])}) for rows in (wanted, among))
    pairs = []
    for band in signatures(shingles, seed):
        keys = pl.DataFrame(band, schema=[str(number) for number in range(ROWS)], orient="col")
        mine, theirs = (pl.concat([keys[side["row"]], side], how="horizontal") for side in (left, right))
        buckets = theirs.group_by(keys.columns).agg(other=pl.col("row").head(_COMPARED))
        pairs.append(mine.join(buckets, on=keys.columns).select("row", "other").explode("other"))
    sizes = np.diff(shingles.indptr)
    for part in pl.concat(pairs).unique().iter_slices(100_000):
        one, other = part["row"].to_numpy(), part["other"].to_numpy()
        both = np.asarray(shingles[one].multiply(shingles[other]).sum(axis=1)).ravel()
        found[use[one[both >= ALIKE * (sizes[one] + sizes[other] - both)]]] = True
    return found


def shingled(texts: Sequence[str]) -> Any:
    """The 5-character pieces of texts, as a sparse matrix of their hashes."""
    from sklearn.feature_extraction.text import HashingVectorizer

    size = (_SHINGLE, _SHINGLE)
    counting = HashingVectorizer(analyzer="char", ngram_range=size, binary=True, norm=None, alternate_sign=False)
    return counting.transform(texts).tocsr()


def signatures(shingles: Any, seed: int) -> NDArray[np.int64]:
    """(bands, rows, n): for each text, the least value of each hash over its shingles."""
    draw = np.random.default_rng(seed)
    factors, shifts = draw.integers(1, _PRIME, BANDS * ROWS), draw.integers(0, _PRIME, BANDS * ROWS)
    values, starts = shingles.indices.astype(np.int64), shingles.indptr[:-1]
    least = [
        np.minimum.reduceat((values * factor + shift) % _PRIME, starts)
        for factor, shift in zip(factors, shifts, strict=True)
    ]
    return np.stack(least).reshape(BANDS, ROWS, -1)
