"""Near copies among many texts, in time linear in their number: MinHash with banding (Broder 1997)."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.detectors.audit.bench import Bools

ALIKE = 0.8
"""The Jaccard similarity of their 5-character shingles from which two texts are near copies."""

_SHINGLE = 5
_BANDS, _ROWS = 20, 5  # a pair of similarity 0.8 shares a band with probability 0.9996
_PRIME = (1 << 31) - 1
_COMPARED = 50  # texts of one bucket


def near_copies(texts: list[str], among: Bools, wanted: Bools, seed: int) -> Bools:
    """(n,): which of the `wanted` texts, of 5 characters or more, are near copies of one `among` the others. Pairs that
    share a band are compared exactly.
    """
    from sklearn.feature_extraction.text import HashingVectorizer

    found = np.zeros(len(texts), dtype=bool)
    if not (among.any() and wanted.any()):
        return found
    use = np.flatnonzero(among | wanted)
    size = (_SHINGLE, _SHINGLE)
    counting = HashingVectorizer(analyzer="char", ngram_range=size, binary=True, norm=None, alternate_sign=False)
    shingles: Any = counting.transform([texts[row] for row in use]).tocsr()
    left, right = (pl.DataFrame({"row": np.flatnonzero(rows[use])}) for rows in (wanted, among))
    pairs = []
    for band in _signatures(shingles, seed):
        keys = pl.DataFrame(band, schema=[str(number) for number in range(_ROWS)], orient="col")
        mine, theirs = (pl.concat([keys[side["row"]], side], how="horizontal") for side in (left, right))
        buckets = theirs.group_by(keys.columns).agg(other=pl.col("row").head(_COMPARED))
        pairs.append(mine.join(buckets, on=keys.columns).select("row", "other").explode("other"))
    sizes = np.diff(shingles.indptr)
    for part in pl.concat(pairs).unique().iter_slices(100_000):
        one, other = part["row"].to_numpy(), part["other"].to_numpy()
        both = np.asarray(shingles[one].multiply(shingles[other]).sum(axis=1)).ravel()
        found[use[one[both >= ALIKE * (sizes[one] + sizes[other] - both)]]] = True
    return found


def _signatures(shingles: Any, seed: int) -> NDArray[np.int64]:
    """(bands, rows, n): for each text, the least value of each hash over its shingles."""
    draw = np.random.default_rng(seed)
    factors, shifts = draw.integers(1, _PRIME, _BANDS * _ROWS), draw.integers(0, _PRIME, _BANDS * _ROWS)
    values, starts = shingles.indices.astype(np.int64), shingles.indptr[:-1]
    least = [
        np.minimum.reduceat((values * factor + shift) % _PRIME, starts)
        for factor, shift in zip(factors, shifts, strict=True)
    ]
    return np.stack(least).reshape(_BANDS, _ROWS, -1)
