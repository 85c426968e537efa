"""Word and character counts of texts, weighted as by scikit-learn's TfidfVectorizer and HashingVectorizer.

It is written in numpy alone because scikit-learn takes longer to import than to learn from a thousand texts.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from liescope.common.reading import Reading, read_json
from liescope.common.statistics import Floats
from liescope.detectors.logistic import TRAIN_AGAIN, numbers

_LARGEST = 2**29
_WORD = re.compile(r"\w+")
AT_ONCE = 4096
"""Texts whose n-grams are in memory as words at one time."""
Row = tuple[NDArray[np.int32], NDArray[np.float32]]
"""Columns, each once, and the values there."""


@dataclass(frozen=True, slots=True)
class Sparse:
    """(rows, width) numbers, most of them 0, row after row. value, column: (stored,); ends: (rows + 1,)."""

    value: NDArray[Any]
    column: NDArray[np.int32]
    ends: NDArray[np.int64]
    width: int

    @classmethod
    def of(cls, rows: Iterable[Sequence[Row]], width: int) -> Sparse:
        """From rows with repeated columns, whose values are added."""
        summed = [_sum(parts) for parts in rows]
        ends = np.cumsum([0, *(len(columns) for columns, _ in summed)])
        columns = np.concatenate([columns for columns, _ in summed] or [np.empty(0, np.int32)])
        return cls(np.concatenate([values for _, values in summed] or [np.empty(0, np.float32)]), columns, ends, width)

    @classmethod
    def beside(cls, parts: Sequence[Sparse]) -> Sparse:
        """Several matrices with the same rows, side by side."""
        starts = np.cumsum([0, *(part.width for part in parts)])
        order = np.argsort(np.concatenate([part.row for part in parts]), kind="stable")
        column = np.concatenate([part.column + start for part, start in zip(parts, starts[:-1], strict=True)])
        value = np.concatenate([part.value for part in parts])
        ends = np.sum([part.ends for part in parts], axis=0)
        return cls(value[order], column[order].astype(np.int32), ends, int(starts[-1]))

    @property
    def row(self) -> NDArray[np.int64]:
        """(stored,): the row of each value."""
        return np.repeat(np.arange(len(self.ends) - 1), np.diff(self.ends))

    def __matmul__(self, weights: Floats) -> Floats:
        # bincount adds in order, as a product of scipy's does: the sums are the same bits.
        return np.bincount(self.row, self.value * weights[self.column], len(self.ends) - 1).astype(np.float64)

    def moved(self, place: NDArray[np.int64], width: int) -> Sparse:
        """With its columns moved. place: (self.width,), the new place of each, -1 for one that is left out."""
        column = place[self.column]
        kept = column >= 0
        ends = np.concatenate([[0], np.cumsum(kept)])[self.ends]
        return Sparse(self.value[kept], column[kept].astype(np.int32), ends, width)

    def in_order(self) -> Sparse:
        """With the columns of each row in their order: sums depend on it in their last bit."""
        order = np.argsort(self.row * self.width + self.column)
        return Sparse(self.value[order], self.column[order], self.ends, self.width)

    def dense(self) -> Floats:
        found = np.zeros((len(self.ends) - 1, self.width))
        found[self.row, self.column] = self.value
        return found

    def csr(self) -> Any:
        """As a scipy matrix, for the solvers."""
        from scipy.sparse import csr_array

        return csr_array((self.value, self.column, self.ends), shape=(len(self.ends) - 1, self.width))


def _sum(parts: Sequence[Row]) -> Row:
    columns = np.concatenate([columns for columns, _ in parts] or [np.empty(0, np.int32)])
    values = np.concatenate([values for _, values in parts] or [np.empty(0, np.float32)])
    found, place = np.unique(columns, return_inverse=True)
    return found, np.bincount(place, values, len(found)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one field: the index of each, and their weights."""

    place: Mapping[str, int]
    idf: Floats

    @classmethod
    def chosen(cls, counts: Sparse, met: Sequence[str], least: int) -> tuple[Features, Sparse]:
        """The features that occur in so many rows, and their counts. met: the names of the columns."""
        seen = np.bincount(counts.column, minlength=counts.width)
        kept = np.flatnonzero(seen >= least)
        place = np.full(counts.width, -1)
        place[kept] = np.arange(len(kept))
        names = [met[at] for at in kept.tolist()]
        return cls.of(names, seen[kept], len(counts.ends) - 1), counts.moved(place, len(kept))

    @classmethod
    def of(cls, names: Sequence[str], seen: NDArray[np.int64], rows: int) -> Features:
        """seen: in how many of the rows each occurs."""
        return cls({name: at for at, name in enumerate(names)}, np.log((1 + rows) / (1 + seen)) + 1)

    def weighed(self, counts: Sparse) -> Sparse:
        """1 + log count, times idf, each row of length 1."""
        value = (1 + np.log(counts.value.astype(np.float64))) * self.idf[counts.column]
        length = np.sqrt(np.bincount(counts.row, value**2, len(counts.ends) - 1))
        return Sparse(value / length[counts.row], counts.column, counts.ends, counts.width)


