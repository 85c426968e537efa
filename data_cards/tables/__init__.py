"""Every table of a corpus, declared once: its columns' names, types, meanings and nulls.

The Arrow and polars schemas and the column tables of cards and docs are generated from these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liescope.common.text import GAME
from liescope.data_cards.tables import rows
from liescope.data_cards.tables.declare import BOOLEAN, INTEGER, NUMBER, SPLITS, TEXT, CorpusColumn, CorpusTable

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


_LABEL = "label_"
TABLES = {
    table.name: table
    for table in (
        CorpusTable(
            "statements", rows.StatementRow, "one row for each statement of a complete {unit}, with its labels"
        ),
        CorpusTable("claims", rows.ClaimRow, "one row for each claim found in a statement, with its verdict"),
        CorpusTable("games", rows.GameRow, "one row for each {unit}, failed ones included"),
        CorpusTable("events", rows.EventRow, "one row for each event of a {unit}, failed ones included, in order"),
        CorpusTable("votes", rows.VoteRow, "one row for each vote of a finished game"),
        CorpusTable("ratings", rows.RatingRow, "one row for each observer and each statement that it rated"),
        CorpusTable("night_acts", rows.NightActRow, "one row for each night act of a finished game"),
        CorpusTable("bids", rows.BidRow, "one row for each bid for the floor"),
        CorpusTable(
            "lessons", rows.LessonRow, "one row for each lesson that a player learned from a game for the next ones"
        ),
        CorpusTable("lesson_tags", rows.LessonTagRow, "one row for each lesson that a judge tagged"),
        CorpusTable("role_guesses", rows.RoleGuessRow, "one row for each hidden role that a judge named from a seat"),
        CorpusTable(
            "calls", rows.CallRow, "one row for each request for a reply, retries and unusable replies included"
        ),
    )
}
"""Name to table, in the order of the card."""

TARGETS: Mapping[str, CorpusColumn] = {
    column.name.removeprefix(_LABEL): column
    for column in TABLES["statements"].fields
    if column.name.startswith(_LABEL) and column.classes
}
"""What a detector can be trained on: the labels of a statement, by their names without "label_"."""

__all__ = ["SPLITS", "TABLES", "TARGETS", "CorpusColumn", "CorpusTable"]


_HUB_TYPES = {TEXT: "string", BOOLEAN: "bool", INTEGER: "int64", NUMBER: "float64"}


@cache
def arrow_schema(table: str) -> pa.Schema:
    """The Arrow schema of a table's Parquet files, with its `datasets.Features`, so that classes have names when a file
    is opened with `datasets`. A column of classes holds numbers there, like `datasets.ClassLabel`.
    """
    import pyarrow as pa

    types = {TEXT: pa.string(), BOOLEAN: pa.bool_(), INTEGER: pa.int64(), NUMBER: pa.float64()}

    def kind(field: CorpusColumn) -> pa.DataType:
        inner = pa.struct([(part.name, kind(part)) for part in field.fields]) if field.fields else types[field.type]
        return pa.list_(inner) if field.repeated else pa.int64() if field.classes else inner

    fields = TABLES[table].fields
    features = {"info": {"features": {field.name: _feature(field) for field in fields}}}
    return pa.schema([(field.name, kind(field)) for field in fields], {"huggingface": json.dumps(features)})


def _feature(field: CorpusColumn) -> dict[str, Any]:
    """A column as the JSON of `datasets.Features` has it."""
    one: dict[str, Any] = {"dtype": _HUB_TYPES.get(field.type), "_type": "Value"}
    if field.fields:
        one = {part.name: _feature(part) for part in field.fields}
    elif field.classes:
        one = {"names": list(field.classes), "_type": "ClassLabel"}
    return {"feature": one, "_type": "List"} if field.repeated else one


@cache
def polars_schema(table: str) -> pl.Schema:
    """The schema of a table's frames, `split` included; columns of classes are booleans or texts."""
    import polars as pl

    types = {TEXT: pl.String(), BOOLEAN: pl.Boolean(), INTEGER: pl.Int64(), NUMBER: pl.Float64()}

    def kind(field: CorpusColumn) -> pl.DataType:
        inner = pl.Struct({part.name: kind(part) for part in field.fields}) if field.fields else types[field.type]
        return pl.List(inner) if field.repeated else inner

    return pl.Schema({field.name: kind(field) for field in TABLES[table].fields})


def scanned(table: str, files: Sequence[Path]) -> pl.LazyFrame:
    """The rows of Parquet files of a table, with booleans and texts for the numbers of classes."""
    import polars as pl

    schema = polars_schema(table)
    classes = {field.name: field.classes for field in TABLES[table].fields if field.classes}
    rows = pl.scan_parquet(list(files), glob=False, schema={**schema, **dict.fromkeys(classes, pl.Int64())})
    return rows.with_columns(
        pl.col(name).cast(pl.Boolean)
        if schema[name] == pl.Boolean
        else pl.col(name).replace_strict(list(range(len(names))), list(names), return_dtype=pl.String)
        for name, names in classes.items()
    )


def columns_markdown(table: str, unit: str = GAME) -> str:
    """A Markdown table of a table's columns: name, type, meaning, without columns for games only, if records are called
    something else. The fields of records follow their column.
    """
    head = "| column | type | meaning |\n|---|---|---|\n"
    return head + "".join(_lines(TABLES[table].fields, unit))


def columns_of_games(table: str) -> tuple[str, ...]:
    """The columns that only games use, by name."""
    return tuple(column.name for column in TABLES[table].fields if column.only_games)


def tables_markdown() -> str:
    """Every table of a corpus as a section with its columns."""
    return "\n".join(
        f"### `{table.name}`\n\n{table.words().capitalize()}.\n\n{columns_markdown(table.name)}"
        for table in TABLES.values()
    )


def _lines(fields: tuple[CorpusColumn, ...], unit: str, within: str = "") -> Iterator[str]:
    for field in fields:
        if words := field.words(unit):
            yield f"| `{within}{field.name}` | {field.type_words} | {words.replace('|', '&#124;')} |\n"
            yield from _lines(field.fields, unit, f"{within}{field.name}.")
