"""The reader of tables: CSV, JSON lines, a JSON array, Parquet, a dataset in a folder or on the Hub, rows in memory.

Each row comes with its line, or its number where there are no lines; what cannot be read is a rejection in its place.
Memory use does not grow with the source: rows are gathered by game on disk.
"""

from __future__ import annotations

import ast
import codecs
import json
import re
import sqlite3
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict
from decimal import Decimal
from functools import partial
from io import StringIO
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading, regular
from liescope.generate.corpus.hub import hub_repo, plain_errors
from liescope.generate.importers.delimited import UNNAMED, read_delimited
from liescope.generate.importers.importer_protocol import Rejected, fingerprint
from liescope.generate.importers.text_files import (
    DAMAGED,
    LONGEST_LINE,
    Rows,
    is_lines,
    read_objects,
    read_whole,
    text_of,
)

_PARQUET = b"PAR1"
_LONGEST_LIST = 1 << 20  # characters of a list that Python wrote
_BATCH = 1024
_CARD = "if that is about its card, README.md, mend the card or take it away; else name the files with the rows"
_PACKED = frozenset({".gz", ".bz2", ".xz", ".zip"})
_ENDINGS = frozenset({".jsonl", ".json", ".csv", ".tsv", ".parquet", ".txt", ".eval", ".xlsx", *_PACKED})  # of files
SPLIT_NAMES = {"train": "train", "test": "test"} | dict.fromkeys(("validation", "valid", "val", "dev"), "validation")
TOO_MANY = "{name} has more than {most:,} rows: divide it and name all its parts, or allow more with --most-rows"
_NO_COMMA = re.compile(r"""['"\]}]\s+['"\[{]""")


def read_rows(source: Path, columns: Collection[str] = (), most: int | None = None, names: Sequence[str] = ()) -> Rows:
    """Every row of a file or dataset, `tidied`. columns: the only ones to read of a Parquet file that has a `text`;
    empty for all; most: rows of a Parquet file, which may be small and yet have billions; None for any number; names:
    of the columns of a text, whose first line is then a row.

    Raises OSError if a file cannot be opened, BadData for a dataset that cannot be loaded, a file of more rows and
    names that are not needed.
    """
    return tidied(_read(source, columns, most, names))


def in_memory(source: Any) -> Iterator[Any]:
    """The rows of a frame of polars, pandas, pyarrow or `datasets`, or what a list holds. Classes have their names.
    Raises UsageError for anything else.
    """
    if hasattr(source, "collect"):  # a lazy one of polars
        source = source.collect()
    schema = getattr(source, "schema", None)  # of pyarrow
    classes = class_names(getattr(source, "features", None) or getattr(schema, "metadata", None))
    if hasattr(source, "iter_rows"):
        source = source.iter_rows(named=True)
    elif hasattr(source, "to_pylist"):  # pyarrow
        source = source.to_pylist()
    elif hasattr(source, "itertuples"):  # pandas
        columns, values = [*map(str, source.columns)], source.itertuples(index=False, name=None)
        source = (dict(zip(columns, map(cell, row), strict=True)) for row in values)
    elif not isinstance(source, Iterable):
        kind = type(source).__name__
        raise UsageError(f"{kind} holds no statements; give a list of strings or mappings, or a frame")
    yield from (decoded(row, classes) if classes else row for row in source)


def tidied(rows: Iterable[tuple[int, Mapping[Any, Any] | Rejected]]) -> Rows:
    """Rows from anywhere as plain data: what is absent is None, however its library writes that, and a column that has
    no name, such as the row numbers that pandas writes, is no column.
    """
    for number, row in rows:
        if isinstance(row, Rejected):
            yield number, row
        else:
            yield number, {name: cell(value) for key, value in row.items() if not UNNAMED.fullmatch(name := str(key))}


def cell(value: Any) -> Any:
    """A cell as plain data: None for NaN, NA and NaT, lists for arrays."""
    if isinstance(value, str | int):
        return value
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float | Decimal) and value != value):
        return None
    if isinstance(value, Mapping):
        return {str(name): cell(one) for name, one in value.items()}
    return [cell(one) for one in value] if isinstance(value, list | tuple) else value


