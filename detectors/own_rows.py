"""Data in memory in place of a corpus: texts or conversations with their labels."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.common.text import CHAT, TEXT
from liescope.detectors.examples import corpus_name
from liescope.detectors.statement_inputs import each_statement
from liescope.games.record import GameRecord
from liescope.generate.corpus.open import as_corpus, in_memory
from liescope.generate.corpus.read import Corpus, CorpusInMemory
from liescope.generate.importers.conversations import is_chat
from liescope.generate.importers.importer_protocol import Rejected
from liescope.generate.importers.importing import Import

OWN_NAME = "own data"
_OPTION = re.compile(r"(name [a-z ]+|say which values are lies) with --(label|deceptive)")  # of a command


def source_name(source: Any) -> str:
    """The name of a corpus, or "own data"."""
    return corpus_name(source) if isinstance(source, str | os.PathLike) else OWN_NAME


def corpus_of(source: Any, labels: Iterable[Any] | None = None, groups: Iterable[Any] | None = None) -> Corpus:
    """The named corpus, or `in_rows`."""
    if isinstance(source, str | os.PathLike):
        if labels is not None or groups is not None:
            raise UsageError("labels and groups go with texts; a corpus has its own")
        return as_corpus(source)
    return in_rows(source, labels, groups)


def in_rows(
    source: Any, labels: Iterable[Any] | None = None, groups: Iterable[Any] | None = None, **told: Any
) -> CorpusInMemory:
    """A corpus made in memory from data.

    source: a list of texts, of conversations (lists of `{"role", "content"}`) or of mappings, or a frame of polars,
    pandas, pyarrow or `datasets`. labels: for each text or conversation whether it is deceptive, None where that is not
    known; without them, a column of the data says it. groups: what each belongs to: a group is never divided between
    splits. told: options of the importer, such as the licence of the words.

    Raises UsageError for data without texts or labels, and for a row that cannot be used, with its place.
    """
    rows = _rows(source, labels, groups)
    if not rows:
        raise UsageError("there are no texts to learn from")
    kind = CHAT if is_chat(list(rows[0])) else TEXT
    found = Import(kind, rows, **told)
    corpus = in_memory(_usable(found.games()), OWN_NAME, {kind: found.importer.terms()})
    if found.receipt.missing:
        raise BadData(f"{found.receipt.missing:,} of {len(rows):,} rows are neither kept nor left out for a reason")
    return replace(corpus, receipt=found.receipt)


def _usable(games: Iterable[GameRecord | Rejected]) -> Iterator[GameRecord]:
    for one in games:
        if isinstance(one, Rejected):
            if not one.line:
                raise UsageError(_OPTION.sub("give labels=, True for deceptive", one.reason))
            raise UsageError(f"row {one.line} cannot be used: {one.reason}; leave such rows out, or mend them")
        yield one


def _rows(source: Any, labels: Iterable[Any] | None, groups: Iterable[Any] | None) -> list[dict[str, Any]]:
    rows = [_row(number, given) for number, given in enumerate(each_statement(source), 1)]
    for name, values in (("deceptive", labels), ("group", groups)):
        if values is None:
            continue
        given = list(values)
        if len(given) != len(rows):
            raise UsageError(f"there are {len(given):,} {name} values for {len(rows):,} texts; give one for each")
        for row, value in zip(rows, given, strict=True):
            row[name] = value.item() if hasattr(value, "item") else value
    return rows


def _row(number: int, given: object) -> dict[str, Any]:
    if isinstance(given, str):
        return {"text": given}
    if isinstance(given, Mapping):
        return {str(name): value for name, value in given.items()}
    if isinstance(given, Sequence) and given and all(isinstance(turn, Mapping) for turn in given):
        return {"messages": list(given)}
    raise UsageError(
        f"text {number} is of type {type(given).__name__}; give strings, lists of messages, or mappings with 'text' or "
        "'messages'"
    )
