"""Reading a corpus, lazily, and checking that it is whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from liescope.common.errors import BadData, UnknownName
from liescope.generate.corpus.schema import CONFIGS, SPLITS
from liescope.generate.corpus.write import data_file

FACTS_FILE = "corpus.json"
FORMAT = 2


def read(out: Path, config: str, split: str | None = None) -> pl.LazyFrame:
    """The rows of one config, of one split or of all; nothing is loaded before the frame is collected.

    Raises UnknownName for a config or split, and BadData where the folder is no corpus or a file is missing, cut off,
    or of another layout.
    """
    if config not in CONFIGS:
        raise UnknownName("config", config, CONFIGS)
    if split is not None and split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    rows = read_facts(out)["rows"][config]
    return pl.scan_parquet(
        [_whole(out, config, name, rows[name]) for name in ([split] if split else SPLITS)],
        glob=False,
    )


def read_facts(out: Path) -> dict[str, Any]:
    """What corpus.json says of a corpus. Raises BadData where it is missing or is not what `build` wrote."""
    path = out / FACTS_FILE
    if not path.is_file():
        raise BadData(f"{out} is not a corpus: it has no {FACTS_FILE}; make one with: liescope build runs/NAME --out …")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadData(f"{path} is damaged ({error}); build the corpus again") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise BadData(f"{path} is not of format {FORMAT}, which this version reads; build the corpus again")
    if set(facts.get("rows", ())) != set(CONFIGS) or any(set(facts["rows"][name]) != set(SPLITS) for name in CONFIGS):
        raise BadData(f"{path} does not count the rows of every config and split; build the corpus again")
    return facts


def is_corpus(folder: Path) -> bool:
    """Whether a folder holds a corpus that `build` made, of any version."""
    try:
        facts = json.loads((folder / FACTS_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(facts, Mapping) and "liescope" in facts


def check(out: Path) -> None:
    """Raises BadData where a file of the corpus is not whole or a game has rows in two splits."""
    ids = [read(out, config).select("game_id", "split") for config in CONFIGS]
    leaked = (
        pl.concat(ids)
        .unique()
        .group_by("game_id")
        .len()
        .filter(pl.col("len") > 1)
        .select(pl.col("game_id").sort())
        .collect(engine="streaming")
    )
    if leaked.height:
        raise BadData(
            f"{out}: game {leaked.item(0, 0)!r} has rows in more than one split ({leaked.height} such games), "
            "so a detector would be tested on games that it was trained on; build the corpus again"
        )


def _whole(out: Path, config: str, split: str, rows: int) -> Path:
    path = out / data_file(config, split)
    try:
        head = pq.read_metadata(path)
        schema = head.schema.to_arrow_schema()
    except FileNotFoundError as error:
        raise BadData(f"{path} is missing; build the corpus again") from error
    except (pa.ArrowException, OSError) as error:
        raise BadData(f"{path} is cut off or damaged; build the corpus again") from error
    if not schema.equals(CONFIGS[config]):
        odd = sorted({str(field) for field in schema} ^ {str(field) for field in CONFIGS[config]})
        raise BadData(f"{path} has other columns than this version writes ({', '.join(odd)}); build the corpus again")
    if head.num_rows != rows:
        raise BadData(f"{path} has {head.num_rows} rows where {FACTS_FILE} counts {rows}; build the corpus again")
    return path
