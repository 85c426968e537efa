"""Scans every published text for secrets.

Two scans: for the values of this machine's secrets (variables named like one, and those that the runs' players name
with key_env), and for anything that has the shape of a key. Both see through the disguises of `common.disguises`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from liescope.common.disguises import disguised, looks
from liescope.common.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa

_SECRET = re.compile(r"(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$", re.IGNORECASE)
_SHORTEST = 8
_SHAPES = {
    "an API key (sk-…)": re.compile(r"(?<![A-Za-z0-9])sk-(?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{20,}"),
    "a Hugging Face token (hf_…)": re.compile(r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,}"),
    "a Google API key (AIza…)": re.compile(r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"),
    "a GitHub token (gh…_…)": re.compile(r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50,})"),
    "an AWS access key (AKIA…)": re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    "a Groq or xAI key (gsk_…, xai-…)": re.compile(r"(?<![A-Za-z0-9])(?:gsk_|xai-)[A-Za-z0-9]{32,}"),
    "a private key (PEM)": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
}
_KEY_ENV = re.compile(r"[?&]key_env=([A-Za-z_][A-Za-z0-9_]*)")


def secrets_of(environment: Mapping[str, str], named: Iterable[str] = ()) -> dict[str, str]:
    """The variables that hold a secret, by their name (OPENAI_API_KEY, HF_TOKEN …) or listed in `named`, if their value
    is long enough.
    """
    also = frozenset(named)
    found = {name: value.strip() for name, value in environment.items() if name in also or _SECRET.search(name)}
    return {name: value for name, value in found.items() if len(value) >= _SHORTEST}


def key_variables(plan: Any) -> set[str]:
    """The variables that a run's plan names as keys of its players."""
    return set(_KEY_ENV.findall(json.dumps(plan)))


def check_no_secret(paths: Iterable[Path], secrets: Mapping[str, str], advice: str) -> None:
    """Raises UsageError if a file contains a secret's value or anything shaped like a key. The message names the
    variable or the shape, never the value. advice: what to do about it, besides revoking the secret.
    """
    for path in paths:
        for text in texts_of(path):
            check_text(path, text, secrets, advice)


def check_text(where: object, text: str, secrets: Mapping[str, str], advice: str, done: str = "published") -> None:
    """The same for one text. done: what was not done because of it."""
    if what := find_secret(text, secrets):
        raise UsageError(f"{where} holds {what}, so nothing was {done}; revoke that secret, {advice}")


def find_secret(text: str, secrets: Mapping[str, str], shapes: bool = True) -> str:
    """A description of the secret in a text, or "" for none. shapes: whether what only looks like a key is one."""
    found = looks(text)
    for name, value in secrets.items():
        if disguised(value).within(found):
            return f"the value of {name}"
    for look in found if shapes else ():
        for what, shape in _SHAPES.items():
            if shape.search(look.seen):
                return f"what looks like {what}"
    return ""


def texts_of(path: Path) -> Iterator[str]:
    """Every text of a file; texts of a Parquet column are joined. Arrays of numbers hold none."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as lines:
            yield from lines
        return
    if path.suffix in (".skops", ".eval"):
        with ZipFile(path) as archive:
            yield from (archive.read(name).decode() for name in archive.namelist() if name.endswith(".json"))
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
