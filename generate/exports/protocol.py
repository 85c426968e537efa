"""The definition of an exporter: a class that writes games in a format of other tools."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from liescope.common.model_options import OptionsModel
from liescope.generate.exports.source import GamesSource, SourceGame


@dataclass(slots=True)
class Tally:
    """What an export holds. models: who played the games; rows: written, by the name of their file without its ending;
    left_out: what was not written, by reason.
    """

    games: int = 0
    models: set[str] = field(default_factory=set)
    rows: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


class Exporter(ABC):
    """Writes games in one format. A subclass becomes available once it is listed in `registry.EXPORTERS`.

    format: its name on the command line; writes: what it makes, for the help; about: what a row or sample is, and what
    opens it, for the README of the export; limits: what the data does not say, for the same; hint: what it needs
    besides ordinary games, if it does, and where that comes from; needs_run: it needs prompts and replies, which only a
    run has; tabular: it writes JSONL, a file for each split, that `load_dataset` opens; Options: what it takes.
    """

    format: ClassVar[str]
    writes: ClassVar[str]
    about: ClassVar[str]
    limits: ClassVar[str]
    hint: ClassVar[str] = ""
    needs_run: ClassVar[bool] = False
    tabular: ClassVar[bool] = True
    Options: ClassVar[type[OptionsModel]] = OptionsModel

    def __init__(self, options: OptionsModel) -> None:
        self.options = options

    @abstractmethod
    def write(self, source: GamesSource, games: Iterator[SourceGame], folder: Path, tally: Tally) -> None:
        """Write all games into an empty folder, and count. Memory must not grow with the games, but for their ids."""


def json_line(data: Mapping[str, Any]) -> bytes:
    """A JSON object on one line. A lone surrogate, which no UTF-8 file can hold, becomes "?"."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
