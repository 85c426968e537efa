"""Word and character counts of texts, weighted as by scikit-learn's TfidfVectorizer and HashingVectorizer.

They are counted and hashed here because scikit-learn takes longer to import than to learn from a thousand texts.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from liescope.common.reading import Reading, read_json
from liescope.common.statistics import Floats
from liescope.detectors.logistic import TRAIN_AGAIN, numbers

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_LARGEST = 2**29
_WORD = re.compile(r"\w+")
AT_ONCE = 4096
"""Texts whose n-grams are in memory as words at one time."""


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one field: the index of each, and their weights."""

    place: Mapping[str, int]
    idf: Floats

    @classmethod
    def of(cls, seen: Mapping[str, int], rows: int) -> Features:
        """seen: in how many of the rows each occurs."""
        idf = np.log((1 + rows) / (1 + np.fromiter(seen.values(), np.int64, len(seen)))) + 1
        return cls({feature: at for at, feature in enumerate(seen)}, idf)

    def weighed(self, counts: csr_array) -> csr_array:
        """1 + log count, times idf, each row of length 1."""
        from scipy.sparse import csr_array

        counts.sort_indices()  # sums depend on the order in their last bit
        found = csr_array((np.log(counts.data, dtype=np.float64), counts.indices, counts.indptr), counts.shape)
        found.data += 1
        found.data *= self.idf[counts.indices]
        found.data /= np.repeat(np.sqrt(found.power(2).sum(axis=1)), np.diff(counts.indptr))
        return found


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

    def learned(self, texts: Sequence[str], least: int) -> tuple[dict[str, Features], csr_array]:
        """The features in so many texts, alphabetically, and their weights there. Raises ValueError for none."""
        from scipy.sparse import csr_array

        fields, stored = dict[str, Features](), 0
        for field in self.fields:
            seen = Counter[str]()
            for text in texts:
                seen.update(self._of(field, text).keys())
            often = {gram: count for gram, count in sorted(seen.items()) if count >= least}
            if not often:
                raise ValueError(f"no n-gram of {field} is in {least} texts")
            fields[field] = Features.of(often, len(texts))
            stored += sum(often.values())
        index = np.int32 if stored <= np.iinfo(np.int32).max else np.int64
        value, column, ends = np.empty(stored), np.empty(stored, index), np.zeros(len(texts) + 1, index)
        for first in range(0, len(texts), AT_ONCE):  # into their place, so that nothing is in memory twice
            part = self.weighed(texts[first : first + AT_ONCE], fields)
            here = slice(ends[first], ends[first] + part.nnz)
            value[here], column[here] = part.data, part.indices
            ends[first + 1 :][: part.shape[0]] = ends[first] + part.indptr[1:]
        return fields, csr_array((value, column, ends), (len(texts), sum(len(one.place) for one in fields.values())))

    def weighed(self, texts: Sequence[str], fields: Mapping[str, Features]) -> csr_array:
        """(texts, all features)."""
        return beside([one.weighed(self._counted(name, texts, one.place)) for name, one in fields.items()])

    def _counted(self, field: str, texts: Sequence[str], place: Mapping[str, int]) -> csr_array:
        from scipy.sparse import csr_array

        columns, counts, ends = array("i"), array("i"), array("i", [0])
        for own in (self._of(field, text) for text in texts):
            known = own.keys() & place.keys()
            columns.extend(map(place.__getitem__, known))
            counts.extend(map(own.__getitem__, known))
            ends.append(len(columns))
        return csr_array((counts, columns, ends), (len(texts), len(place)))

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


def beside(parts: Sequence[csr_array]) -> csr_array:
    """Matrices with the same rows, side by side."""
    from scipy.sparse import hstack

    return hstack(parts, "csr") if len(parts) > 1 else parts[0]


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
