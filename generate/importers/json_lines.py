"""The JSON objects in a JSON Lines file, plain or gzipped, using little memory; any other line is rejected with a
reason. And the files of a folder or archive, of which nothing is unpacked on disk.
"""

from __future__ import annotations

import json
import math
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, NoReturn

from liescope.common.errors import BadData
from liescope.common.reading import open_regular, read_bytes, regular
from liescope.generate.importers.importer_protocol import Rejected

LONGEST_LINE = 4 << 20  # bytes; a published game takes a few thousand
MOST_UNPACKED = 2 << 30  # bytes of one gzipped file
_CHUNK = 1 << 16
_ZIPPED_CHUNK = 1 << 12  # packed or unpacked bytes per read: the most that is lost before a damaged place
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank, numbered from 1. problem: "" or why the text is missing or incomplete."""

    number: int
    text: str
    problem: str = ""


def read_lines(path: Path, longest: int = LONGEST_LINE, most_unpacked: int = MOST_UNPACKED) -> Iterator[Line]:
    """The lines of a UTF-8 file. A gzipped file that is cut off, damaged or too large when unpacked yields all lines
    before that place, then one with the problem; a line that is not UTF-8 or is longer than `longest` bytes also comes
    as one with the problem.

    Raises OSError if the file cannot be opened.
    """
    return lines_of(unpacked(path, most_unpacked), longest)


def lines_of(chunks: Iterable[bytes], longest: int = LONGEST_LINE) -> Iterator[Line]:
    """The lines of a text that comes in chunks, as `read_lines` has them."""
    number, rest, too_long = 1, bytearray(), False
    try:
        for chunk in chunks:
            start = 0
            if not rest and not too_long and chunk.isspace():  # a file of blank lines costs nothing
                start = chunk.rfind(b"\n") + 1
                number += chunk.count(b"\n")
            while (end := chunk.find(b"\n", start)) >= 0:
                if too_long or len(rest) + end - start > longest:
                    yield _overlong(number, longest)
                else:
                    yield from _line(number, bytes(rest) + chunk[start:end])
                rest.clear()
                number, start, too_long = number + 1, end + 1, False
            if not too_long:
                rest += memoryview(chunk)[start:]
            if len(rest) > longest:
                rest.clear()
                too_long = True
    except (EOFError, zlib.error) as error:
        yield Line(number, "", str(error))
    else:
        if too_long:
            yield _overlong(number, longest)
        else:
            yield from _line(number, bytes(rest))


def _overlong(number: int, longest: int) -> Line:
    return Line(number, "", f"longer than {longest:,} bytes")


def _line(number: int, raw: bytes) -> Iterator[Line]:
    if not raw or raw.isspace():
        return
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        yield Line(number, "", f"not UTF-8: {error.reason} at byte {error.start}")
        return
    if text:
        yield Line(number, text)


def unpacked(path: Path, most_unpacked: int = MOST_UNPACKED) -> Iterator[bytes]:
    """The content of a file, plain or gzipped, in chunks. Python's gzip reader would drop what it has unpacked when it
    meets damage. Raises EOFError or zlib.error at a damaged place, EOFError if the content is larger than
    `most_unpacked` bytes, OSError if the file cannot be opened.
    """
    with open_regular(path) as file:
        zipped = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        if not zipped:
            while chunk := file.read(_CHUNK):
                yield chunk
            return
        unpacked = 0
        unpack = zlib.decompressobj(wbits=31)
        while packed := file.read(_ZIPPED_CHUNK):
            while packed:
                if unpack.eof:  # another gzip member, or zero padding of a block
                    packed = packed.lstrip(b"\0")
                    if not _GZIP.startswith(packed[:2]):
                        raise EOFError("after the end of the gzipped data comes something else")
                    if not packed:
                        break
                    unpack = zlib.decompressobj(wbits=31)
                chunk = unpack.decompress(packed, _ZIPPED_CHUNK)
                unpacked += len(chunk)
                yield chunk
                if unpacked > most_unpacked:
                    raise EOFError(f"the file is larger than {most_unpacked:,} bytes when unpacked; unpack it first")
                packed = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
        while not unpack.eof and (chunk := unpack.decompress(b"", _ZIPPED_CHUNK)):
            yield chunk
        if not unpack.eof:
            raise EOFError("the gzipped file is cut off here")


LARGEST_FILE = 64 << 20  # bytes of one file of a folder or archive; a published game's takes a megabyte
LARGEST_ARCHIVE = 1 << 28  # bytes, unpacked; the largest published one has 20 MB
_DAMAGED = (tarfile.TarError, zlib.error, EOFError, ValueError, OverflowError)


def files_in(source: Path, names: Collection[str]) -> Iterator[tuple[PurePath, bytes]]:
    """The files of these names in a folder, or in an archive (.tar, .tar.gz), with their paths there.

    Raises BadData if an archive is damaged, larger than `LARGEST_ARCHIVE` bytes or no archive, or if a file is larger
    than `LARGEST_FILE`; OSError if the source cannot be opened.
    """
    if source.is_dir():
        for path in sorted(path for name in names for path in source.resolve().rglob(name)):
            if path.is_file() and not path.is_symlink():
                _check_size(path.name, path.stat().st_size)
                yield path, read_bytes(path, LARGEST_FILE)
        return
    regular(source)  # a file that is not there is no damaged archive
    try:
        with _archive(source) as whole, tarfile.open(fileobj=whole, mode="r:") as packed:
            for member in packed:
                inside = PurePosixPath(member.name)
                if inside.name in names and member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    _check_size(inside.name, member.size)
                    content = packed.extractfile(member)
                    yield inside, content.read() if content else b""
    except _DAMAGED as error:
        raise BadData(f"{source.name} cannot be read as a tar archive: {error}") from error


def _archive(source: Path) -> IO[bytes]:
    """An archive as it is, or unpacked; one that is not packed may be endless, and is read file by file."""
    file = open_regular(source)
    if file.read(len(_GZIP)) == _GZIP:
        file.close()
        return BytesIO(b"".join(unpacked(source, LARGEST_ARCHIVE)))
    file.seek(0)
    return file


def _check_size(name: str, size: int) -> None:
    if size > LARGEST_FILE:
        raise BadData(f"a file {name} takes {size:,} bytes; at most {LARGEST_FILE:,} are read")


DEEPEST = 40
_LARGEST = 1 << 63


def read_objects(path: Path) -> Iterator[tuple[int, dict[str, Any] | Rejected]]:
    """Each line that is not blank, with its number. Raises OSError if the file cannot be opened."""
    return objects_of(read_lines(path), path.name)


def objects_of(lines: Iterable[Line], file: str) -> Iterator[tuple[int, dict[str, Any] | Rejected]]:
    """The objects on the lines of a file, as `read_objects` has them."""
    for line in lines:
        if line.problem:
            yield line.number, Rejected(file, line.number, "", line.problem)
            continue
        try:
            entry = json.loads(line.text, parse_constant=_no_number)
            problem = "" if isinstance(entry, dict) else "JSON, but not an object"
            problem = problem or _problem(entry)
        except RecursionError:
            entry, problem = None, f"not JSON: nested deeper than {DEEPEST} levels"
        except ValueError as error:
            entry, problem = None, f"not JSON: {error}"
        yield line.number, Rejected(file, line.number, "", problem) if problem else entry


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def _problem(entry: Any) -> str:
    """Why a value cannot be kept as plain data; "" if it can."""
    level = [entry]
    for _ in range(DEEPEST):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
            elif isinstance(value, float):
                if not math.isfinite(value):
                    return "holds a number that is too large"
            elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
                return "holds a number that is too large"
        if not below:
            return ""
        level = below
    return f"nested deeper than {DEEPEST} levels"
