"""Texts as the tokens that a network reads, packed in flat arrays, and the batches that it learns from.

Batches of one length would waste no padding, but where length tells the label each holds one class, and the loss saws
from one to the next. So neighbours are sought within each class: a batch holds short lies beside short honest
statements, both in the share of the whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.common.statistics import Bools
from liescope.detectors.folds import Rows

_AT_ONCE = 4096  # texts
_MIXED = 8  # batches, from two to so many, from which the statements of one are drawn
_RUNS = 16  # at least, where there are batches enough, or padding takes more than a tenth
Ids = NDArray[np.int32]


@dataclass(frozen=True)
class Tokens:
    """The tokens of n texts. ids: one text after another, in a file of no name that ends with them; ends: (n + 1,)
    where each begins, and the last one ends; pad: the id that fills up a batch, to the right, so that the last word of
    a decoder sees none; multiple: of which the padded length is, None for any.
    """

    ids: Ids
    ends: NDArray[np.int64]
    pad: int
    multiple: int | None = None

    @classmethod
    def of(cls, tokenizer: Any, texts: Iterable[str], multiple: int | None = None) -> Tokens:
        """tokenizer: knows its padding token."""
        ends, given = [np.zeros(1, np.int64)], iter(texts)
        with TemporaryFile() as file:
            while part := list(islice(given, _AT_ONCE)):
                read = tokenizer(part, return_attention_mask=False, return_token_type_ids=False, verbose=False)
                file.write(b"".join(np.array(ids, np.int32).tobytes() for ids in read["input_ids"]))
                ends.append(ends[-1][-1] + np.cumsum([len(ids) for ids in read["input_ids"]]))
            ids = np.memmap(file, np.int32, "r") if file.tell() else np.empty(0, np.int32)
        return cls(ids, np.concatenate(ends), tokenizer.pad_token_id, multiple)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """(n,): how many tokens each text has."""
        return np.asarray(np.diff(self.ends))

    def __len__(self) -> int:
        return len(self.ends) - 1

    def batch(self, rows: Sequence[int] | Rows) -> dict[str, Any]:
        """`input_ids` and `attention_mask` of some texts, as tensors."""
        import torch

        begin, length = self.ends[rows, None], self.lengths[rows, None]
        multiple = self.multiple or 1
        place = np.arange(-(-int(length.max()) // multiple) * multiple)
        there = place < length
        ids = np.full(there.shape, self.pad, np.int64)
        ids[there] = self.ids[(begin + place)[there]]
        return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(there.astype(np.int64))}


@dataclass(frozen=True, slots=True)
class LabelledTokens:
    """Some of the texts with their labels, as a data set of torch: whole batches are read. y: of all texts."""

    tokens: Tokens
    y: Bools
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitems__(self, places: Sequence[int]) -> dict[str, Any]:
        import torch

        mine = self.rows[places]
        return {**self.tokens.batch(mine), "labels": torch.from_numpy(self.y[mine].astype(np.int64))}


class Batches:
    """The batches of each pass over some texts, a batch sampler of torch: the same ones for the same seed and pass, as
    many in each, in random order; of several processes, each has as many as any other.

    Texts in the order of their lengths within their class are cut into runs of equally many tokens, a few batches; from
    each, batches are drawn with both classes in their share. A batch has at most as many tokens, padding included, as
    make batches of `size` texts on average, or as asked for.
    """

    def __init__(
        self, lengths: NDArray[np.int64], y: Bools, size: int, seed: int, tokens: int = 0, rank: int = 0, of: int = 1
    ) -> None:
        self._y, self._seed, self._pass, self._rank, self._of = y, seed, 0, rank, of
        order = _dealt(np.argsort(lengths, kind="stable"), y)
        wanted = max(round(lengths.sum() / tokens), 1) if tokens else -(-len(y) // size)
        count = max(wanted // _MIXED, min(wanted // 2, _RUNS), 1)
        read = lengths[order].cumsum()
        ends = np.searchsorted(read, read[-1] * np.arange(1, count) / count)
        self._runs = [run for run in np.split(order, ends) if len(run)]
        counts = np.array([len(run) for run in self._runs])
        longest = np.array([lengths[run].max() for run in self._runs])

        def cut(budget: int) -> NDArray[np.int64]:
            return np.asarray(-(-counts // np.maximum(budget // longest, 1)))

        most = int((counts * longest).max())  # with which each run is one batch
        self._cuts = cut(tokens or bisect_left(range(most), True, key=lambda budget: cut(budget).sum() <= wanted))
        while not tokens and self._cuts.sum() < wanted:
            self._cuts[np.where(self._cuts < counts, counts * longest / self._cuts, 0).argmax()] += 1

    def set_epoch(self, epoch: int) -> None:
        """Which pass comes next, from 0."""
        self._pass = epoch

    def __len__(self) -> int:
        return int(-(-self._cuts.sum() // self._of))

    def every(self) -> list[Rows]:
        """The batches of all processes."""
        draw = np.random.default_rng([self._seed, self._pass])
        found = [
            batch
            for run, cuts in zip(self._runs, self._cuts.tolist(), strict=True)
            for batch in np.array_split(_dealt(draw.permutation(run), self._y, draw), cuts)
        ]
        order = draw.permutation(len(found)).tolist()
        return [found[at] for at in (order + order)[: len(self) * self._of]]

    def __iter__(self) -> Iterator[list[int]]:
        return (batch.tolist() for batch in self.every()[self._rank :: self._of])


def _dealt(rows: Rows, y: Bools, draw: np.random.Generator | None = None) -> Rows:
    """The rows, those of each class in their order, with both classes spread evenly. draw: for where each begins."""
    place = np.empty(len(rows))
    for label in (False, True):
        mine = y[rows] == label
        place[mine] = (np.arange(mine.sum()) + (draw.random() if draw else 0.5)) / max(mine.sum(), 1)
    return rows[np.argsort(place, kind="stable")]
