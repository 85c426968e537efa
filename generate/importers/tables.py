"""The reader of tables: CSV, JSON lines, a JSON array, Parquet, a dataset in a folder or on the Hub, rows in memory.

Each row comes with its line, or its number where there are no lines; what cannot be read is a rejection in its place.
Memory use does not grow with the source: rows are gathered by game on disk.
"""

from __future__ import annotations

import ast
import bz2
import codecs
import csv
import gzip
import json
import lzma
import math
import re
import sqlite3
import zipfile
import zlib
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from io import BufferedReader
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.common.reading import Reading, open_regular
from liescope.generate.corpus.hub import hub_repo, plain_errors
from liescope.generate.importers.importer_protocol import Rejected, fingerprint

Rows = Iterator[tuple[int, dict[str, Any] | Rejected]]
LONGEST_LINE = 4 << 20  # bytes; a published game takes a few thousand
MOST_UNPACKED = 2 << 30  # bytes of one gzipped file
LARGEST_ARRAY = 256 << 20  # bytes of a JSON array, which is read whole
DEEPEST = 40
_CHUNK = 1 << 16
GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
DAMAGED = (
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zipfile.BadZipFile,
)  # what reading a packed file raises
_LARGEST = 1 << 63
_LONGEST_CELL = 4 << 20  # characters
_LONGEST_LIST = 1 << 20  # characters of a list that Python wrote
_BATCH = 1024
_CARD = "if that is about its card, README.md, mend the card or take it away; else name the files with the rows"
_PACKED = frozenset({".gz", ".bz2", ".xz", ".zip"})
_NUMBER = re.compile(r"-?\d+([.,]\d+)?|true|false", re.IGNORECASE)
_DELIMITERS, _HEAD, _MOST_SPANNED = (",", ";", "\t", "|"), 50, 1000
_TABLES = ("data", "rows", "records", "examples", "items", "instances")  # what an object calls its list of rows
_UNNAMED = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?|__index_level_\d+__")
_ENDINGS = frozenset({".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt", ".eval", ".xlsx", *_PACKED})  # of files


def read_rows(source: Path, columns: Collection[str] = (), most: int | None = None) -> Rows:
    """Every row of a file or dataset, `tidied`. columns: the only ones to read of a Parquet file that has a `text`;
    empty for all; most: rows of a Parquet file, which may be small and yet have billions; None for any number.

    Raises OSError if a file cannot be opened, BadData for a dataset that cannot be loaded and a file of more rows.
    """
    return tidied(_read(source, columns, most))


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


