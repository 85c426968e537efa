"""Files of statements, read a few rows at a time; files of scores, which appear when they are complete."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import BadData, UsageError
from liescope.common.signals import let_interrupts_end_reads
from liescope.common.text import cell
from liescope.detectors.inputs import COLUMNS

FORMATS = (".jsonl", ".jsonl.gz", ".parquet", ".csv")
_LONGEST = 2**24  # characters of a line
_ROWS = 1024

Share = Callable[[], float]
"""How much of a file has been read, from 0 to 1."""
Write = Callable[[pl.DataFrame], None]


def lines(stream: IO[str]) -> Iterator[str]:
    """The lines of a text stream. Raises BadData for text that is not UTF-8 and for a line of 16 million characters."""
    number = 0
    try:
        while True:
            let_interrupts_end_reads()
            if not (line := stream.readline(_LONGEST)):
                return
            number += 1
            if len(line) == _LONGEST:
                raise BadData(f"line {number} is longer than {_LONGEST:,} characters; give one statement a line")
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadData(f"line {number + 1} is not UTF-8; convert the file first") from error


@contextmanager
def statements_of(path: Path) -> Iterator[tuple[Iterator[object], Share]]:
    """Yield the rows of a file of statements, read as they are asked for, and how much of it has been read.

    Raises UsageError for a kind of file that has no reader; reading raises BadData for a damaged one.
    """
    kind = _format(path, "convert it, or pipe in one text a line")
    if not path.is_file():
        raise UsageError(f"{path} is not a file")
    if kind == ".parquet":
        yield _parquet_rows(path)
        return
    size = max(path.stat().st_size, 1)
    with path.open("rb") as raw, gzip.open(raw) if kind == ".jsonl.gz" else raw as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
        rows = _csv_rows(path, text) if kind == ".csv" else _jsonl_rows(path, text)
        yield rows, lambda: raw.tell() / size
        text.detach()


@contextmanager
def score_writer(path: Path, overwrite: bool) -> Iterator[Write]:
    """Yield a function to call with each table of scores. The file appears when the block ends, unless it raises.

    Raises UsageError for a kind of file that has no writer, one that already exists, or one that cannot be written.
    """
    writer = {".parquet": _parquet_writer, ".csv": _csv_writer}.get(
        _format(path, "choose another --out"), _jsonl_writer
    )
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists; add --overwrite to replace it, or choose another --out")
    partial = path.with_name(f".{path.name}.partial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writer(partial) as write:
            yield write
        partial.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror or error}); choose another --out") from error
    finally:
        partial.unlink(missing_ok=True)


def _format(path: Path, advice: str) -> str:
    """The ending of a path. Raises UsageError if no format has it."""
    found = next((ending for ending in FORMATS if path.name.lower().endswith(ending)), None)
    if found is None:
        raise UsageError(f"{path} has none of the endings {', '.join(FORMATS)}; {advice}")
    return found


def _jsonl_rows(path: Path, stream: IO[str]) -> Iterator[object]:
    try:
        for number, line in enumerate(lines(stream), start=1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadData(f"{path}, line {number} is not JSON ({str(error)[:100]})") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadData(f"{path} is not compressed with gzip, or damaged ({str(error)[:100]})") from error


def _csv_rows(path: Path, stream: Iterable[str]) -> Iterator[object]:
    csv.field_size_limit(_LONGEST)
    try:
        for row in csv.DictReader(stream):
            yield {name: value for name, value in row.items() if name is not None}
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadData(f"{path} is not CSV in UTF-8 ({str(error)[:100]})") from error


def _parquet_rows(path: Path) -> tuple[Iterator[object], Share]:
    read, total = 0, 1

    def rows() -> Iterator[object]:
        nonlocal read, total
        try:
            with pq.ParquetFile(path) as file:
                total = max(file.metadata.num_rows, 1)
                names = file.schema_arrow.names
                wanted = [name for name in names if name in COLUMNS] if "text" in names else names
                for batch in file.iter_batches(_ROWS, columns=wanted):
                    read += batch.num_rows
                    yield from batch.to_pylist()
        except (pa.ArrowException, OSError) as error:
            raise BadData(f"{path} is not Parquet, or damaged ({str(error).splitlines()[0][:100]})") from error

    return rows(), lambda: read / total


@contextmanager
def _jsonl_writer(path: Path) -> Iterator[Write]:
    packed = path.name.lower().endswith(".gz.partial")
    with gzip.open(path, "wt", encoding="utf-8") if packed else path.open("w", encoding="utf-8") as stream:
        yield lambda table: stream.writelines(
            json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in table.iter_rows(named=True)
        )


@contextmanager
def _csv_writer(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        empty = True

        def write(table: pl.DataFrame) -> None:
            nonlocal empty
            if empty:
                writer.writerow(table.columns)
                empty = False
            writer.writerows([_cell(value) for value in row] for row in table.iter_rows())

        yield write


@contextmanager
def _parquet_writer(path: Path) -> Iterator[Write]:
    with path.open("wb") as stream:
        writer: pq.ParquetWriter | None = None

        def write(table: pl.DataFrame) -> None:
            nonlocal writer
            rows = table.to_arrow()
            writer = writer or pq.ParquetWriter(stream, rows.schema, compression="zstd")
            writer.write_table(rows.cast(writer.schema))

        try:
            yield write
        finally:
            if writer is not None:
                writer.close()


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return cell("; ".join(value))
    return cell(value) if isinstance(value, str) else value
