"""The reader of tables: CSV, JSON lines, a JSON array, Parquet, a dataset in a folder or on the Hub, rows in memory.

Each row comes with its line, or its number where there are no lines; what cannot be read is a rejection in its place.
Memory use does not grow with the source: rows are gathered by game on disk.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import math
import re
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.common.reading import Reading, open_regular, read_text
from liescope.generate.corpus.hub import hub_repo, plain_errors
from liescope.generate.importers.importer_protocol import Rejected, fingerprint

Rows = Iterator[tuple[int, dict[str, Any] | Rejected]]
LONGEST_LINE = 4 << 20  # bytes; a published game takes a few thousand
MOST_UNPACKED = 2 << 30  # bytes of one gzipped file
LARGEST_ARRAY = 256 << 20  # bytes of a JSON array, which is read whole
DEEPEST = 40
_CHUNK = 1 << 16
GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)  # what reading a gzipped file raises
_LARGEST = 1 << 63
_LONGEST_CELL = 4 << 20  # characters
_BATCH = 1024
_CARD = "if that is about its card, README.md, mend the card or take it away; else name the files with the rows"
_UNNAMED = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?|__index_level_\d+__")
_ENDINGS = frozenset({".jsonl", ".json", ".csv", ".tsv", ".parquet", ".gz", ".txt", ".eval"})  # of files


def read_rows(source: Path, columns: Collection[str] = ()) -> Rows:
    """Every row of a file or dataset, `tidied`. columns: the only ones to read of a Parquet file that has a `text`;
    empty for all.

    Raises OSError if a file cannot be opened, BadData for a dataset that cannot be loaded.
    """
    return tidied(_read(source, columns))


def tidied(rows: Iterable[tuple[int, Mapping[Any, Any] | Rejected]]) -> Rows:
    """Rows from anywhere as plain data: what is absent is None, however its library writes that, and a column that has
    no name, such as the row numbers that pandas writes, is no column.
    """
    for number, row in rows:
        if isinstance(row, Rejected):
            yield number, row
        else:
            yield number, {name: cell(value) for key, value in row.items() if not _UNNAMED.fullmatch(name := str(key))}


def cell(value: Any) -> Any:
    """A cell as plain data: None for NaN, NA and NaT, lists for arrays."""
    if isinstance(value, str | int):
        return value
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float | Decimal) and value != value):
        return None
    if isinstance(value, Mapping):
        return {str(name): cell(one) for name, one in value.items()}
    return [cell(one) for one in value] if isinstance(value, list | tuple) else value


def _read(source: Path, columns: Collection[str]) -> Rows:
    if dataset := dataset_of(source):
        yield from _read_dataset(*dataset)
        return
    with open_regular(source) as file:
        is_parquet = file.read(len(_PARQUET)) == _PARQUET
    kind = "".join(source.suffixes[-2:] if source.suffix == ".gz" else source.suffixes[-1:]).lower()
    if is_parquet:
        yield from read_parquet(source, columns)
    elif kind in (".csv", ".tsv", ".csv.gz", ".tsv.gz"):
        yield from _read_csv(source, kind)
    elif kind == ".json":
        yield from _read_array(source)
    else:
        yield from read_objects(source)


# JSON lines


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank, numbered from 1. problem: "" or why the text is missing or incomplete."""

    number: int
    text: str
    problem: str = ""


def read_objects(path: Path) -> Rows:
    """The JSON object on each line of a file, plain or gzipped. Raises OSError if the file cannot be opened."""
    return objects_of(lines_of(unpacked(path)), path.name)


def objects_of(lines: Iterable[Line], file: str) -> Rows:
    """The JSON object on each line. file: for rejections."""
    for line in lines:
        entry, problem = None, line.problem
        if not problem:
            try:
                entry = json.loads(line.text, parse_constant=_no_number)
                problem = _problem(entry) if isinstance(entry, dict) else "JSON, but not an object"
            except RecursionError:
                problem = f"not JSON: nested deeper than {DEEPEST} levels"
            except ValueError as error:
                problem = f"not JSON: {error}"
        yield line.number, entry if entry is not None and not problem else Rejected(file, line.number, "", problem)