def listed(text: str) -> Any:
    """The list or mapping that a cell of text holds, in JSON or as Python writes it. Raises ValueError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        try:
            if len(text) <= _LONGEST_LIST:
                return ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            pass
        raise ValueError(str(error)) from None


def _read(source: Path, columns: Collection[str], most: int | None) -> Rows:
    if dataset := dataset_of(source):
        yield from _read_dataset(*dataset)
        return
    try:
        start = next(unpacked(source), b"")
    except DAMAGED:
        start = b""  # told where it is read
    begins = start.removeprefix(codecs.BOM_UTF8).lstrip()
    kind = next((one for one in reversed(source.suffixes) if one.lower() not in _PACKED), "").lower()
    if start.startswith(_PARQUET):
        yield from read_parquet(source, columns, most=most)
    elif kind in (".csv", ".tsv") or (kind in (".txt", "") and not begins.startswith((b"{", b"["))):
        yield from _read_csv(source, kind)
    elif begins.startswith((b"{", b"[")) and not _is_lines(begins):
        yield from _read_whole(source, b"\n" in begins)
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
    """The content of a file, plain or packed (.gz, .bz2, .xz, a .zip of one file), in chunks. Raises an error of
    `DAMAGED` at a damaged place, EOFError if the content is larger than `most_unpacked` bytes, OSError if the file
    cannot be opened, BadData for a .zip of several files or a spreadsheet.
    """
    with open_regular(path) as file:
        content, size = _content(path, file), 0
        while chunk := _next_chunk(content):
            size += len(chunk)
            yield chunk
            if content is not file and size > most_unpacked:
                raise EOFError(f"the file is larger than {most_unpacked:,} bytes when unpacked; unpack it first")


def _next_chunk(content: Any) -> bytes:
    try:
        return bytes(content.read1(_CHUNK))
    except OSError as error:  # how bz2 says that a file is damaged
        raise error if isinstance(error, gzip.BadGzipFile) or error.errno else EOFError(str(error)) from error


def _content(path: Path, file: BufferedReader) -> Any:
    """What a file that may be packed holds."""
    head = file.peek(8)
    if head.startswith(GZIP):
        return gzip.GzipFile(fileobj=file)
    if head.startswith(b"BZh"):
        return bz2.BZ2File(file)
    if head.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(file)
    if not head.startswith(b"PK\3\4"):
        return file
    with Reading(path, "unpack it first"):
        archive = zipfile.ZipFile(file)
        names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
        if "[Content_Types].xml" in names:
            raise BadData(f"{path.name} is a spreadsheet, which is not read: save it as CSV in UTF-8")
        if len(names) != 1:
            shown = ", ".join(names[:5])
            raise BadData(f"{path.name} holds {len(names):,} files ({shown}): unpack it and name the one that is meant")
        return archive.open(names[0])


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


def _is_lines(begins: bytes) -> bool:
    """Whether the first line of a file is an object by itself, and another line follows."""
    line, _, rest = begins.partition(b"\n")
    return line.startswith(b"{") and line.rstrip().endswith(b"}") and bool(rest.strip())


def _read_whole(source: Path, in_lines: bool) -> Rows:
    """A file of one array or object; where it holds several objects, these."""
    several = read_stream if in_lines else read_objects
    if source.stat().st_size > LARGEST_ARRAY:
        yield 0, Rejected(source.name, 0, "", f"JSON of more than {LARGEST_ARRAY:,} bytes; write an object a line")
        return
    try:
        words = b"".join(unpacked(source, LARGEST_ARRAY)).decode("utf-8-sig")
        found = json.loads(words, parse_constant=_no_number)
    except (ValueError, RecursionError, *DAMAGED) as error:
        if isinstance(error, json.JSONDecodeError) and words.lstrip().startswith("{"):
            yield from several(source)
        else:
            yield 0, Rejected(source.name, 0, "", f"not JSON: {str(error)[:200]}")
        return
    for number, row in enumerate(_table_in(found), 1):
        why = _problem(row) if isinstance(row, dict) else "JSON, but not an object"
        yield number, Rejected(source.name, number, "", why) if why else row


def _table_in(found: Any) -> list[Any]:
    """The rows of a JSON text: a list, a list under a name such as `data`, or what pandas writes (its orients split,
    table, columns and index).
    """
    if not isinstance(found, dict):
        return found if isinstance(found, list) else [found]
    values = list(found.values())
    name = next((name for name in _TABLES if isinstance(found.get(name), list)), "")
    if name and isinstance(found.get("columns"), list):
        return [dict(zip(found["columns"], row, strict=False)) if isinstance(row, list) else row for row in found[name]]
    if name and all(isinstance(row, dict) for row in found[name]):
        return list(found[name])
    if len(values) > 1 and all(isinstance(one, list) and len(one) == len(values[0]) for one in values):
        return [dict(zip(found, row, strict=True)) for row in zip(*values, strict=True)]
    if not values or not all(isinstance(one, dict) and one for one in values):
        return [found]
    numbered = all(key.isdecimal() for one in values for key in one)
    if not numbered:  # a row under each key
        return values
    rows: dict[str, dict[str, Any]] = {}
    for column, cells in found.items():
        for key, value in cells.items():
            rows.setdefault(key, {})[column] = value
    return list(rows.values())


def _read_csv(source: Path, kind: str) -> Rows:
    """Text with delimiters. The first line has the names; quotes are quotes where they close, else signs."""
    csv.field_size_limit(_LONGEST_CELL)
    number, bad = 0, partial(Rejected, source.name)
    try:
        words = _text_lines(unpacked(source))
        head = list(islice(words, _HEAD))
        skipped = int(bool(head) and head[0].lower().startswith("sep=") and len(head[0].strip("\r")) == 5)
        comma = head.pop(0)[4] if skipped else _delimiter(head, "\t" if kind == ".tsv" else ",")
        first = next(_records(iter(head), comma), (0, []))[1]
        names = [name.strip() for name in first]
        sample = [cells for _, cells in _records(iter(head), comma, len(names))][1:]
        if why := _no_header(names, sample):
            yield 1, bad(1, "", why)
            return
        for line, cells in islice(_records(chain(head, words), comma, len(names)), 1, None):
            number = line + skipped
            if len(cells) > len(names) and not any(cells[len(names) :]):
                cells = cells[: len(names)]
            if len(cells) == len(names):
                yield number, dict(zip(names, cells, strict=True))
                continue
            quote = "; a quotation mark may be lacking" if any('"' in one for one in cells) else ""
            many = "cell" if len(cells) == 1 else "cells"
            yield number, bad(number, "", f"it has {len(cells)} {many}, and the first line {len(names)}{quote}")
    except UnicodeDecodeError as error:
        yield number + 1, bad(number + 1, "", f"not UTF-8: save it as CSV in UTF-8 ({str(error)[:200]})")
    except (csv.Error, *DAMAGED) as error:
        yield number + 1, bad(number + 1, "", f"not CSV: {str(error)[:200]}")


def _text_lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """The lines of a text in UTF-8, or in UTF-16 that says so by its first sign."""
    start = next(chunks, b"")
    wide = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    rest = ""
    for part in codecs.iterdecode(chain([start], chunks), "utf-16" if wide else "utf-8-sig"):
        *lines, rest = (rest + part).split("\n")
        yield from lines
        if len(rest) > _LONGEST_CELL:
            raise csv.Error(f"a line of more than {_LONGEST_CELL:,} characters")
    if rest:
        yield rest


def _records(words: Iterator[str], comma: str, width: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record, with its first line's number. width: how many cells a record should have, 0 where
    that is not known.

    A cell in quotes may span lines. Where a quote does not close, or closes so that the record has another width, the
    line stands as it is; and with tabs or bars, which corpora write without quotes, where each of its lines is a whole
    record and none has the doubled quotes of a quoted cell.
    """
    ahead, number = deque[str](), 0
    while (line := ahead.popleft() if ahead else next(words, None)) is not None:
        number += 1
        if not line.strip():
            continue
        line = line.rstrip("\r")
        cells, more = [line] if width == 1 else line.split(comma), 0
        if '"' in line:
            taken = [line]

            def feed(taken: list[str] = taken) -> Iterator[str]:
                yield taken[0] + "\n"
                while len(taken) < _MOST_SPANNED:
                    if len(ahead) < len(taken):
                        if (following := next(words, None)) is None:
                            return
                        ahead.append(following)
                    taken.append(ahead[len(taken) - 1])
                    yield taken[-1] + "\n"

            with suppress(csv.Error, StopIteration):
                found = next(csv.reader(feed(), delimiter=comma, strict=True))
                whole = len(taken) > 1 and comma in "\t|" and all(one.count(comma) == width - 1 for one in taken)
                fits = len(found) == width or not width or (len(taken) == 1 and len(cells) != width)
                if fits and ('""' in "".join(taken) or not whole):
                    cells, more = found, len(taken) - 1
        yield number, cells
        for _ in range(more):
            ahead.popleft()
        number += more


