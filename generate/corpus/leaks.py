"""No secret of this machine may stand in what is published: a scan of every text that leaves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from liescope.common.errors import UsageError

_SECRET = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 8


def secrets_of(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that hold a secret by their name (OPENAI_API_KEY, HF_TOKEN …), if long enough to be one."""
    named = {name: value.strip() for name, value in environment.items() if _SECRET.search(name)}
    return {name: value for name, value in named.items() if len(value) >= _SHORTEST}


def check_no_secret(paths: Iterable[Path], secrets: Mapping[str, str]) -> None:
    """Raises UsageError where a Parquet or text file holds the value of a secret; names the variable, not the value."""
    for path in paths:
        for name, value in secrets.items():
            if any(value in text for text in _texts(path, value)):
                raise UsageError(
                    f"{path} holds the value of {name}, so nothing was published; "
                    "change that secret, remove it from the runs and build the corpus again"
                )


def _texts(path: Path, value: str) -> Iterator[str]:
    """Texts of a file that may hold the value."""
    if path.suffix != ".parquet":
        yield path.read_text(encoding="utf-8")
        return
    for batch in pq.ParquetFile(path).iter_batches():
        for column in batch.columns:
            for array in _strings(column):
                yield from array.filter(pc.match_substring(array, value)).to_pylist()


def _strings(array: pa.Array) -> Iterator[pa.Array]:
    """The text arrays within an array, nested ones too."""
    if pa.types.is_string(array.type):
        yield array.drop_null()
    elif pa.types.is_list(array.type):
        yield from _strings(array.flatten())
    elif pa.types.is_struct(array.type):
        for field in array.flatten():
            yield from _strings(field)
