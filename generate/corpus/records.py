"""Games as the records that they were, the same whether from a run, a corpus folder or a corpus on the Hub."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import BadData
from liescope.common.text import plain
from liescope.data_cards.tables import SPLITS
from liescope.games.record import GameRecord
from liescope.games.record_checks import NotARecord
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.read import (
    Source,
    corpus_folder,
    is_corpus,
    read_facts,
    split_game,
    unreadable,
    whole_file,
)
from liescope.generate.runs.journal import Journal
from liescope.labeling.record_rows import record_of

RECORD_TABLES = ("games", "events")
"""The tables that hold the records of a corpus."""
_AT_ONCE = 2048  # rows that are in memory at the same time


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """A game of a run or a corpus. run: the name of the run that it comes from; split: its split in the corpus, or the
    one that `build` would give it.
    """

    record: GameRecord
    run: str
    split: str


def records(source: Source) -> Iterator[GameRecord]:
    """The games of a run or an import (its folder), a corpus folder, or a corpus on the Hub ("USER/NAME"), one at a
    time: equal records from each. Those of a run come in its order, those of a corpus split by split.

    Raises BadData if the source is neither a run nor a corpus, or is damaged.
    """
    return (game.record for game in recorded_games(source))


def recorded_games(source: Source) -> Iterator[RecordedGame]:
    """`records`, with the run and the split of each game."""
    if holds_corpus(source):
        yield from _of_corpus(corpus_folder(source, *RECORD_TABLES))
        return
    with Journal.open(Path(source)) as journal:
        for record in journal.records():
            yield RecordedGame(record, journal.name, split_game(record, ()))


def holds_corpus(source: Source) -> bool:
    """Whether a source is a corpus, in a folder or on the Hub, and not a run."""
    path = Path(source)
    return is_corpus(path) or (not path.exists() and hub_repo(source) is not None)


def _of_corpus(folder: Path) -> Iterator[RecordedGame]:
    """Games and events are in the same order, so both are read once, a few rows at a time."""
    facts = read_facts(folder)
    for split in SPLITS:
        parts = groupby(_rows(folder, "events", split, facts), key=itemgetter("game_id"))
        part = next(parts, None)
        for game in _rows(folder, "games", split, facts):
            mine: Iterable[Mapping[str, Any]] = ()
            if fits := part is not None and part[0] == game["game_id"]:
                mine = part[1]
            yield RecordedGame(_record(game, mine, folder), game["run"], split)
            if fits:
                part = next(parts, None)
        if part is not None:
            raise BadData(f"{folder}: the events of {split} are not in the order of its games; build the corpus again")


def _record(game: Mapping[str, Any], events: Iterable[Mapping[str, Any]], source: Source) -> GameRecord:
    try:
        return record_of(game, events)
    except NotARecord as error:
        name = plain(str(game["game_id"]))
        raise BadData(f"{source}: game {name} is not consistent ({error}); build the corpus again") from error


def _rows(folder: Path, config: str, split: str, facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of one file of a corpus in its order."""
    try:
        with pq.ParquetFile(whole_file(folder, config, split, facts)) as file:
            for batch in file.iter_batches(_AT_ONCE):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise unreadable(folder, error) from error
