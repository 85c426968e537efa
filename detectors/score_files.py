"""Reads statements from files and streams and writes their scores, in batches, so that memory use stays flat."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import BadData, UsageError
from liescope.common.text import cell
from liescope.detectors.saved import LoadedDetector

BATCH = 1024
FORMATS = (".jsonl", ".parquet", ".csv")
_LONGEST = 2**24  # characters of a line


def score_stream(model: LoadedDetector, statements: Iterable[object]) -> Iterator[pl.DataFrame]:
    """Tables of scores, one per batch of statements."""
    reader, given = model.reader(), enumerate(statements)
    while batch := [reader.read(number, one) for number, one in islice(given, BATCH)]:
        yield model.score_batch(batch)


def lines(stream: IO[str]) -> Iterator[str]:
    """The lines of a text stream. Raises BadData for text that is not UTF-8 and for a line of 16 million characters."""
    number = 0
    try:
        while line := stream.readline(_LONGEST):
            number += 1
            if len(line) == _LONGEST:
                raise BadData(f"line {number} is longer than {_LONGEST:,} characters; give one statement a line")
            yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise BadData(f"line {number + 1} is not UTF-8; convert the file first") from error


def read_file(path: Path) -> Iterator[object]:
    """The statements of a jsonl, Parquet or CSV file. Raises UsageError for another kind of file, BadData for a
    damaged one.
    """
    reader = {".jsonl": _read_jsonl, ".parquet": _read_parquet, ".csv": _read_csv}.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path} has none of the endings {', '.join(FORMATS)}; convert it, or pipe in one text a line")
    if not path.is_file():
        raise UsageError(f"{path} is not a file")
    return reader(path)


@contextmanager
def score_writer(path: Path, overwrite: bool) -> Iterator[Callable[[pl.DataFrame], None]]:
    """Yield a function to call with each table of scores. The file appears when the block ends, unless it raises.

    Raises UsageError for another kind of file, one that already exists, or one that cannot be written.
    """
    writer = {".jsonl": _jsonl_writer, ".parquet": _parquet_writer, ".csv": _csv_writer}.get(path.suffix.lower())
    if writer is None:
        raise UsageError(f"{path} has none of the endings {', '.join(FORMATS)}; choose another --out")
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


def _read_jsonl(path: Path) -> Iterator[object]:
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(lines(stream), start=1):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadData(f"{path}, line {number} is not JSON ({str(error)[:100]})") from error


def _read_csv(path: Path) -> Iterator[object]:
    csv.field_size_limit(_LONGEST)
    with path.open(encoding="utf-8-sig", newline="") as stream:
        try:
            for row in csv.DictReader(stream):
                yield {name: value for name, value in row.items() if name is not None}
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadData(f"{path} is not CSV in UTF-8 ({str(error)[:100]})") from error


def _read_parquet(path: Path) -> Iterator[object]:
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise BadData(f"{path} is not Parquet, or damaged ({str(error).splitlines()[0][:100]})") from error


@contextmanager
def _jsonl_writer(path: Path) -> Iterator[Callable[[pl.DataFrame], None]]:
    with path.open("w", encoding="utf-8") as stream:
        yield lambda table: stream.writelines(
            json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in table.iter_rows(named=True)
        )


@contextmanager
def _csv_writer(path: Path) -> Iterator[Callable[[pl.DataFrame], None]]:
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
def _parquet_writer(path: Path) -> Iterator[Callable[[pl.DataFrame], None]]:
    with path.open("wb") as stream:
        writer: pq.ParquetWriter | None = None

        def write(table: pl.DataFrame) -> None:
            nonlocal writer
            rows = table.to_arrow()
            writer = writer or pq.ParquetWriter(stream, rows.schema, compression="zstd")
            writer.write_table(rows.cast(writer.schema))

        yield write
        if writer is not None:
            writer.close()


def _cell(value: Any) -> Any:
    return cell(value) if isinstance(value, str) else value