def listed(text: str) -> Any:
    """The list or mapping that a cell of text holds, in JSON or as Python and numpy write it. Raises ValueError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        try:
            if len(text) <= _LONGEST_LIST:
                return ast.literal_eval(_with_commas(text.strip()) if _NO_COMMA.search(text) else text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
            pass
        raise ValueError(str(error)) from None


def _with_commas(text: str) -> str:
    """A list with commas between the items: numpy leaves them out, and Python would join texts without one."""
    words, after_item = list[str](), False
    for kind, word, *_ in tokenize.generate_tokens(StringIO(text).readline):
        item = kind in (tokenize.STRING, tokenize.NUMBER, tokenize.NAME)
        if word.strip():
            words += [","] if after_item and (item or word in "[{(") else []
            words.append(word)
            after_item = item or word in ")]}"
    return " ".join(words)


def _read(source: Path, columns: Collection[str], most: int | None, names: Sequence[str]) -> Rows:
    if source.is_dir() and (texts := _texts_in(source)):
        yield from enumerate(map(partial(_text_row, source), texts), 1)
        return
    if dataset := dataset_of(source):
        yield from _read_dataset(*dataset)
        return
    try:
        start = next(text_of(source), b"")
    except DAMAGED:
        start = b""  # told where it is read
    begins = start.removeprefix(codecs.BOM_UTF8).lstrip()
    kind = next((one for one in reversed(source.suffixes) if one.lower() not in _PACKED), "").lower()
    if start.startswith(_PARQUET) and not names:
        yield from read_parquet(source, columns, most=most)
    elif kind in (".csv", ".tsv") or (kind in (".txt", "") and not begins.startswith((b"{", b"["))):
        yield from read_delimited(source, kind, names)
    elif names:
        raise BadData(f"{source.name} names its columns itself: leave out --columns")
    elif begins.startswith((b"{", b"[")) and not is_lines(begins):
        yield from read_whole(source, b"\n" in begins)
    else:
        yield from read_objects(source)


def read_parquet(
    source: Path,
    columns: Collection[str] = (),
    without: Collection[str] = (),
    at_once: int = _BATCH,
    most: int | None = None,
) -> Rows:
    """The rows of a Parquet file. columns: as in `read_rows`; without: those that are not read; at_once: how many rows
    are in memory; most: rows that it may have. Raises BadData for more.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(source) as file:
            names, classes = file.schema_arrow.names, class_names(file.schema_arrow.metadata)
            if most and file.metadata.num_rows > most:
                raise BadData(TOO_MANY.format(name=source.name, most=most))
            if twice := [name for name, count in Counter(names).items() if count > 1]:
                raise ValueError(f"two columns are called {twice[0][:40]}: rename one of them")
            wanted = [name for name in names if name in columns] if columns and "text" in names else None
            wanted = [name for name in names if name not in without] if without else wanted
            for batch in file.iter_batches(at_once, columns=wanted):
                for row in batch.to_pylist():
                    number += 1
                    yield number, decoded(row, classes)
    except (pa.ArrowException, OSError, ValueError) as error:
        why = f"not Parquet, or damaged: {str(error).splitlines()[0][:200]}"
        yield number + 1, Rejected(source.name, number + 1, "", why)


# Folders of texts


def _texts_in(folder: Path) -> list[Path]:
    """The .txt files of a folder without tables whose subfolders sort them, as by label; not by split alone."""
    inside = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    files = [path for path in inside if not any(part.startswith(".") for part in path.parts)]
    sorts = {part.casefold() for path in files for part in path.parts[:-1] if path.suffix == ".txt"}
    tables = {".arrow", *_ENDINGS} - {".txt"}
    kept = sorts - SPLIT_NAMES.keys() and not tables & {path.suffix.lower() for path in files}
    return sorted(path for path in files if path.suffix == ".txt") if kept else []


def _text_row(folder: Path, file: Path) -> dict[str, Any] | Rejected:
    """A text, by its file's name and the folders around it, from the top; one that is called like a split is that."""
    try:
        words = b"".join(text_of(regular(folder / file, LONGEST_LINE))).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Rejected(str(file), 0, "", f"not UTF-8: {error.reason} at byte {error.start}")
    except (BadData, *DAMAGED) as error:
        return Rejected(str(file), 0, "", str(error))
    folders = [part for part in file.parts[:-1] if part.casefold() not in SPLIT_NAMES]
    split = next((part for part in file.parts[:-1] if part not in folders), None)
    told = {f"folder_{at}": name for at, name in enumerate(folders, 1)}
    return {"text": words, "file": file.stem, "split": split, **told}


# Datasets


def dataset_of(source: Path) -> tuple[str, str | None] | None:
    """The folder or the name on the Hub, and the config, of a source that is a dataset; None for a file."""
    if source.is_dir():
        return str(source), None
    if source.suffix.lower() in _ENDINGS or source.exists():
        return None
    scheme = "hf:" if str(source).startswith("hf:") else ""
    name, _, config = str(source).removeprefix(scheme).partition(":")
    if config and Path(scheme + name).is_dir():
        return scheme + name, config
    repo = hub_repo(scheme + name)
    return (repo, config or None) if repo else None


