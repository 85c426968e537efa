"""Writing the rows of games as Parquet, in bounded row groups, so that memory use is independent of their number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import BadData, UsageError
from liescope.common.leaks import without_addresses
from liescope.common.text import WITHOUT_GAME, unit_of
from liescope.data_cards.tables import SPLITS, TABLES, CorpusColumn, CorpusTable, arrow_schema
from liescope.data_cards.tables.rows import CallRow
from liescope.games.record import GameRecord
from liescope.games.withdrawal import withdrawn_from
from liescope.generate.corpus.read import data_file, read, read_facts, split_game
from liescope.labeling.record_rows import game_tables

# A row group ends at whichever bound it reaches first; texts of 100 kB must not pile up to gigabytes.
GROUP_ROWS = 8192
GROUP_CHARS = 8 * 2**20


class _File:
    """One Parquet file being written, with the rows of its next row group."""

    def __init__(self, path: Path, table: CorpusTable, split: str) -> None:
        self._table = table
        self._split = split
        self._schema = arrow_schema(table.name)
        self._chars_of = chars_of(table)
        self._rows: list[Any] = []
        self._chars = 0
        path.parent.mkdir(exist_ok=True)
        self.writer = pq.ParquetWriter(path, self._schema, compression="zstd", write_page_checksum=True)

    def add(self, row: Any) -> None:
        self._rows.append(row)
        self._chars += self._chars_of(row)
        if len(self._rows) >= GROUP_ROWS or self._chars >= GROUP_CHARS:
            self.flush()

    def copy(self, path: Path) -> None:
        """Add the rows of another such file."""
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(GROUP_ROWS):
                self.writer.write_batch(batch)

    def flush(self) -> None:
        """Write one row group, of the rows that wait. Raises BadData if a value is not of its column's type."""
        if not self._rows:
            return
        kinds = {field.name: field.type for field in self._schema}
        columns = [_array(one, column_values(self._rows, one), kinds[one.name]) for one in self._table.fields[:-1]]
        split = pa.repeat(pa.scalar(self._split, pa.string()), len(self._rows))
        self.writer.write_table(pa.Table.from_arrays([*columns, split], schema=self._schema))
        self._rows.clear()
        self._chars = 0


def chars_of(table: CorpusTable) -> Callable[[Any], int]:
    """The number of characters in a row's texts."""
    names = [field.name for field in table.fields[:-1] if field.type == "text" and not field.repeated]
    texts: Callable[[Any], tuple[str | None, ...]] = attrgetter(*names)
    return lambda row: sum(map(len, filter(None, texts(row))))


def column_values(rows: list[Any], field: CorpusColumn) -> list[Any]:
    """One column of a table's rows."""
    values = list(map(attrgetter(field.name), rows))
    if field.fields:
        names = [part.name for part in field.fields]
        values = [[{name: getattr(record, name) for name in names} for record in records] for records in values]
    return values


class CorpusWriter:
    """All files of a corpus being written, one for each config and split; a context manager.

    A file without rows is still written, with its schema.
    """

    def __init__(self, folder: Path) -> None:
        self._files = {
            (name, split): _File(folder / data_file(name, split), table, split)
            for name, table in TABLES.items()
            for split in SPLITS
        }
        self._open = ExitStack()
        for file in self._files.values():
            self._open.enter_context(file.writer)

    def add(self, config: str, split: str, row: Any) -> None:
        """Add one row, of the table's row class."""
        self._files[config, split].add(row)

    def copy(self, corpus: Path) -> None:
        """Add all rows of another corpus."""
        for (config, split), file in self._files.items():
            file.copy(corpus / data_file(config, split))

    def __enter__(self) -> CorpusWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(*[OSError] * (kind is not None)), self._open:  # what went wrong first is what is told
            for file in self._files.values() if kind is None else ():
                file.flush()


Games = Iterable[tuple[str, GameRecord, Sequence[Mapping[str, Any]]]]
_CALL: Callable[[Mapping[str, Any]], tuple[Any, ...]] = itemgetter(*TABLES["calls"].columns[:-1])


@dataclass(slots=True)
class Written:
    """What was written. seen: the run of each game; games: the names of the games; official: games that kept their
    publishers' split; withdrawn: statements that their speakers withdrew.
    """

    seen: dict[str, str] = field(default_factory=dict)
    games: set[str] = field(default_factory=set)
    official: int = 0
    withdrawn: int = 0

    @property
    def runs(self) -> list[str]:
        """The names of the runs, in order."""
        return list(dict.fromkeys(self.seen.values()))

    def add(self, game_id: str, run: str, game: str) -> None:
        """Count a game. Raises UsageError for one that comes twice."""
        if (first := self.seen.get(game_id)) is not None:
            both, what = f"run {first!r} twice" if first == run else f"the runs {first!r} and {run!r}", unit_of([game])
            more = "play with another --seed to add games"
            if game in WITHOUT_GAME:
                more = "copies in several files are kept, as one family, if these are imported into one run"
            raise UsageError(
                f"{what} {game_id!r} is in {both} and would be counted twice; build from runs without common {what}s "
                f"(a judged run holds the {what}s that it judged; {more})"
            )
        self.seen[game_id] = run
        self.games.add(game)


def write_games(
    games: Games,
    writer: CorpusWriter,
    held_out: tuple[frozenset[str], frozenset[str]],
    transcript: bool,
    watch: Callable[[int], None],
) -> Written:
    """Write every row of every game, and count the games. Raises UsageError for one that comes twice."""
    written = Written()
    for run, game, calls in games:
        written.add(game.game_id, run, game.game)
        written.official += "split" in game.meta
        written.withdrawn += sum(withdrawn_from(game).values())
        split = split_game(game, *held_out)
        for config, row in game_tables(game, run, transcript):
            writer.add(config, split, row)
        for call in calls:
            writer.add("calls", split, CallRow(*_CALL({**call, "problem": without_addresses(call["problem"])})))
        watch(len(written.seen))
    return written


def copy_games(corpora: Iterable[Path], writer: CorpusWriter) -> Written:
    """Write every row of several corpora, and count the games. Raises UsageError for one that comes twice."""
    written = Written()
    for corpus in corpora:
        facts = read_facts(corpus)
        games = read(corpus, "games").select("game_id", "run", "game").collect()
        for game_id, run, game in games.iter_rows():
            written.add(game_id, run, game)
        written.official += facts["official_splits"]
        written.withdrawn += facts["withdrawn"]
        writer.copy(corpus)
    return written


def _array(column: CorpusColumn, values: list[Any], kind: pa.DataType) -> pa.Array:
    """Values as the column is stored. Raises BadData for one that is not of its type."""
    try:
        stored = column.stored(values)
        try:
            return pa.array(stored, kind)
        except UnicodeEncodeError:
            return pa.array([encodable(value) for value in stored], kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, KeyError) as error:
        raise BadData(f"column {column.name!r} holds a value that is not of type {kind}: {error}") from error


def encodable(value: Any) -> Any:
    """A value whose texts have U+FFFD for a lone surrogate, which no UTF-8 can hold."""
    if isinstance(value, str):
        # UTF-16 joins surrogate pairs to characters, so that only lone ones are replaced
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: encodable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(inner) for inner in value]
    return value
