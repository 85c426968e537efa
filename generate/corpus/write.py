"""Writing Parquet in bounded row groups, so that memory stays flat however many games stream through."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import BadData
from liescope.generate.corpus.schema import CONFIGS, SPLITS

# A row group ends at whichever bound it meets first; texts of 100 kB must not pile up to gigabytes.
GROUP_ROWS = 8192
GROUP_CHARS = 8 * 2**20


def data_file(config: str, split: str) -> str:
    """The path of a split's file within a corpus."""
    return f"{config}/{split}-00000.parquet"


class _File:
    """One Parquet file under way, with the rows of its next row group."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[Mapping[str, Any]] = []
        self._chars = 0
        path.parent.mkdir(exist_ok=True)
        self._writer = pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True)

    def add(self, row: Mapping[str, Any]) -> None:
        self._rows.append(row)
        self._chars += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(self._rows) >= GROUP_ROWS or self._chars >= GROUP_CHARS:
            self._flush()

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Give the file up; what writing its end may run into no longer matters."""
        self._rows.clear()
        with suppress(OSError):
            self._writer.close()

    def _flush(self) -> None:
        columns = [_array([row[field.name] for row in self._rows], field) for field in self._schema]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))
        self._rows.clear()
        self._chars = 0


class CorpusWriter:
    """All files of a corpus under way, one for each config and split; a context manager.

    A file is there even where no row came for it, with its schema and no rows.
    """

    def __init__(self, folder: Path) -> None:
        self._files = {
            (config, split): _File(folder / data_file(config, split), schema)
            for config, schema in CONFIGS.items()
            for split in SPLITS
        }

    def add(self, config: str, split: str, row: Mapping[str, Any]) -> None:
        """Add one row, a mapping of the config's columns but `split`."""
        self._files[config, split].add({**row, "split": split})

    def __enter__(self) -> CorpusWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            if kind is None:
                file.close()
            else:
                file.abandon()


def _array(values: list[Any], field: pa.Field) -> pa.Array:
    """An Arrow array of the field's type. A lone surrogate, which no UTF-8 file can hold, becomes U+FFFD."""
    try:
        return pa.array(values, field.type)
    except UnicodeEncodeError:
        return pa.array([_encodable(value) for value in values], field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise BadData(f"column {field.name!r} holds a value that is not of type {field.type}: {error}") from error


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _encodable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(inner) for inner in value]
    return value
