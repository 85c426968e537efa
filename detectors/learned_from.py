"""What a detector learned from, as hashes: enough to find copies of it in any corpus, not enough to read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from liescope.common.errors import BadData
from liescope.common.reading import Reading, regular
from liescope.detectors.detector import TRAIN_AGAIN
from liescope.detectors.examples import Example
from liescope.detectors.likeness import ALIKE, BANDS, ROWS, Bools, copied_games, is_long, normal, shingled, signatures

FILE = "learned.parquet"
_HASHES = BANDS * ROWS
_SCHEMA = pa.schema([("game", pa.uint32()), ("text", pa.uint64()), ("sketch", pa.binary(_HASHES))])
_MOST = 10_000_000
_COMPARED = 50  # learned statements of one bucket
_SEED = 0
_CHANCE = 1 / 256  # two bytes agree

Sketches = NDArray[np.uint8]


@dataclass(frozen=True)
class Copies:
    """Which of n statements repeat what was learned. long: those of five words or more, which are compared; exact: word
    for word; near: at least nearly; each (n,). games: the ids of games that repeat a learned one.
    """

    long: Bools
    exact: Bools
    near: Bools
    games: frozenset[str]


@dataclass(frozen=True)
class LearnedStatements:
    """The learned statements of five words or more. game: (n,) numbers of their games; text: (n,) hashes of their
    words; sketch: (n, 100) the last byte of each MinHash of their pieces.
    """

    game: NDArray[np.uint32]
    text: NDArray[np.uint64]
    sketch: Sketches

    @classmethod
    def of(cls, examples: Sequence[Example], groups: NDArray[np.str_]) -> LearnedStatements:
        """groups: (n,) the games of the examples."""
        texts = normal(examples)
        keep = np.flatnonzero([is_long(text) for text in texts])
        _, numbers = np.unique(groups, return_inverse=True)
        kept = [texts[at] for at in keep]
        return cls(numbers[keep].astype(np.uint32), _hashes(kept), _sketches(kept))

    def write(self, folder: Path) -> None:
        """Raises OSError."""
        rows = pa.array([row.tobytes() for row in self.sketch], pa.binary(_HASHES))
        table = pa.table([pa.array(self.game), pa.array(self.text), rows], schema=_SCHEMA)
        pq.write_table(table, folder / FILE, compression="zstd")

    @classmethod
    def read(cls, folder: Path) -> LearnedStatements:
        """Raises BadData."""
        path = folder / FILE
        with Reading(path, TRAIN_AGAIN):
            regular(path)
            about = pq.read_metadata(path)
            if about.num_rows > _MOST or about.schema.to_arrow_schema() != _SCHEMA:
                raise BadData(f"{path} is not what this version of Liescope writes; {TRAIN_AGAIN}")
            table = pq.read_table(path, schema=_SCHEMA)
            table.validate(full=True)
        if any(column.null_count for column in table.columns):
            raise BadData(f"{path} lacks values; {TRAIN_AGAIN}")
        sketch = np.frombuffer(b"".join(table["sketch"].to_pylist()), np.uint8).reshape(-1, _HASHES)
        return cls(table["game"].to_numpy(), table["text"].to_numpy(), sketch)

    def copies(self, examples: Sequence[Example]) -> Copies:
        """Which of these statements repeat learned ones."""
        texts = normal(examples)
        long = np.array([is_long(text) for text in texts], dtype=bool)
        at = np.flatnonzero(long)
        kept = [texts[row] for row in at]
        exact, near = np.zeros(len(texts), dtype=bool), np.zeros(len(texts), dtype=bool)
        hashes = _hashes(kept)
        exact[at] = np.isin(hashes, self.text)
        near[at] = exact[at] | self._alike(_sketches(kept))
        there = pl.DataFrame({"game_id": [examples[int(row)].game_id for row in at], "normal": hashes})
        return Copies(long, exact, near, frozenset(copied_games(self._texts, there)))

    @cached_property
    def _texts(self) -> pl.DataFrame:
        return pl.DataFrame({"game_id": self.game, "normal": self.text})

    def _alike(self, sketch: Sketches) -> Bools:
        """(n,): which sketches agree with a learned one in as many places as texts of that similarity do."""
        found = np.zeros(len(sketch), dtype=bool)
        enough = _HASHES * (ALIKE + (1 - ALIKE) * _CHANCE)
        for mine, theirs in zip(_bands(sketch), _bands(self.sketch), strict=True):
            ours = pl.DataFrame({"key": mine}).with_row_index("row")
            known = pl.DataFrame({"key": theirs}).with_row_index("other")
            pairs = ours.join(known.group_by("key").agg(pl.col("other").head(_COMPARED)), on="key").explode("other")
            for part in pairs.iter_slices(100_000):
                row, other = part["row"].to_numpy(), part["other"].to_numpy()
                found[row[(sketch[row] == self.sketch[other]).sum(axis=1) >= enough]] = True
        return found


def _hashes(texts: Sequence[str]) -> NDArray[np.uint64]:
    return np.array([int.from_bytes(blake2b(t.encode(), digest_size=8).digest()) for t in texts], dtype=np.uint64)


def _sketches(texts: Sequence[str]) -> Sketches:
    if not texts:
        return np.zeros((0, _HASHES), dtype=np.uint8)
    found = signatures(shingled(texts), _SEED).reshape(_HASHES, len(texts))
    return np.ascontiguousarray((found & 0xFF).T.astype(np.uint8))


def _bands(sketch: Sketches) -> list[NDArray[np.uint64]]:
    """One number for each band of each sketch."""
    places = np.array([1 << (8 * row) for row in range(ROWS)], dtype=np.uint64)
    bands = sketch.reshape(-1, BANDS, ROWS).astype(np.uint64) @ places
    return list(bands.T)
