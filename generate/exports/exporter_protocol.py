"""The definition of an exporter: a class that writes games in a format of other tools."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from liescope.common.registry import describe
from liescope.common.settings import OptionsModel
from liescope.common.stores import local
from liescope.data_cards.licences import OURS, Licensed, Terms, own_terms
from liescope.data_cards.tables.rows import GameRow, StatementRow
from liescope.games.record import GameRecord
from liescope.generate.corpus.corpus_facts import NOT_SAID
from liescope.generate.corpus.open import RECORD_TABLES, holds_corpus, recorded_games
from liescope.generate.corpus.read import corpus_folder, read_facts
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import plan_terms
from liescope.labeling.record_rows import game_tables


@dataclass(frozen=True, slots=True)
class SourceGame:
    """One game with its labels."""

    row: GameRow
    statements: tuple[StatementRow, ...]
    split: str
    record: GameRecord


@dataclass(slots=True)
class GamesSource:
    """Where games are exported from. name: of the run or corpus; total: how many games it has; journal: of a run, None
    for a corpus, which holds neither prompts nor replies; licences: the terms of the words, complete once `games` has
    been read to the end.
    """

    name: str
    total: int
    journal: Journal | None
    folder: Path
    licences: list[Mapping[str, Any]] = field(default_factory=list)

    def games(self) -> Iterator[SourceGame]:
        """Every game that ended, in the source's order."""
        terms = {} if self.journal is None else plan_terms(self.journal.plan)
        found = Counter[tuple[str, Terms]]()
        for game in recorded_games(self.folder):
            rows: dict[str, list[Any]] = {"games": [], "statements": []}
            for table, row in game_tables(game.record, game.run, only=rows):
                rows[table].append(row)
            (head,) = rows["games"]
            origin = head.origin
            found[origin, own_terms(head.source) if origin == OURS else terms.get(origin, NOT_SAID)] += 1
            yield SourceGame(head, tuple(rows["statements"]), game.split, game.record)
        if self.journal is not None:
            self.licences = [asdict(Licensed(origin, of_origin, games)) for (origin, of_origin), games in found.items()]


@contextmanager
def open_source(source: str | os.PathLike[str]) -> Iterator[GamesSource]:
    """The games of a run's folder, a corpus folder, or a corpus on the Hub ("USER/NAME").

    Raises BadData if the source is neither a run nor a corpus, or is damaged.
    """
    path = local(source)
    if holds_corpus(source):
        folder = corpus_folder(source, *RECORD_TABLES)
        facts = read_facts(folder)
        total = sum(facts["rows"]["games"].values())
        yield GamesSource(str(facts.get("name", path.name)), total, None, folder, list(facts.get("licences", ())))
        return
    with Journal.open(path) as journal:
        yield GamesSource(journal.name, sum(journal.counts().values()), journal, path)


@dataclass(slots=True)
class Tally:
    """What an export holds. models: who played the games; rows: written, by the name of their file without its ending;
    left_out: how many were not written, by reason.
    """

    games: int = 0
    models: set[str] = field(default_factory=set)
    rows: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)


class Exporter(ABC):
    """Writes games in one format. A subclass becomes available once it is listed in `exporting.EXPORTERS`.

    format: its name on the command line; writes: what it makes, for the help; about: what a row or sample is, and what
    opens it, for the README of the export; limits: what the data do not say, for the README too; needs_run: it needs
    prompts and replies, which only a run has; tabular: it writes JSONL, a file for each split, that `load_dataset`
    opens; Options: what it takes. The words of our own formats stand in formats.toml.
    """

    format: ClassVar[str]
    writes: ClassVar[str]
    about: ClassVar[str]
    limits: ClassVar[str]
    needs_run: ClassVar[bool] = False
    tabular: ClassVar[bool] = True
    Options: ClassVar[type[OptionsModel]] = OptionsModel

    def __init_subclass__(cls) -> None:
        describe(cls, Path(__file__).with_name("formats.toml"))

    def __init__(self, options: OptionsModel) -> None:
        self.options = options

    @abstractmethod
    def write(self, source: GamesSource, games: Iterator[SourceGame], folder: Path, tally: Tally) -> None:
        """Write all games into an empty folder, and count. Memory must not grow with the games, except for their
        ids.
        """


def json_line(data: Mapping[str, Any]) -> bytes:
    """A JSON object on one line. A lone surrogate, which no UTF-8 file can hold, becomes "?"."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
