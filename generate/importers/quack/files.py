"""The files of QUACK games in an archive or a folder. Nothing is unpacked onto the disk."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, cast

from liescope.common.errors import BadData
from liescope.common.reading import read_bytes, regular
from liescope.generate.importers.lines import Line, lines_of, unpacked

LOG, CLAIMS = "game.jsonl", "tier3_claims.jsonl"
LARGEST = 64 << 20  # bytes of one file; a game's claims take a megabyte
MOST_UNPACKED = 1 << 28  # bytes of an archive; the published one has 20 MB
_CHUNK = 1 << 16
_DAMAGED = (tarfile.TarError, zlib.error, EOFError, ValueError, OverflowError)


@dataclass(slots=True)
class GameFiles:
    """One game's folder. path: where it stands in its source; files: its log and claims, by name."""

    path: PurePath
    files: dict[str, bytes] = field(default_factory=dict)

    def lines(self, name: str) -> Iterator[Line]:
        """The lines of a file; none if the game has no such file."""
        yield from lines_of(iter([self.files.get(name, b"")]))


def games_in(source: Path) -> list[GameFiles]:
    """The games of an archive (.tar, .tar.gz), of a folder of games or of one game's folder, ordered by path.

    Raises BadData if an archive is damaged, larger than `MOST_UNPACKED` bytes or no archive, or if a file is larger
    than `LARGEST`; OSError if the source cannot be opened.
    """
    games: dict[PurePath, GameFiles] = {}
    for path, content in _in_folder(source) if source.is_dir() else _in_archive(source):
        games.setdefault(path.parent, GameFiles(path.parent)).files[path.name] = content
    return [games[path] for path in sorted(games) if LOG in games[path].files]


def _in_folder(folder: Path) -> Iterator[tuple[PurePath, bytes]]:
    for name in (LOG, CLAIMS):
        for path in sorted(folder.resolve().rglob(name)):
            if path.is_file() and not path.is_symlink():
                _check_size(path.name, path.stat().st_size)
                yield path, read_bytes(path, LARGEST)


def _in_archive(archive: Path) -> Iterator[tuple[PurePath, bytes]]:
    regular(archive)  # a file that is not there is no damaged archive
    try:
        stream = cast(IO[bytes], _Stream(unpacked(archive, MOST_UNPACKED)))
        with tarfile.open(fileobj=stream, mode="r|") as packed:
            for member in packed:
                path = PurePosixPath(member.name)
                if path.name in (LOG, CLAIMS) and member.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                    _check_size(path.name, member.size)
                    content = packed.extractfile(member)
                    yield path, content.read() if content else b""
    except _DAMAGED as error:
        raise BadData(f"{archive.name} cannot be read as a tar archive: {error}") from error


def _check_size(name: str, size: int) -> None:
    if size > LARGEST:
        raise BadData(f"a file {name} takes {size:,} bytes; at most {LARGEST:,} are read")


class _Stream:
    """Chunks of bytes as a file that can only be read forward."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._rest) < size and (chunk := next(self._chunks, b"")):
            self._rest += chunk
        taken = bytes(self._rest[:size])
        del self._rest[:size]
        return taken
