"""The rows of a source: JSON lines, a JSON array, CSV, Parquet, or a dataset in a folder or on the Hub.

Rows are gathered by game on disk, so that memory use does not grow with the source.
"""

from __future__ import annotations

import csv
import gzip
import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.common.reading import Reading, open_regular, read_text
from liescope.generate.corpus.hub import hub_repo, plain_errors
from liescope.generate.importers.importer_protocol import Rejected, fingerprint
from liescope.generate.importers.json_lines import read_objects

Rows = Iterator[tuple[int, dict[str, Any] | Rejected]]
LARGEST_ARRAY = 256 << 20  # bytes of a JSON array, which is read whole
_LONGEST_CELL = 4 << 20  # characters
_PARQUET = b"PAR1"
_BATCH = 1024
_CARD = "if that is about its card, README.md, mend the card or take it away; else name the files with the rows"
_FILES = frozenset(
    {".jsonl", ".json", ".csv", ".tsv", ".parquet", ".gz", ".txt", ".eval"}
)  # endings that no dataset's name has


def read_rows(source: Path, columns: Collection[str] = ()) -> Rows:
    """Every row with its line, or its number in a format without lines; whatever cannot be read is a rejection.
    columns: of a Parquet file that has a `text`, all that is read; none for every column.

    Raises OSError if a file cannot be opened, BadData for a dataset that cannot be loaded.
    """
    if dataset := dataset_of(source):
        yield from _read_dataset(*dataset)
        return
    with open_regular(source) as file:
        is_parquet = file.read(len(_PARQUET)) == _PARQUET
    kind = "".join(source.suffixes[-2:] if source.suffix == ".gz" else source.suffixes[-1:]).lower()
    if is_parquet:
        yield from _read_parquet(source, columns)
    elif kind in (".csv", ".tsv", ".csv.gz", ".tsv.gz"):
        yield from _read_csv(source, kind)
    elif kind == ".json":
        yield from _read_array(source)
    else:
        yield from read_objects(source)


def dataset_of(source: Path) -> tuple[str, str | None] | None:
    """The folder or the name on the Hub, and the config, of a source that is a dataset; None for a file."""
    if source.is_dir():
        return str(source), None
    if source.suffix.lower() in _FILES:
        return None
    name, _, config = str(source).partition(":") if not str(source).startswith("hf:") else _after_scheme(str(source))
    if source.exists():
        return None
    folder, repo = Path(name), hub_repo(name)
    if config and folder.is_dir():
        return name, config
    return (repo, config or None) if repo else None


def _after_scheme(source: str) -> tuple[str, str, str]:
    scheme, _, rest = source.partition("datasets/")
    name, colon, config = rest.partition(":")
    return scheme + "datasets/" + name, colon, config


def identity(source: Path) -> dict[str, str]:
    """What a source is called and a hash of its content: for a dataset on the Hub, its revision.

    Raises OSError if it cannot be opened.
    """
    if dataset := dataset_of(source):
        name, config = dataset
        words = {"config": config} if config else {}
        if not Path(name).is_dir():
            return {"name": name, **words, "revision": _revision(name)}
        return {"name": Path(name).resolve().name, **words, "sha256": fingerprint(Path(name))}
    return {"name": source.name, "sha256": fingerprint(source)}


def _revision(repo: str) -> str:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        with plain_errors(repo):
            return str(HfApi(library_name="liescope").dataset_info(repo).sha)
    except Exception as error:
        if isinstance(error.__cause__, RepositoryNotFoundError):
            raise BadData(f"there is no file or folder {repo}, and no such dataset that you may see") from error
        raise


def _read_dataset(name: str, config: str | None) -> Rows:
    """The rows of all splits, streamed. A dataset of several splits names each row's split, unless a column does."""
    import datasets

    local = Path(name).is_dir()
    number = 0
    try:
        with plain_errors(name):
            version = None if local else _revision(name)
            with Reading(name, _CARD) if local else nullcontext():
                splits = datasets.load_dataset(name, config, streaming=True, revision=version)
            for split, rows in splits.items():
                named = {"split": str(split)} if len(splits) > 1 else {}
                classes = {
                    column: kind
                    for column, kind in (rows.features or {}).items()
                    if isinstance(kind, datasets.ClassLabel)
                }
                for row in rows:
                    number += 1
                    yield number, {**named, **decoded(row, classes)}
    except (ValueError, FileNotFoundError, datasets.exceptions.DatasetsError) as error:
        line = " ".join(str(error).split())[:200]
        if not number:
            raise BadData(f"{name} cannot be read as a dataset: {line}") from error
        yield number + 1, Rejected(name, number + 1, "", f"the rest cannot be read: {line}")


