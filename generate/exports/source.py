"""The games to export, one at a time: from a run, a corpus folder or a corpus on the Hub."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.data_cards.licences import OURS, Licensed, Terms, own_terms
from liescope.data_cards.tables import SPLITS, GameRow, SeatRow, StatementRow
from liescope.games.record import GameRecord
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.read import collected, corpus_folder, is_corpus, read, read_facts
from liescope.generate.corpus.splits import split_game
from liescope.generate.corpus.terms import NOT_SAID
from liescope.generate.runs.conditions import plan_terms
from liescope.generate.runs.journal import Journal
from liescope.labeling.tables import game_tables

_AT_ONCE = 4096  # rows of a corpus that are in memory at the same time


@dataclass(frozen=True, slots=True)
class SourceGame:
    """One game with its labels. record: of a run's game, None in a corpus, which holds neither prompts nor replies."""

    row: GameRow
    statements: tuple[StatementRow, ...]
    split: str
    record: GameRecord | None = None


@dataclass(slots=True)
class GamesSource:
    """Where games are exported from. name: of the run or corpus; total: how many games it has; journal: of a run, None
    for a corpus; licences: the terms of the words, complete once `games` has been read to its end.
    """

    name: str
    total: int
    journal: Journal | None
    folder: Path
    licences: list[Mapping[str, Any]] = field(default_factory=list)

    def games(self) -> Iterator[SourceGame]:
        """Every game that ended, in the source's order."""
        return self._of_corpus() if self.journal is None else self._of_run(self.journal)

    def _of_run(self, journal: Journal) -> Iterator[SourceGame]:
        terms, found = plan_terms(journal.plan), Counter[tuple[str, Terms]]()
        for record in journal.records():
            rows: dict[str, list[Any]] = {"games": [], "statements": []}
            for table, row in game_tables(record, journal.name, only=rows):
                rows[table].append(row)
            (game,) = rows["games"]
            origin = game.origin
            found[origin, own_terms(game.source) if origin == OURS else terms.get(origin, NOT_SAID)] += 1
            yield SourceGame(game, tuple(rows["statements"]), split_game(record, ()), record)
        self.licences = [asdict(Licensed(origin, of_origin, games)) for (origin, of_origin), games in found.items()]

    def _of_corpus(self) -> Iterator[SourceGame]:
        for split in SPLITS:
            said = groupby(_rows(self.folder, "statements", split), key=lambda row: row["game_id"])
            waiting = next(said, None)
            for game in _rows(self.folder, "games", split):
                statements: tuple[StatementRow, ...] = ()
                if waiting is not None and waiting[0] == game["game_id"]:
                    statements = tuple(StatementRow(**_typed(row)) for row in waiting[1])
                    waiting = next(said, None)
                seats = tuple(SeatRow(**seat) for seat in game["seats"])
                yield SourceGame(GameRow(**_typed(game) | {"seats": seats}), statements, split)
            if waiting is not None:
                raise BadData(f"{self.folder}: the statements of {split} are not in the order of its games")


@contextmanager
def open_source(source: str | os.PathLike[str]) -> Iterator[GamesSource]:
    """The games of a run's folder, a corpus folder, or a corpus on the Hub ("USER/NAME").

    Raises BadData if the source is neither a run nor a corpus, or is damaged.
    """
    path = Path(source)
    if is_corpus(path) or (not path.exists() and hub_repo(source) is not None):
        folder = corpus_folder(source, "games", "statements")
        facts = read_facts(folder)
        total = sum(facts["rows"]["games"].values())
        yield GamesSource(str(facts.get("name", path.name)), total, None, folder, list(facts.get("licences", ())))
        return
    with Journal.open(path) as journal:
        yield GamesSource(journal.name, sum(journal.counts().values()), journal, path)


def _rows(folder: Path, config: str, split: str) -> Iterator[dict[str, Any]]:
    """The rows of one file of a corpus in its order, a part at a time."""
    frame = read(folder, config, split).drop("split")
    at = 0
    while (part := collected(frame.slice(at, _AT_ONCE), folder)).height:
        yield from part.iter_rows(named=True)
        at += _AT_ONCE


def _typed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