def read_stream(path: Path) -> Rows:
    """The JSON objects that follow one another in a file, each on a line or several, with the line where it begins.
    After one that cannot be read, reading goes on at the next line that opens another.

    Raises OSError if the file cannot be opened.
    """
    decoder, text, line, chunks = json.JSONDecoder(parse_constant=_no_number), "", 1, unpacked(path)
    words = codecs.iterdecode(chunks, "utf-8", errors="replace")
    more, problem = True, ""
    while more:
        try:
            text += (chunk := next(words, ""))
        except DAMAGED as error:
            chunk, problem = "", str(error)
        more = bool(chunk)
        while rest := text.lstrip("\ufeff \t\r\n"):
            line += text.count("\n", 0, len(text) - len(rest))
            text = rest
            try:
                entry, end = decoder.raw_decode(text)
                why = _problem(entry) if isinstance(entry, dict) else "JSON, but not an object"
            except (ValueError, RecursionError) as error:
                if more and len(text) <= LONGEST_LINE:
                    break  # the rest of it may be in the next chunk
                found = text.find("\n{")
                end, why = found if found > 0 else len(text), f"not JSON: {str(error)[:200]}"
            yield line, Rejected(path.name, line, "", why) if why else entry
            line += text.count("\n", 0, end)
            text = text[end:]
    if problem:
        yield line, Rejected(path.name, line, "", problem)


def lines_of(chunks: Iterable[bytes], longest: int = LONGEST_LINE) -> Iterator[Line]:
    """The lines of a UTF-8 text that comes in chunks. One that is not UTF-8 or longer than `longest` bytes comes with
    its problem. So does the place where a gzipped file is damaged, after all lines before it.
    """
    number, rest = 1, b""
    try:
        for chunk in chunks:
            if not rest and chunk.isspace():  # a file of blank lines costs nothing
                number += chunk.count(b"\n")
                continue
            *whole, last = chunk.split(b"\n")
            for part in whole:
                yield from _line(number, rest + part, longest)
                number, rest = number + 1, b""
            rest += last[: max(0, longest + 1 - len(rest))]  # the rest of an overlong line is dropped
    except DAMAGED as error:
        yield Line(number, "", str(error))
    else:
        yield from _line(number, rest, longest)


def _line(number: int, raw: bytes, longest: int) -> Iterator[Line]:
    if len(raw) > longest:
        yield Line(number, "", f"longer than {longest:,} bytes")
        return
    try:
        if text := raw.decode("utf-8-sig" if number == 1 else "utf-8").strip():
            yield Line(number, text)
    except UnicodeDecodeError as error:
        yield Line(number, "", f"not UTF-8: {error.reason} at byte {error.start}")


def unpacked(path: Path, most_unpacked: int = MOST_UNPACKED) -> Iterator[bytes]:
    """The content of a file, plain or gzipped, in chunks. Raises EOFError, zlib.error or BadGzipFile at a damaged
    place, EOFError if the content is larger than `most_unpacked` bytes, OSError if the file cannot be opened.
    """
    with open_regular(path) as file:
        zipped = file.read(len(GZIP)) == GZIP
        file.seek(0)
        content, size = gzip.GzipFile(fileobj=file) if zipped else file, 0
        while chunk := content.read1(_CHUNK):
            size += len(chunk)
            yield chunk
            if zipped and size > most_unpacked:
                raise EOFError(f"the file is larger than {most_unpacked:,} bytes when unpacked; unpack it first")


def _no_number(word: str) -> None:
    """Nothing for NaN, which is how an absent number is written."""
    if word != "NaN":
        raise ValueError(f"{word} is no number")


def _problem(entry: Any) -> str:
    """Why a value cannot be kept as plain data; "" if it can."""
    level = [entry]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict | list):
                below.extend(value.values() if isinstance(value, dict) else value)
            elif (isinstance(value, float) and not math.isfinite(value)) or (
                isinstance(value, int) and not -_LARGEST <= value < _LARGEST
            ):
                return "holds a number that is too large"
        if not below:
            return ""
        level = below
    return f"nested deeper than {DEEPEST} levels"


# Other files


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
                long = Rejected(source.name, number, "", "it has more cells than the first line")
                yield number, long if None in row else dict(row)
    except UnicodeDecodeError as error:
        why = f"not UTF-8: save it as CSV in UTF-8 ({str(error)[:200]})"
        yield number + 1, Rejected(source.name, number + 1, "", why)
    except (csv.Error, *DAMAGED) as error:
        yield number + 1, Rejected(source.name, number + 1, "", f"not CSV: {str(error)[:200]}")


