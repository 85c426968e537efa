"""Nothing that is given or published holds a secret, and nothing that is published an address of this machine's
endpoints. What counts as a secret: `key_finder`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from liescope.common.errors import UsageError
from liescope.common.key_finder import find_secret, is_word, secrets_of

if TYPE_CHECKING:
    import pyarrow as pa


_ARCHIVES = {".eval": ".json", ".pt": ".pkl"}  # and what the texts in them end with
_KEY_ENV = re.compile(r"[?&]key_env=([A-Za-z_][A-Za-z0-9_]*)")


def key_variables(plan: Any) -> set[str]:
    """The variables that a run's plan names as keys of its players."""
    return set(_KEY_ENV.findall(json.dumps(plan)))


_PASSWORD = re.compile(r"://[^/\s@:]*:[^/\s@]+@")


def check_arguments(given: Iterable[tuple[str, Any]]) -> None:
    """Arguments are shown in messages and kept in the files of runs. Raises UsageError if one holds a secret. given:
    names and values.
    """
    secrets = {name: value for name, value in secrets_of(os.environ).items() if not is_word(value)}
    for name, value in given:
        words = json.dumps(value, default=str)
        if what := "a password in an address" if _PASSWORD.search(words) else find_secret(words, secrets):
            raise UsageError(
                f"{name} holds {what}; arguments are shown and kept, so take it out, and name a key's variable "
                "instead, as in openai:MODEL?key_env=VARIABLE"
            )


def check_no_secret(paths: Iterable[Path], secrets: Mapping[str, str], advice: str) -> None:
    """Raises UsageError if a file contains a secret's value or anything shaped like a key. The message names the
    variable or the shape, never the value. advice: what to do about it, besides revoking the secret.
    """
    for path in paths:
        for text in texts_of(path):
            check_text(path, text, secrets, advice)


def check_text(where: object, text: str, secrets: Mapping[str, str], advice: str, done: str = "published") -> None:
    """As `check_no_secret`, for one text. done: what was left undone because of it."""
    if what := find_secret(text, secrets):
        raise UsageError(f"{where} holds {what}, so nothing was {done}; revoke that secret, {advice}")


def texts_of(path: Path) -> Iterator[str]:
    """Every text of a file; texts of a Parquet column are joined. Arrays of numbers hold none."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            yield from lines
        return
    if path.suffix in _ARCHIVES:
        with ZipFile(path) as archive:
            texts = (name for name in archive.namelist() if name.endswith(_ARCHIVES[path.suffix]))
            yield from (archive.read(name).decode(errors="replace") for name in texts)
        return
    if path.suffix == ".safetensors":
        with path.open("rb") as stream:
            yield stream.read(int.from_bytes(stream.read(8), "little")).decode()
        return
    if path.suffix == ".npy":
        return
    if path.suffix != ".parquet":
        yield path.read_text(encoding="utf-8")
        return
    import pyarrow.parquet as pq  # a process that only plays needs none

    for batch in pq.ParquetFile(path).iter_batches(batch_size=4096):
        for column in batch.columns:
            for array in _strings(column):
                yield "\n".join(array.unique().to_pylist())


def _strings(array: pa.Array) -> Iterator[pa.Array]:
    """The text arrays within an array, nested ones too."""
    import pyarrow as pa

    if pa.types.is_string(array.type):
        yield array.drop_null()
    elif pa.types.is_list(array.type):
        yield from _strings(array.flatten())
    elif pa.types.is_struct(array.type):
        for field in array.flatten():
            yield from _strings(field)


_OF_PLAYER = re.compile(r"@https?://[^\s|?]*", re.IGNORECASE)
_ANYWHERE = re.compile(r"https?://[^\s\"'<>|,;)\]}]+", re.IGNORECASE)
_KEY_NAME = re.compile(r"(?<=[?&])key_env=[^&\s|]*&?")
_EMPTY_QUERY = re.compile(r"[?&](?=\s|$)")
ADDRESS = "[address]"


@lru_cache(maxsize=4096)
def without_addresses(text: str) -> str:
    """The text without endpoints' addresses and names of key variables: `openai:NAME@http://host/v1?key_env=KEY` is
    `openai:NAME`, and any other address, for example in an error, is "[address]".
    """
    if "://" not in text and "key_env=" not in text:
        return text
    return _ANYWHERE.sub(ADDRESS, _EMPTY_QUERY.sub("", _KEY_NAME.sub("", _OF_PLAYER.sub("", text))))


def all_without_addresses(data: Any) -> Any:
    """Plain JSON data with `without_addresses` applied to every text in it."""
    if isinstance(data, str):
        return without_addresses(data)
    if isinstance(data, dict):
        return {key: all_without_addresses(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [all_without_addresses(value) for value in data]
    return data