def decoded(row: Mapping[str, Any], classes: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the names of classes in place of their numbers, of which -1 means that it has none."""
    names = {
        column: (kind.int2str(row[column]) if row[column] >= 0 else None)
        for column, kind in classes.items()
        if isinstance(row.get(column), int)
    }
    return {**row, **names}


def _read_parquet(source: Path, columns: Collection[str]) -> Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(source) as file:
            names = file.schema_arrow.names
            wanted = [name for name in names if name in columns] if columns and "text" in names else None
            for batch in file.iter_batches(_BATCH, columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError, ValueError) as error:
        why = f"not Parquet, or damaged: {str(error).splitlines()[0][:200]}"
        yield number + 1, Rejected(source.name, number + 1, "", why)


def _read_csv(source: Path, kind: str) -> Rows:
    csv.field_size_limit(_LONGEST_CELL)
    opened = gzip.open if kind.endswith(".gz") else open
    number = 1
    try:
        with opened(source, "rt", encoding="utf-8-sig", newline="") as file:
            head = file.readline(_LONGEST_CELL)
            file.seek(0)
            comma = "\t" if kind.startswith(".tsv") else max(",;", key=head.count)
            reader = csv.DictReader(file, delimiter=comma)
            for row in reader:
                number = reader.line_num
                if None in row:
                    yield number, Rejected(source.name, number, "", "it has more cells than the first line")
                else:
                    yield number, dict(row)
    except UnicodeDecodeError as error:
        yield (
            number + 1,
            Rejected(source.name, number + 1, "", f"not UTF-8: save it as CSV in UTF-8 ({str(error)[:200]})"),
        )
    except (csv.Error, EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield number + 1, Rejected(source.name, number + 1, "", f"not CSV: {str(error)[:200]}")


def _read_array(source: Path) -> Rows:
    """A file that holds one array, or JSON lines under the name of one."""
    with open_regular(source) as file:
        is_array = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    if not is_array:
        yield from read_objects(source)
        return
    if source.stat().st_size > LARGEST_ARRAY:
        yield 0, Rejected(source.name, 0, "", f"an array of more than {LARGEST_ARRAY:,} bytes; write one object a line")
        return
    try:
        rows = json.loads(read_text(source, LARGEST_ARRAY, "utf-8-sig"))
    except (ValueError, RecursionError) as error:
        yield 0, Rejected(source.name, 0, "", f"not JSON: {str(error)[:200]}")
        return
    for number, row in enumerate(rows, 1):
        yield number, row if isinstance(row, dict) else Rejected(source.name, number, "", "JSON, but not an object")


_ROWS_AT_ONCE = 1000


class Spool:
    """Rows in any order, given back game by game, in the order in which each game first occurs. It lives in a private
    file that goes away by itself.
    """

    def __init__(self) -> None:
        self._base = sqlite3.connect("")
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("CREATE TABLE rows (game INTEGER, line INTEGER, row TEXT)")
        self._games: dict[str, int] = {}
        self._waiting: list[tuple[int, int, str]] = []

    def add(self, game_id: str, line: int, row: Mapping[str, Any]) -> None:
        """Keep a row. line: its line in the source."""
        game = self._games.setdefault(game_id, len(self._games))
        self._waiting.append((game, line, json.dumps(row, default=str)))
        if len(self._waiting) >= _ROWS_AT_ONCE:
            self._write()

    def games(self) -> Iterator[tuple[str, Iterator[tuple[int, dict[str, Any]]]]]:
        """Each game with its rows, in the order of the source, and their lines."""
        self._write()
        names = list(self._games)
        rows = self._base.execute("SELECT game, line, row FROM rows ORDER BY game, rowid")
        for game, mine in groupby(rows, key=itemgetter(0)):
            yield names[game], ((line, json.loads(row)) for _, line, row in mine)

    def close(self) -> None:
        self._base.close()

    def _write(self) -> None:
        self._base.executemany("INSERT INTO rows VALUES (?, ?, ?)", self._waiting)
        self._waiting.clear()