def _delimiter(head: Sequence[str], usual: str) -> str:
    """The sign that divides most lines into as many cells as the first."""

    def fits(comma: str) -> tuple[float, int]:
        width = len(next(_records(iter(head), comma), (0, [""]))[1])
        rows = [len(cells) == width for _, cells in _records(iter(head), comma, width)]
        return (sum(rows) / len(rows), width) if width > 1 else (0.0, 0)

    return max((usual, *_DELIMITERS), key=fits)


def _no_header(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Why a first line cannot be names of columns; "" if it can."""
    again = any(name and any(row[at : at + 1] == [name] for row in rows) for at, name in enumerate(names))
    if any(len(name.split()) >= 4 for name in names) and (again or any(_NUMBER.fullmatch(name) for name in names)):
        return "the first line is a row, not the names of the columns: put a line with the names in front"
    if twice := [name for name, count in Counter(names).items() if count > 1 and not _UNNAMED.fullmatch(name)]:
        return f"two columns are called {twice[0][:40]}: rename one of them"
    return ""


def read_parquet(
    source: Path,
    columns: Collection[str] = (),
    without: Collection[str] = (),
    at_once: int = _BATCH,
    most: int | None = None,
) -> Rows:
    """The rows of a Parquet file. columns: as in `read_rows`; without: those that are not read; at_once: how many rows
    are in memory; most: rows that it may have. Raises BadData for more.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(source) as file:
            names, classes = file.schema_arrow.names, class_names(file.schema_arrow.metadata)
            if most and (rows := file.metadata.num_rows) > most:
                raise BadData(f"{source.name} has {rows:,} rows, more than {most:,}: divide it and name all its parts")
            if twice := [name for name, count in Counter(names).items() if count > 1]:
                raise ValueError(f"two columns are called {twice[0][:40]}: rename one of them")
            wanted = [name for name in names if name in columns] if columns and "text" in names else None
            wanted = [name for name in names if name not in without] if without else wanted
            for batch in file.iter_batches(at_once, columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield number, decoded(row, classes)
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
                if local and any((Path(name) / file).is_file() for file in ("state.json", "dataset_dict.json")):
                    saved = datasets.load_from_disk(name)  # what save_to_disk wrote
                    splits = saved if isinstance(saved, dict) else {"train": saved}
                else:
                    splits = datasets.load_dataset(name, config, streaming=True, revision=version)
            for split, rows in splits.items():
                named = {"split": str(split)} if len(splits) > 1 else {}
                for row in rows:
                    number += 1
                    yield number, {**named, **decoded(row, class_names(rows.features))}
    except (ValueError, FileNotFoundError, datasets.exceptions.DatasetsError) as error:
        line = " ".join(str(error).split())[:200]
        if not number:
            raise BadData(f"{name} cannot be read as a dataset: {line}") from error
        yield number + 1, Rejected(name, number + 1, "", f"the rest cannot be read: {line}")


def class_names(given: Mapping[Any, Any] | None) -> dict[str, list[str]]:
    """The names of classes by column, of `datasets.Features` or of the metadata that they leave in a schema of Arrow or
    Parquet.
    """
    found: Any = given or {}
    with suppress(ValueError, KeyError, TypeError):
        found = json.loads(found[b"huggingface"])["info"]["features"]
    named = {
        str(column): kind.get("names") if isinstance(kind, dict) else getattr(kind, "names", None)
        for column, kind in found.items()
    }
    return {column: names for column, names in named.items() if isinstance(names, list)}


def decoded(row: Mapping[str, Any], classes: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The row with class names for class numbers; another number means no class. classes: as `class_names`."""
    told = {}
    for column, names in classes.items():
        if isinstance(at := row.get(column), int):
            told[column] = names[at] if 0 <= at < len(names) else None
    return {**row, **told}


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