def write_features(path: Path, fields: Mapping[str, Features]) -> None:
    facts = {name: {"features": list(one.place), "idf": one.idf.tolist()} for name, one in fields.items()}
    path.write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")


def read_features(path: Path, fields: Iterable[str] | None = None) -> dict[str, Features]:
    """Read what `write_features` wrote: these fields, or all. Raises BadData."""
    saved = read_json(path, TypeAdapter(dict[str, Any]), _LARGEST, TRAIN_AGAIN)
    with Reading(path, TRAIN_AGAIN):
        return {name: _restored(saved[name]) for name in (saved if fields is None else fields)}


def _restored(saved: Any) -> Features:
    features, idf = saved["features"], np.array(saved["idf"], dtype=np.float64)
    if not all(isinstance(feature, str) for feature in features) or len(set(features)) < len(features):
        raise ValueError("its features are not words, each once")
    return Features({feature: at for at, feature in enumerate(features)}, numbers(idf, (len(features),)))


WORDS, CHARS = "words", "chars"


@dataclass(frozen=True, slots=True)
class Ngrams:
    """Which n-grams are counted. words: up to so many; chars: from 2 up to so many, inside words. Each is a field."""

    words: int
    chars: int

    @property
    def fields(self) -> tuple[str, ...]:
        return (WORDS,) * (self.words > 0) + (CHARS,) * (self.chars > 1)

    def learned(self, texts: Sequence[str], least: int) -> tuple[dict[str, Features], Sparse]:
        """The features in so many texts, alphabetically, and their weights there. Raises ValueError for none."""
        met, parts = {field: _Met() for field in self.fields}, list[dict[str, Sparse]]()
        for first in range(0, len(texts), AT_ONCE):
            some = texts[first : first + AT_ONCE]
            parts.append({field: _counted([self._of(field, text) for text in some], own) for field, own in met.items()})
        fields, places, stored = dict[str, Features](), dict[str, NDArray[np.int64]](), 0
        for field, own in met.items():
            seen = np.zeros(len(own), np.int64)
            for part in parts:
                seen += np.bincount(part[field].column, minlength=len(own))
            names = sorted(gram for gram, at in own.items() if seen[at] >= least)
            if not names:
                raise ValueError(f"no n-gram of {field} is in {least} texts")
            kept = np.array([own[gram] for gram in names])
            places[field] = np.full(len(own), -1)
            places[field][kept] = np.arange(len(kept))
            fields[field] = Features.of(names, seen[kept], len(texts))
            stored += int(seen[kept].sum())
        value, column, ends = np.empty(stored), np.empty(stored, np.int32), [np.zeros(1, np.int64)]
        for part in parts:  # each goes as its values come, so that nothing is in memory twice
            counts = {field: part[field].moved(place, len(fields[field].place)) for field, place in places.items()}
            part.clear()
            some_rows = _weighed(counts, fields)
            ends.append(ends[-1][-1] + some_rows.ends[1:])
            here = slice(ends[-2][-1], ends[-1][-1])
            value[here], column[here] = some_rows.value, some_rows.column
        return fields, Sparse(value, column, np.concatenate(ends), sum(len(one.place) for one in fields.values()))

    def weighed(self, texts: Sequence[str], fields: Mapping[str, Features]) -> Sparse:
        """(texts, all features)."""
        counts = {name: _counted([self._of(name, text) for text in texts], one.place) for name, one in fields.items()}
        return _weighed(counts, fields)

    def _of(self, field: str, text: str) -> Counter[str]:
        text = text.lower()
        return Counter(word_grams(_WORD.findall(text), self.words) if field == WORDS else self._chars(text))

    def _chars(self, text: str) -> Iterable[str]:
        for word in text.split():
            padded = f" {word} "
            for n in range(2, self.chars + 1):
                yield padded[:n]
                yield from (padded[at : at + n] for at in range(1, len(padded) - n + 1))
                if n >= len(padded):  # a short word counts once
                    break


