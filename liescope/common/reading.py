"""Reading other people's files: only regular files, up to a size, with one line for an error."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from liescope.common.errors import BadData, LiescopeError

if TYPE_CHECKING:
    import polars as pl

_LONGEST = 200
_TEXTS = frozenset((".json", ".txt", ".md", ".toml", ".csv", ".jinja", ".yaml", ".yml"))
LARGEST_TEXT = 2**28
"""Bytes: more than any text that is read as a whole has to have."""
T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """The contents of a file, checked as they are read: undeclared fields and numbers that are not finite are
    refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Reading:
    """A block in which any exception of a library becomes one line of BadData; Liescope's own errors pass through.

    what: what is being read, as named in the message; advice: what to do next.
    """

    def __init__(self, what: object, advice: str) -> None:
        self._what, self._advice = what, advice

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _trace: TracebackType | None) -> None:
        if isinstance(error, Exception) and not isinstance(error, LiescopeError):
            named = fault(error) if isinstance(error, ValidationError) else getattr(error, "strerror", "")
            why = named or str(error).strip() or type(error).__name__
            why = why.splitlines()[0][:_LONGEST]
            raise BadData(f"{self._what} cannot be read ({why}); {self._advice}") from error


def faults(error: ValidationError) -> list[tuple[str, str]]:
    """The faults in data: the field, and in one line where in it the fault is and why it is one."""
    return [(str(one["loc"][0]) if one["loc"] else "", _fault(one)) for one in error.errors()]


def fault(error: ValidationError) -> str:
    """The first fault in data, in one line."""
    return faults(error)[0][1]


def _fault(one: ErrorDetails) -> str:
    place, why = ".".join(map(str, one["loc"]))[:100], one["msg"].removeprefix("Value error, ")
    return " ".join((f"{place}: {why}" if place else why).split())[:_LONGEST]


def read_json(path: Path, kind: TypeAdapter[T], most: int, advice: str) -> T:
    """What a JSON file holds, validated; raises BadData for a file that is not what `kind` says, or larger than `most`
    bytes, and FileNotFoundError.
    """
    with Reading(path, advice):
        return kind.validate_json(read_bytes(path, most))


def read_parquet(path: Path, schema: Mapping[str, Any], most: int, advice: str) -> pl.DataFrame:
    """A Parquet table with these columns (name to polars type), without nulls and with at most so many rows. Raises
    BadData for any other file.
    """
    import polars as pl
    import pyarrow.parquet as pq

    with Reading(path, advice):
        with pq.ParquetFile(regular(path)) as file:  # pq.read_table would load pandas
            if (rows := file.metadata.num_rows) > most:
                raise BadData(f"{path} has {rows:,} rows, more than it may have; it is not opened")
            table = file.read()
        table.validate(full=True)
        found = pl.DataFrame(pl.from_arrow(table))
        if dict(found.schema) != dict(schema) or found.null_count().sum_horizontal().item():
            raise ValueError(f"it does not have the columns {', '.join(schema)}, all filled")
    return found


def read_toml(path: Path, kind: type[Model], most: int, advice: str) -> Model:
    """What a TOML file that the user named holds, validated. Raises BadData."""
    with Reading(path, advice):
        return kind.model_validate(tomllib.loads(read_text(path, most, given=True)))


def regular(path: Path, most: int | None = None) -> Path:
    """The path, if it leads to a regular file of no more than so many bytes, before a library opens it.

    A pipe in a stranger's folder would make its reader wait forever, and a link to /dev/zero has no end. Raises
    BadData for either, FileNotFoundError and other OSErrors as opening does.
    """
    _check(path, path.stat(), most)
    return path


def open_regular(path: Path, most: int | None = None) -> BufferedReader:
    """A regular file, opened to be read; raises as `regular`."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # opening a pipe does not wait
    try:
        _check(path, os.fstat(handle), most)
    except BadData:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_bytes(path: Path, most: int = LARGEST_TEXT, given: bool = False) -> bytes:
    """All of a regular file of no more than `most` bytes; raises as `regular`. given: the user named this very file, so
    it may also be a pipe, as in `--config <(command)`.
    """
    with path.open("rb") if given else open_regular(path, most) as file:
        held = file.read(most + 1)
    if len(held) > most:  # it grew since it was checked, or is a pipe
        raise _too_large(path, len(held), most)
    return held


def read_text(path: Path, most: int = LARGEST_TEXT, encoding: str = "utf-8", given: bool = False) -> str:
    """The text of a file; as `read_bytes`, and BadData where it is not UTF-8."""
    try:
        return read_bytes(path, most, given).decode(encoding)
    except UnicodeDecodeError as error:
        raise BadData(f"{path} is not text in UTF-8 (byte {error.start}); write it anew as UTF-8") from error


def check_folder(folder: Path, most: int | None = LARGEST_TEXT) -> None:
    """Check a folder whose files are opened one by one, also by libraries. most: bytes of a text in it, None for any.

    Raises BadData if anything in it leads to neither a regular file nor a folder, or is a text that is too large.
    """
    for path in sorted(folder.rglob("*")):
        if not path.is_dir() and path.exists():
            regular(path, most if path.suffix.lower() in _TEXTS else None)


def _check(path: Path, facts: os.stat_result, most: int | None) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(21, "Is a directory", str(path))
    if not stat.S_ISREG(facts.st_mode):
        raise BadData(f"{path} is not a regular file but a device, a pipe or a socket, and is not opened")
    if most is not None and facts.st_size > most:
        raise _too_large(path, facts.st_size, most)


def _too_large(path: Path, size: int, most: int) -> BadData:
    shown = (f"{number / 1e6:,.0f} MB" if most >= 1e7 else f"{number:,} bytes" for number in (size, most))
    return BadData(f"{path} has {next(shown)}, more than the {next(shown)} that it may have; it is not opened")
