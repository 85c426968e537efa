"""The lines of a text file, plain or gzipped, as far as they can be read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 1 << 13
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Line:
    """One line that is not blank, numbered from 1. problem: "" or why the text is not there or not whole."""

    number: int
    text: str
    problem: str = ""


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a UTF-8 file. A gzipped file that is cut off or damaged gives all lines before the damage, then one
    with the problem; so does a line that is not UTF-8. Raises OSError where the file cannot be opened.
    """
    number, rest = 1, b""
    try:
        for piece in _pieces(path):
            *whole, rest = (rest + piece).split(b"\n")
            for raw in whole:
                yield from _line(number, raw)
                number += 1
    except (EOFError, zlib.error) as error:
        yield Line(number, rest.decode(errors="replace"), str(error))
    else:
        yield from _line(number, rest)


def _line(number: int, raw: bytes) -> Iterator[Line]:
    try:
        text = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        yield Line(number, "", f"not UTF-8: {error.reason} at byte {error.start}")
        return
    if text:
        yield Line(number, text)


def _pieces(path: Path) -> Iterator[bytes]:
    """The file's content, unpacked. gzip's own reader drops what it has unpacked when it meets the damage."""
    with path.open("rb") as file:
        zipped = file.read(len(_GZIP)) == _GZIP
        file.seek(0)
        if not zipped:
            while piece := file.read(_CHUNK):
                yield piece
            return
        unpack = zlib.decompressobj(wbits=31)
        while packed := file.read(_CHUNK):
            while packed:
                yield unpack.decompress(packed)
                packed = unpack.unused_data
                if unpack.eof and packed.startswith(_GZIP):
                    unpack = zlib.decompressobj(wbits=31)
                elif unpack.eof and packed.strip(b"\0"):
                    raise EOFError("after the end of the gzipped data comes something else")
                else:
                    break
        if not unpack.eof:
            raise EOFError("the gzipped file is cut off here")
