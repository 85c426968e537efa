"""Games as tables, the same whether from a run, a corpus folder or a corpus on the Hub."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.errors import BadData
from liescope.common.leaks import all_without_addresses
from liescope.data_cards.licences import Terms
from liescope.data_cards.tables import SPLITS, TABLES, polars_schema
from liescope.games.record import GameRecord, Status
from liescope.games.record import Source as WordSource
from liescope.generate.corpus.corpus_facts import RunFacts, licences_of
from liescope.generate.corpus.hub import hub_repo
from liescope.generate.corpus.read import (
    Corpus,
    CorpusInMemory,
    collected,
    corpus_folder,
    is_corpus,
    read,
    read_facts,
    split_game,
)
from liescope.generate.corpus.write import GROUP_ROWS, column_values, encodable
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import PLAN_FILE, plan_terms
from liescope.labeling.record_rows import game_tables

_AGAIN = "build the corpus again"


def runs_of(facts: Mapping[str, Any], source: str) -> tuple[RunFacts, ...]:
    """The runs that corpus.json lists. Raises BadData if it lists none, or not the right ones."""
    runs = facts.get("runs")
    if not isinstance(runs, list) or not all(_is_run(run) for run in runs):
        raise BadData(f"{source}: corpus.json does not list the runs of the corpus; {_AGAIN}")
    return tuple(RunFacts(run["name"], run["plan"], run["versions"]) for run in runs)


def _is_run(run: object) -> bool:
    if not isinstance(run, Mapping):
        return False
    versions = run.get("versions")
    return (
        isinstance(run.get("name"), str)
        and isinstance(run.get("plan"), Mapping)
        and isinstance(versions, Mapping)
        and all(isinstance(text, str) for text in versions.values())
    )


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
    folder = Path(source)
    from_hub = not folder.exists() and hub_repo(source) is not None
    if from_hub or is_corpus(folder):
        return _of_corpus(source, wanted, watch)
    return _of_run(folder, wanted, watch)


def _of_corpus(source: str | os.PathLike[str], wanted: Collection[str], watch: Callable[[int], None]) -> OpenedGames:
    folder = corpus_folder(source, *wanted)
    runs = runs_of(read_facts(folder), str(source))
    tables = {name: _in_order(collected(read(folder, name).drop("split"), source)) for name in wanted}
    for name, table in tables.items():
        check_table(name, table, str(source))
    watch(tables["games"].height)
    return OpenedGames(str(source), runs, tables, True)


def _of_run(folder: Path, wanted: Collection[str], watch: Callable[[int], None]) -> OpenedGames:
    with Journal.open(folder) as journal:
        run = RunFacts(journal.name, all_without_addresses(journal.plan), journal.versions)
        return OpenedGames(str(folder), (run,), tables_of(journal.records(), journal.name, wanted, watch), False)


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
    what `build` makes of it, in memory. Raises BadData.
    """
    if isinstance(source, CorpusInMemory):
        return source
    run = Path(source)
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
