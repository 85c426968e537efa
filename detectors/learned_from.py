"""Copies among texts, exact or near, in time linear in their number: MinHash with banding (Broder 1997). Also a
detector's training texts as hashes: enough to find copies in any corpus, not enough to read them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from liescope.common.errors import BadData
from liescope.common.reading import read_parquet
from liescope.common.statistics import Bools
from liescope.detectors.examples import Example
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.text_form import TextConfig, textualize
from liescope.detectors.tf_idf import murmur

ALIKE = 0.8
"""The Jaccard similarity of their 5-character shingles from which two texts are near copies."""
SHORT = 5
"""Statements of fewer words repeat by nature ("I agree."), so that only copies of longer ones count."""
BANDS, ROWS = 20, 5
"""Of the hashes of a text: a pair of similarity 0.8 shares a band of five with probability 0.9996."""
_SHINGLE, _BUCKETS = 5, 2**20
_TEXTS_AT_ONCE = 4096
_COMMON = 20  # a text in more games than this does not tell which one was copied
_SAME, _WHOLE = 3, 0.8  # the fewest statements that a copied game shares, and the least share of both games
_PRIME = (1 << 31) - 1
FILE = "learned.parquet"
_HASHES = BANDS * ROWS
_SCHEMA = {"game": pl.UInt32, "text": pl.UInt64, "sketch": pl.Binary}
_MOST = 10_000_000
_COMPARED = 50  # texts of one bucket
_SEED = 0
_AT_ONCE = 100_000  # pairs
_CHANCE = 1 / 256  # two bytes agree
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
Sketches = NDArray[np.uint8]


def normal(examples: Sequence[Example]) -> list[str]:
    """The form in which statements are compared: names masked, words alone, lower case."""
    return [" ".join(re.findall(r"\w+", textualize(one, TextConfig()).casefold())) for one in examples]


def is_long(text: str) -> bool:
    """Whether a normal text has enough words for a copy of it to count."""
    return text.count(" ") >= SHORT - 1


def copied_games(learned: pl.DataFrame, there: pl.DataFrame) -> dict[Any, Any]:
    """Games of `there` that repeat a learned game, and which one: they share nearly all of both, in order, and at least
    three statements. Players with stock phrases share many statements, but no whole game. learned, there: in order of
    play, `game_id` and `normal`, the text or its hash.
    """
    mine = there.select(game="game_id", text="normal").unique()
    theirs = learned.select(other="game_id", text="normal").unique().filter(pl.len().over("text") <= _COMMON)
    pairs = mine.join(theirs, on="text").group_by("game", "other").agg(shared=pl.len())
    whole, old = (
        dict(frame.group_by("game_id", maintain_order=True).agg("normal").iter_rows()) for frame in (there, learned)
    )
    found: dict[Any, Any] = {}
    for game, other, shared in pairs.filter(pl.col("shared") >= _SAME).sort("game", "shared", "other").iter_rows():
        in_order = SequenceMatcher(None, whole[game], old[other], autojunk=False)
        if shared >= _WHOLE * len(set(whole[game])) and in_order.ratio() >= _WHOLE:
            found[game] = other
    return found


def signatures(texts: Sequence[str], seed: int) -> Sketches:
    """(hashes, n): the last byte of the least value of each hash over a text's 5-character pieces, of which it has at
    least one.
    """
    draw = np.random.default_rng(seed)
    factors, shifts = draw.integers(1, _PRIME, _HASHES), draw.integers(0, _PRIME, _HASHES)
    found = np.empty((_HASHES, len(texts)), dtype=np.uint8)
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        part = [_pieces(text) for text in texts[start : start + _TEXTS_AT_ONCE]]
        every = sorted(set[str]().union(*part))
        place, code = {piece: at for at, piece in enumerate(every)}, np.abs(murmur(every)) % _BUCKETS
        values = code[[place[piece] for pieces in part for piece in pieces]]
        starts = np.cumsum([0, *map(len, part)])[:-1]
        for row, factor, shift in zip(found, factors, shifts, strict=True):
            row[start : start + len(part)] = np.minimum.reduceat((values * factor + shift) % _PRIME, starts) & 0xFF
    return found


def _pieces(text: str) -> set[str]:
    return {text[at : at + _SHINGLE] for at in range(len(text) - _SHINGLE + 1)}


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
        hashes = [int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) for text in kept]
        sketches = np.ascontiguousarray(signatures(kept, _SEED).T)
        return cls(numbers[keep].astype(np.uint32), np.array(hashes, dtype=np.uint64), sketches)

    def write(self, folder: Path) -> None:
        """Raises OSError."""
        columns = {"game": self.game, "text": self.text, "sketch": [row.tobytes() for row in self.sketch]}
        pl.DataFrame(columns, schema=_SCHEMA).write_parquet(folder / FILE)

    @classmethod
    def read(cls, folder: Path) -> LearnedStatements:
        """Raises BadData."""
        table = read_parquet(folder / FILE, _SCHEMA, _MOST, TRAIN_AGAIN)
        if not (table["sketch"].bin.size() == _HASHES).all():
            raise BadData(f"{folder / FILE} holds something else than sketches; {TRAIN_AGAIN}")
        sketch = np.frombuffer(b"".join(table["sketch"]), np.uint8).reshape(-1, _HASHES)
        return cls(table["game"].to_numpy(), table["text"].to_numpy(), sketch)

    def part(self, rows: Bools) -> LearnedStatements:
        """Some of its rows, (n,)."""
        return LearnedStatements(self.game[rows], self.text[rows], self.sketch[rows])

    def repeats(self, others: LearnedStatements) -> tuple[Bools, Bools]:
        """(exact, near), each (others,): which of the others copy these, word for word or at least nearly."""
        exact = np.isin(others.text, self.text)
        near, rest = exact.copy(), np.flatnonzero(~exact)
        _, first, place = np.unique(others.text[rest], return_index=True, return_inverse=True)
        near[rest] = self._alike(others.sketch[rest[first]])[place]  # each text once, however often it is said
        return exact, near

    def copies(self, examples: Sequence[Example]) -> Copies:
        """Which of these statements repeat learned ones."""
        games = np.array([example.game_id for example in examples], dtype=np.str_)
        names = np.unique(games)
        long = np.array([is_long(text) for text in normal(examples)], dtype=bool)
        own = LearnedStatements.of(examples, games)
        exact, near = np.zeros(len(examples), dtype=bool), np.zeros(len(examples), dtype=bool)
        exact[long], near[long] = self.repeats(own)
        repeated = copied_games(self.texts, own.texts)
        return Copies(long, exact, near, frozenset(str(names[number]) for number in repeated))

    @cached_property
    def texts(self) -> pl.DataFrame:
        return pl.DataFrame({"game_id": self.game, "normal": self.text})

    def _alike(self, sketch: Sketches) -> Bools:
        """(n,): which sketches agree with a learned one in as many places as near copies would."""
        found = np.zeros(len(sketch), dtype=bool)
        enough = _HASHES * (ALIKE + (1 - ALIKE) * _CHANCE)
        learned = self.sketch[np.sort(np.unique(self.text, return_index=True)[1])]
        for mine, theirs in zip(_bands(sketch), _bands(learned), strict=True):
            order = np.argsort(theirs, kind="stable")
            first, last = (np.searchsorted(theirs[order], mine, side) for side in _SIDES)
            many = np.minimum(last - first, _COMPARED)
            row, place = np.repeat(np.arange(len(mine)), many), np.repeat(first + many - many.cumsum(), many)
            other = order[place + np.arange(len(row))]
            for at in range(0, len(row), _AT_ONCE):
                part = slice(at, at + _AT_ONCE)
                same = (sketch[row[part]] == learned[other[part]]).sum(axis=1) >= enough
                found[row[part][same]] = True
        return found


def _bands(sketch: Sketches) -> list[NDArray[np.uint64]]:
    """One number for each band of each sketch."""
    places = np.array([1 << (8 * row) for row in range(ROWS)], dtype=np.uint64)
    bands = sketch.reshape(-1, BANDS, ROWS).astype(np.uint64) @ places
    return list(bands.T)
