"""Files of text, plain or packed, in UTF-8 or UTF-16; their lines, and the JSON that stands in them."""

from __future__ import annotations

import bz2
import codecs
import gzip
import json
import lzma
import math
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData
from liescope.common.reading import Reading, open_regular
from liescope.generate.importers.importer_protocol import Rejected

Rows = Iterator[tuple[int, dict[str, Any] | Rejected]]
LONGEST_LINE = 4 << 20  # bytes; a published game takes a few thousand
MOST_UNPACKED = 2 << 30  # bytes of one gzipped file
LARGEST_ARRAY = 256 << 20  # bytes of a JSON array, which is read whole
DEEPEST = 40
_CHUNK = 1 << 16
GZIP = b"\x1f\x8b"
DAMAGED = (
    EOFError,
    zlib.error,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zipfile.BadZipFile,
)  # what reading a packed file raises
_LARGEST = 1 << 63
_TABLES = ("data", "rows", "records", "examples", "items", "instances")  # what an object calls its list of rows


# JSON lines


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank, numbered from 1. problem: "" or why the text is missing or incomplete."""

    number: int
    text: str
    problem: str = ""


def read_objects(path: Path) -> Rows:
    """The JSON object on each line of a file, plain or gzipped. Raises OSError if the file cannot be opened."""
    return objects_of(lines_of(text_of(path)), path.name)


def objects_of(lines: Iterable[Line], file: str) -> Rows:
    """The JSON object on each line. file: for rejections."""
    for line in lines:
        entry, problem = None, line.problem
        if not problem:
            try:
                entry = _JSON.decode(line.text)
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
    text, line = "", 1
    words = codecs.iterdecode(text_of(path), "utf-8", errors="replace")
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
                entry, end = _JSON.raw_decode(text)
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


def text_of(path: Path, most_unpacked: int = MOST_UNPACKED) -> Iterator[bytes]:
    """The content of a text file in UTF-8, in chunks: one in UTF-16 is converted. Raises as `unpacked`."""
    chunks = unpacked(path, most_unpacked)
    start = next(chunks, b"")
    wide = "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""
    if not wide and b"\0\0" in (start[1:4:2], start[:3:2]):  # the first two signs are in Latin script
        wide = "utf-16-le" if start[0] else "utf-16-be"
    if not wide:
        yield from chain([start], chunks)
        return
    try:
        for words in codecs.iterdecode(chain([start], chunks), wide):
            yield words.encode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise EOFError(f"not UTF-16: {error.reason}") from error


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


class _Twice(dict[str, Any]):
    """An object that names a value twice. name: which."""

    name = ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) == len(pairs):
        return found
    twice = _Twice(found)
    twice.name = next(name for at, (name, _) in enumerate(pairs) if name in dict(pairs[:at]))
    return twice


_JSON = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_object)


def _problem(entry: Any) -> str:
    """Why a value cannot be kept as plain data; "" if it can."""
    level = [entry]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for value in level:
            if isinstance(value, _Twice):
                return f"two of its values are called {value.name[:40]}: rename one of them"
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


def is_lines(begins: bytes) -> bool:
    """Whether the first line of a file is an object by itself, and another line follows."""
    line, _, rest = begins.partition(b"\n")
    return line.startswith(b"{") and line.rstrip().endswith(b"}") and bool(rest.strip())


def read_whole(source: Path, in_lines: bool) -> Rows:
    """A file of one array or object; where it holds several objects, these."""
    several = read_stream if in_lines else read_objects
    if source.stat().st_size > LARGEST_ARRAY:
        yield 0, Rejected(source.name, 0, "", f"JSON of more than {LARGEST_ARRAY:,} bytes; write an object a line")
        return
    try:
        words = b"".join(text_of(source, LARGEST_ARRAY)).decode("utf-8-sig")
        found = _JSON.decode(words)
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
    if not isinstance(found, dict) or isinstance(found, _Twice):
        return found if isinstance(found, list) else [found]
    values = list(found.values())
    name = next((name for name in _TABLES if isinstance(found.get(name), list)), "")
    if name and isinstance(schema := found.get("schema"), dict) and schema.get("primaryKey") == ["index"]:
        for row in found[name]:  # the row numbers of pandas
            row.pop("index", None)
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