def read_parquet(
    source: Path, columns: Collection[str] = (), without: Collection[str] = (), at_once: int = _BATCH
) -> Rows:
    """The rows of a Parquet file. columns: as in `read_rows`; without: those that are not read; at_once: how many rows
    are in memory.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(source) as file:
            names = file.schema_arrow.names
            wanted = [name for name in names if name in columns] if columns and "text" in names else None
            wanted = [name for name in names if name not in without] if without else wanted
            for batch in file.iter_batches(at_once, columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield number, row
    except (pa.ArrowException, OSError, ValueError) as error:
        why = f"not Parquet, or damaged: {str(error).splitlines()[0][:200]}"
        yield number + 1, Rejected(source.name, number + 1, "", why)


# Datasets


def dataset_of(source: Path) -> tuple[str, str | None] | None:
    """The folder or the name on the Hub, and the config, of a source that is a dataset; None for a file."""
    if source.is_dir():
        return str(source), None
    if source.suffix.lower() in _ENDINGS or source.exists():
        return None
    scheme = "hf:" if str(source).startswith("hf:") else ""
    name, _, config = str(source).removeprefix(scheme).partition(":")
    if config and Path(scheme + name).is_dir():
        return scheme + name, config
    repo = hub_repo(scheme + name)
    return (repo, config or None) if repo else None


def identity(source: Path) -> dict[str, str]:
    """A source's name and a hash of its content: for a dataset on the Hub, its revision.

    Raises OSError if it cannot be opened.
    """
    if (dataset := dataset_of(source)) is None:
        return {"name": source.name, "sha256": fingerprint(source)}
    name, config = dataset
    words = {"config": config} if config else {}
    if not Path(name).is_dir():
        return {"name": name, **words, "revision": _revision(name)}
    return {"name": Path(name).resolve().name, **words, "sha256": fingerprint(Path(name))}


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
                for row in rows:
                    number += 1
                    yield number, {**named, **decoded(row, rows.features or {})}
    except (ValueError, FileNotFoundError, datasets.exceptions.DatasetsError) as error:
        line = " ".join(str(error).split())[:200]
        if not number:
            raise BadData(f"{name} cannot be read as a dataset: {line}") from error
        yield number + 1, Rejected(name, number + 1, "", f"the rest cannot be read: {line}")


def decoded(row: Mapping[str, Any], features: Mapping[str, Any]) -> dict[str, Any]:
    """The row with class names for class numbers; -1 means no class. features: of
    the dataset.
    """
    names = {
        column: (kind.int2str(row[column]) if row[column] >= 0 else None)
        for column, kind in features.items()
        if hasattr(kind, "int2str") and isinstance(row.get(column), int)
    }
    return {**row, **names}


# Gathering


class Spool:
    """Rows in any order, given back game by game, in the order in which each game first occurs. It lives in memory or
    in a private file that deletes itself.
    """

    _AT_ONCE = 1000

    def __init__(self, on_disc: bool) -> None:
        # "" is a private file that SQLite deletes by itself; nothing in it is ever rolled back
        self._base = sqlite3.connect("" if on_disc else ":memory:")
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("CREATE TABLE rows (game INTEGER, line INTEGER, row TEXT)")
        self._games: dict[str, int] = {}
        self._waiting: list[tuple[int, int, str]] = []

    def add(self, game_id: str, line: int, row: Mapping[str, Any]) -> None:
        """Keep a row. line: its line in the source."""
        game = self._games.setdefault(game_id, len(self._games))
        self._waiting.append((game, line, json.dumps(row, default=str)))
        if len(self._waiting) >= self._AT_ONCE:
            self._write()

    def games(self) -> Iterator[tuple[str, Iterator[tuple[int, dict[str, Any]]]]]:
        """Each game with its rows, in the order of the source, and their lines."""
        self._write()
        names = list(self._games)
        rows = self._base.execute("SELECT game, line, row FROM rows ORDER BY game, rowid")
        for game, mine in groupby(rows, key=itemgetter(0)):
            yield names[game], ((line, json.loads(row)) for _, line, row in mine)
        self._base.close()

    def _write(self) -> None:
        self._base.executemany("INSERT INTO rows VALUES (?, ?, ?)", self._waiting)
        self._waiting.clear()
