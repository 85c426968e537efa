"""Games as tables and as records, equal whether from a run, a corpus folder or a corpus on the Hub."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import BadData, UsageError
from liescope.common.leaks import all_without_addresses
from liescope.common.stores import local
from liescope.common.text import plain
from liescope.data_cards.licences import Terms
from liescope.data_cards.tables import SPLITS, TABLES, polars_schema
from liescope.games.record import GameRecord, Status
from liescope.games.record import Source as WordSource
from liescope.games.record_checks import NotARecord
from liescope.generate.corpus.corpus_facts import licences_of
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.read import (
    Corpus,
    CorpusInMemory,
    RunFacts,
    Source,
    collected,
    corpus_folder,
    is_corpus,
    read,
    read_facts,
    split_game,
    unreadable,
    whole_file,
)
from liescope.generate.corpus.write import GROUP_ROWS, column_values, encodable
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import PLAN_FILE, plan_terms
from liescope.labeling.record_rows import game_tables, record_of

_AGAIN = "build the corpus again"


def check_table(name: str, table: pl.DataFrame, source: str) -> None:
    """Raises BadData if a column has nulls that its declaration does not allow, or a game has impossible values."""
    for field in TABLES[name].fields[:-1]:
        if not field.nullable and table[field.name].null_count():
            raise BadData(f"{source}: the column {field.name} of {name} has nulls, which it cannot have; {_AGAIN}")
    if name == "games":
        _check_games(table, source)


def _check_games(games: pl.DataFrame, source: str) -> None:
    sources = games["seats"].explode(empty_as_null=False).struct.field("source").unique()
    for column, known, found in (
        ("status", Status, games["status"].unique()),
        ("source", WordSource, sources),
    ):
        if odd := sorted({str(value) for value in found} - {member.value for member in known}):
            raise BadData(f"{source}: {odd[0][:80]!r} is not a valid {column} of a game; {_AGAIN}")
    for text in games["settings"].unique():
        try:
            settings = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadData(f"{source}: the settings of a game cannot be read ({error}); {_AGAIN}") from error
        if not isinstance(settings, dict) or not all(isinstance(value, str) for value in settings.values()):
            raise BadData(f"{source}: the settings of a game are not an object of strings; {_AGAIN}")
    if games["game_id"].is_duplicated().any():
        raise BadData(f"{source}: a game appears twice in the table of games; {_AGAIN}")


GAME_TABLES = tuple(name for name in TABLES if name not in ("calls", "events"))
"""The tables that analyses read: of the games themselves, with what their events mean."""


@dataclass(frozen=True, repr=False)
class OpenedGames:
    """The games of one source. source: as named by the caller; runs: those they come from, in order; tables: name to
    frame with the columns of that table except `split`, the rows of a game together, games ordered by id; from_corpus:
    the source is a corpus, not a run.
    """

    source: str
    runs: tuple[RunFacts, ...]
    tables: Mapping[str, pl.DataFrame]
    from_corpus: bool

    def __repr__(self) -> str:
        return f"<OpenedGames {self.source}: {self.tables['games'].height:,} games>"


def open_games(
    source: str | os.PathLike[str],
    tables: Collection[str] = GAME_TABLES,
    watch: Callable[[int], None] = lambda _: None,
) -> OpenedGames:
    """The tables of a run's folder, a corpus folder, or a corpus on the Hub ("USER/NAME"), equal for equal games.

    tables: which ones to read; `games` is always read. watch: called with the number of games read so far.

    Raises BadData if the source is neither a run nor a corpus, or is damaged.
    """
    wanted = [name for name in GAME_TABLES if name in {"games", *tables}]
    if not holds_corpus(source):
        with Journal.open(local(source)) as journal:
            run = RunFacts(journal.name, all_without_addresses(journal.plan), journal.versions)
            return OpenedGames(str(source), (run,), tables_of(journal.records(), journal.name, wanted, watch), False)
    folder = corpus_folder(source, *wanted)
    runs = tuple(RunFacts(**run) for run in read_facts(folder)["runs"])
    tables = {name: _in_order(collected(read(folder, name).drop("split"), source)) for name in wanted}
    for name, table in tables.items():
        check_table(name, table, str(source))
    watch(tables["games"].height)
    return OpenedGames(str(source), runs, tables, True)


def tables_of(
    records: Iterable[GameRecord],
    run: str = "",
    wanted: Collection[str] = GAME_TABLES,
    watch: Callable[[int], None] = lambda _: None,
) -> dict[str, pl.DataFrame]:
    """The tables of recorded games, each game once; see `OpenedGames`. run: the name of their run."""
    return {name: _in_order(table) for name, table in _tables(records, run, wanted, watch).items()}


def _tables(
    records: Iterable[GameRecord], run: str, wanted: Collection[str], watch: Callable[[int], None] = lambda _: None
) -> dict[str, pl.DataFrame]:
    rows: dict[str, list[Any]] = {name: [] for name in wanted}
    parts: dict[str, list[pl.DataFrame]] = {name: [] for name in wanted}
    for number, record in enumerate(records, 1):
        for name, row in game_tables(record, run, only=wanted):
            rows[name].append(row)
            if len(rows[name]) >= GROUP_ROWS:
                parts[name].append(_frame(name, rows[name]))
                rows[name].clear()
        watch(number)
    return {name: pl.concat([*parts[name], _frame(name, rows[name])]) for name in wanted}


def in_memory(records: Iterable[GameRecord], run: str, terms: Mapping[str, Terms]) -> CorpusInMemory:
    """The corpus that `build` makes of recorded games, each game once. terms: of imported games, by origin."""
    splits: dict[str, str] = {}

    def counted() -> Iterator[GameRecord]:
        for record in records:
            splits[record.game_id] = split_game(record, ())
            yield record

    found = _tables(counted(), run, (*GAME_TABLES, "events"))
    split = pl.col("game_id").replace_strict(splits, return_dtype=pl.String).alias("split")
    each = {name: table.with_columns(split).partition_by("split", as_dict=True) for name, table in found.items()}
    none = {name: table.clear().with_columns(split) for name, table in found.items()}
    tables = {name: pl.concat([each[name].get((one,), none[name]) for one in SPLITS]) for name in found}
    licences = [asdict(one) for one in licences_of(tables["games"].lazy(), {run: terms})]
    return CorpusInMemory(run, tables, licences)


def as_corpus(source: Corpus) -> Corpus:
    """The folder of a corpus, which for one on the Hub ("USER/NAME") is a copy in the Hub's cache; for a run's folder,
    the corpus that `build` would make, in memory. Raises BadData.
    """
    if isinstance(source, CorpusInMemory):
        return source
    run = local(source)
    if not (run / PLAN_FILE).is_file():
        return corpus_folder(source, *TABLES)
    with Journal.open(run) as journal:
        return in_memory(journal.records(), journal.name, plan_terms(journal.plan))


def _frame(name: str, rows: list[Any]) -> pl.DataFrame:
    schema = {column: kind for column, kind in polars_schema(name).items() if column != "split"}
    if not rows:
        return pl.DataFrame(schema=schema)
    columns = {field.name: column_values(rows, field) for field in TABLES[name].fields[:-1]}
    try:
        return pl.DataFrame(columns, schema=schema)
    except UnicodeEncodeError:
        return pl.DataFrame(encodable(columns), schema=schema)
    except (TypeError, OverflowError) as error:
        raise BadData(f"a row of {name} holds a value that is not of its column's type: {error}") from error


def _in_order(table: pl.DataFrame) -> pl.DataFrame:
    return table.sort("game_id", maintain_order=True)


RECORD_TABLES = ("games", "events")
"""The tables that hold the records of a corpus."""
_AT_ONCE = 2048  # rows in memory at a time


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
        yield from _records_of_corpus(corpus_folder(source, *RECORD_TABLES))
        return
    with Journal.open(local(source)) as journal:
        for record in journal.records():
            yield RecordedGame(record, journal.name, split_game(record, ()))


def holds_corpus(source: Source) -> bool:
    """Whether a source is a corpus, in a folder or on the Hub, and not a run."""
    path = local(source)
    return is_corpus(path) or (not path.exists() and hub_repo(source) is not None)


def _records_of_corpus(folder: Path) -> Iterator[RecordedGame]:
    """Games and events are in the same order, so both are read once, a few rows at a time."""
    facts = read_facts(folder)
    for split in SPLITS:
        parts = groupby(_file_rows(folder, "events", split, facts), key=itemgetter("game_id"))
        part = next(parts, None)
        for game in _file_rows(folder, "games", split, facts):
            mine = part[1] if part is not None and part[0] == game["game_id"] else None
            yield RecordedGame(_record(game, mine or (), folder), game["run"], split)
            if mine is not None:
                part = next(parts, None)
        if part is not None:
            raise BadData(f"{folder}: the events of {split} are not in the order of its games; build the corpus again")


def _record(game: Mapping[str, Any], events: Iterable[Mapping[str, Any]], source: Source) -> GameRecord:
    try:
        return record_of(game, events)
    except NotARecord as error:
        name = plain(str(game["game_id"]))
        raise BadData(f"{source}: game {name} is not consistent ({error}); build the corpus again") from error


def _file_rows(folder: Path, config: str, split: str, facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of one file of a corpus in its order."""
    try:
        with pq.ParquetFile(whole_file(folder, config, split, facts)) as file:
            for batch in file.iter_batches(_AT_ONCE):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise unreadable(folder, error) from error


def check_apart(opened: Sequence[OpenedGames], by_rater: bool = False) -> None:
    """Raises UsageError if a game is in two sources and would count twice. by_rater: allow it if raters differ."""
    home: dict[tuple[str, str | None], str] = {}
    for games in opened:
        for game_id, rater in games.tables["games"].select("game_id", "judge").iter_rows():
            if (other := home.setdefault((game_id, rater if by_rater else None), games.source)) is not games.source:
                rated = f", {f'rated by {rater}' if rater else 'with the ratings of its players'}" if by_rater else ""
                raise UsageError(
                    f"{other} and {games.source} both hold the game {game_id}{rated}, which would count twice; "
                    "name one of them"
                )