def word_grams(words: Sequence[str], most: int) -> list[str]:
    """All sequences of 1 to so many words."""
    return [" ".join(words[at : at + n]) for n in range(1, most + 1) for at in range(len(words) - n + 1)]


class _Met(dict[str, int]):
    """The features met so far, numbered as they come."""

    def __missing__(self, feature: str) -> int:
        return self.setdefault(feature, len(self))


def _counted(grams: Sequence[Counter[str]], place: Mapping[str, int]) -> Sparse:
    """The counts of the features in `place`, or of all that are met."""
    columns, counts, ends = array("i"), array("i"), [0]
    for own in grams:
        known = own.keys() if isinstance(place, _Met) else own.keys() & place.keys()
        columns.extend(map(place.__getitem__, known))
        counts.extend(map(own.__getitem__, known))
        ends.append(len(columns))
    column, count = np.array(columns, dtype=np.int32), np.array(counts, dtype=np.int32)
    return Sparse(count, column, np.array(ends), len(place))


def _weighed(counts: Mapping[str, Sparse], fields: Mapping[str, Features]) -> Sparse:
    """(texts, all features), from the counts of each field."""
    return Sparse.beside([one.weighed(counts[name].in_order()) for name, one in fields.items()])


def hashed(texts: Sequence[Sequence[str]], width: int) -> Floats:
    """(texts, width): the words of each text, hashed with a sign, as a vector of length 1."""
    place = {word: at for at, word in enumerate(sorted({word for words in texts for word in words}))}
    code = murmur(list(place))
    column, sign = np.abs(code) % width, np.where(code >= 0, 1.0, -1.0)
    found = np.zeros((len(texts), width))
    for row, words in zip(found, texts, strict=True):
        at = [place[word] for word in words]
        np.add.at(row, column[at], sign[at])
    length = np.sqrt((found**2).sum(axis=1, keepdims=True))
    return np.asarray(np.divide(found, length, out=found, where=length > 0))


def murmur(words: Sequence[str]) -> NDArray[np.int64]:
    """(words,): the signed 32-bit MurmurHash3 of each in UTF-8 (Appleby 2011), seed 0; words of one length at once."""
    coded = [word.encode() for word in words]
    lengths, found = np.array([len(one) for one in coded], dtype=np.int64), np.zeros(len(coded), dtype=np.int64)
    for length in np.unique(lengths).tolist():
        rows = np.flatnonzero(lengths == length)
        blocks = np.zeros((len(rows), -(-length // 4) * 4), np.uint8)
        blocks[:, :length] = np.frombuffer(b"".join(coded[row] for row in rows), np.uint8).reshape(len(rows), length)
        found[rows] = _mixed(blocks.view("<u4"), length).astype(np.int32)
    return found


def _mixed(blocks: NDArray[np.uint32], length: int) -> NDArray[np.uint32]:
    code = np.zeros(len(blocks), np.uint32)
    for at in range(blocks.shape[1]):
        code ^= _turned(blocks[:, at] * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)
        if at < length // 4:  # as MurmurHash3 has it, the last one to three bytes are not mixed further
            code = _turned(code, 13) * np.uint32(5) + np.uint32(0xE6546B64)
    code ^= np.uint32(length)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        code = (code ^ (code >> np.uint32(shift))) * np.uint32(factor)
    return code ^ (code >> np.uint32(16))


def _turned(code: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    return (code << np.uint32(bits)) | (code >> np.uint32(32 - bits))
