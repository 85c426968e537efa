"""Texts within an encoder's limit: the oldest context goes first, and of the statement itself at most the middle.

Batches of them waste no work: each text once, and texts of similar length together, so that little is padding.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.examples import Example
from liescope.detectors.textualize import TextConfig, textualize

GAP = " … "
_CHARS_PER_TOKEN = 16  # more than any language needs; it keeps the search short in a text without end


@dataclass(frozen=True, slots=True)
class Fitted:
    """texts: each within the limit; cut: how many statements lost words of their own; limit: in tokens; what: the texts
    are, each of which is, or ends in, a statement or a part of one.
    """

    texts: list[str]
    cut: int
    limit: int
    what: str = "statements"

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say of it after training."""
        if not self.cut:
            return ()
        return (
            f"{self.cut:,} of {len(self.texts):,} {self.what} have more words than the {self.limit} tokens that the "
            "encoder reads; their middle was left out",
        )


def fit_texts(examples: Sequence[Example], config: TextConfig, tokenizer: Any, limit: int) -> Fitted:
    """The text of each example in at most `limit` tokens, special ones included: as many of the latest statements of
    its context as fit, and the middle left out of a statement that is too long by itself.
    """
    fits = _within(tokenizer, limit)
    texts, cut = [textualize(example, config) for example in examples], 0
    for i, length in enumerate(_lengths(tokenizer, texts)):
        if length > limit:
            with_context = _with_context(examples[i], config)
            texts[i] = _longest(with_context, min(config.context, len(examples[i].context)), fits)
            if not fits(texts[i]):
                cut += 1
                texts[i] = _cut(texts[i], limit, fits)
    return Fitted(texts, cut, limit)


def fit_plain(texts: Sequence[str], tokenizer: Any, limit: int) -> Fitted:
    """Parts of statements in at most `limit` tokens: the middle left out of those that are too long."""
    found, fits = list(texts), _within(tokenizer, limit)
    long = [i for i, length in enumerate(_lengths(tokenizer, found)) if length > limit]
    for i in long:
        found[i] = _cut(found[i], limit, fits)
    return Fitted(found, len(long), limit, "parts of statements")


def _within(tokenizer: Any, limit: int) -> Callable[[str], bool]:
    return lambda text: _lengths(tokenizer, [text])[0] <= limit


def _cut(text: str, limit: int, fits: Callable[[str], bool]) -> str:
    return _longest(_without_middle(text), min(len(text), _CHARS_PER_TOKEN * limit), fits)


def _longest(make: Callable[[int], str], most: int, fits: Callable[[str], bool]) -> str:
    """make(k) for the largest k from 0 to `most` that fits; make(0) if none does."""
    return make(bisect_left(range(1, most + 1), True, key=lambda k: not fits(make(k))))


def _with_context(example: Example, config: TextConfig) -> Callable[[int], str]:
    return lambda kept: textualize(replace(example, context=example.context[-kept:] if kept else ()), config)


def _without_middle(text: str) -> Callable[[int], str]:
    """The beginning and the end of a text, as many characters as asked for."""
    return lambda kept: f"{text[: kept - kept // 2]}{GAP}{text[len(text) - kept // 2 :]}"


def _lengths(tokenizer: Any, texts: list[str]) -> list[int]:
    if not texts:
        return []
    return [len(ids) for ids in tokenizer(texts, truncation=False, padding=False, verbose=False)["input_ids"]]


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