def identity(source: Path) -> dict[str, str]:
    """A source's name and a hash of its content: for a dataset on the Hub, its revision.

    Raises OSError if it cannot be opened.
    """
    if (dataset := dataset_of(source)) is None:
        return {"name": source.name, "sha256": fingerprint(source)}
    name, config = dataset
    words = {"config": config} if config else {}
    if not Path(name).is_dir():
        return {"name": name, **words, "revision": _revision(name)}
    return {"name": Path(name).resolve().name, **words, "sha256": fingerprint(Path(name))}


def _revision(repo: str) -> str:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        with plain_errors(repo):
            return str(HfApi(library_name="liescope").dataset_info(repo).sha)
    except Exception as error:
        if isinstance(error.__cause__, RepositoryNotFoundError):
            raise BadData(f"there is no file or folder {repo}, and no such dataset that you may see") from error
        raise


def _read_dataset(name: str, config: str | None) -> Rows:
    """The rows of all splits, streamed. A dataset of several splits names each row's split, unless a column does."""
    import datasets

    local = Path(name).is_dir()
    number = 0
    try:
        with plain_errors(name):
            version = None if local else _revision(name)
            with Reading(name, _CARD) if local else nullcontext():
                if local and any((Path(name) / file).is_file() for file in ("state.json", "dataset_dict.json")):
                    saved = datasets.load_from_disk(name)  # what save_to_disk wrote
                    splits = saved if isinstance(saved, dict) else {"train": saved}
                else:
                    splits = datasets.load_dataset(name, config, streaming=True, revision=version)
            for split, rows in splits.items():
                named = {"split": str(split)} if len(splits) > 1 else {}
                for row in rows:
                    number += 1
                    yield number, {**named, **decoded(row, class_names(rows.features))}
    except (ValueError, FileNotFoundError, datasets.exceptions.DatasetsError) as error:
        line = " ".join(str(error).split())[:200]
        if not number:
            raise BadData(f"{name} cannot be read as a dataset: {line}") from error
        yield number + 1, Rejected(name, number + 1, "", f"the rest cannot be read: {line}")


def class_names(given: Mapping[Any, Any] | None) -> dict[str, list[str]]:
    """The names of classes by column, of `datasets.Features` or of the metadata that they leave in a schema of Arrow or
    Parquet.
    """
    found: Any = given or {}
    with suppress(ValueError, KeyError, TypeError):
        found = json.loads(found[b"huggingface"])["info"]["features"]
    named = {
        str(column): kind.get("names") if isinstance(kind, dict) else getattr(kind, "names", None)
        for column, kind in found.items()
    }
    return {column: names for column, names in named.items() if isinstance(names, list)}


def decoded(row: Mapping[str, Any], classes: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The row with class names for class numbers; another number means no class. classes: as `class_names`."""
    told = {}
    for column, names in classes.items():
        if isinstance(at := row.get(column), int):
            told[column] = names[at] if 0 <= at < len(names) else None
    return {**row, **told}


# Gathering


class Spool:
    """Rows in any order, given back game by game, in the order in which each game first occurs. It lives in memory or
    in a private file that deletes itself.
    """

    _AT_ONCE = 1000

    def __init__(self, on_disc: bool) -> None:
        # "" is a private file that SQLite deletes by itself; nothing in it is ever rolled back
        self._base = sqlite3.connect("" if on_disc else ":memory:")
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("CREATE TABLE rows (game INTEGER, line INTEGER, row TEXT)")
        self._games: dict[str, int] = {}
        self._keys: list[str | None] = []
        self._bad = set[int]()
        self._waiting: list[tuple[int, int, str]] = []

    def add(self, key: str | None, line: int, row: Mapping[str, Any] | Rejected) -> None:
        """Keep a row, or what was none. key: of its game, None for one by itself; line: its line in the source."""
        game = len(self._keys) if key is None else self._games.setdefault(key, len(self._keys))
        self._keys += [key] if game == len(self._keys) else []
        self._bad |= {game} if isinstance(row, Rejected) else set()
        cells = asdict(row) if isinstance(row, Rejected) else row
        self._waiting.append((game, line, json.dumps(cells, default=str)))
        if len(self._waiting) >= self._AT_ONCE:
            self._write()

    def games(self) -> Iterator[Rejected | tuple[str | None, Iterator[tuple[int, dict[str, Any]]]]]:
        """The key of each game with its rows, in the order of the source, and their lines; what was no row in its
        place.
        """
        self._write()
        rows = self._base.execute("SELECT game, line, row FROM rows ORDER BY game, rowid")
        for game, mine in groupby(rows, key=itemgetter(0)):
            told = ((line, json.loads(row)) for _, line, row in mine)
            yield Rejected(**next(told)[1]) if game in self._bad else (self._keys[game], told)
        self._base.close()

    def _write(self) -> None:
        self._base.executemany("INSERT INTO rows VALUES (?, ?, ?)", self._waiting)
        self._waiting.clear()
