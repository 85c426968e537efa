"""A declared table as others read it: schemas for Arrow, polars and the Hub's `datasets`, and Markdown for cards."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from liescope.data_cards.tables import TABLES
from liescope.data_cards.tables.declare import BOOLEAN, INTEGER, NUMBER, TEXT, Field

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


_HUB_TYPES = {TEXT: "string", BOOLEAN: "bool", INTEGER: "int64", NUMBER: "float64"}


@cache
def arrow_schema(table: str) -> pa.Schema:
    """The Arrow schema of a table's Parquet files."""
    import pyarrow as pa

    types = {TEXT: pa.string(), BOOLEAN: pa.bool_(), INTEGER: pa.int64(), NUMBER: pa.float64()}

    def kind(field: Field) -> pa.DataType:
        inner = pa.struct([(part.name, kind(part)) for part in field.fields]) if field.fields else types[field.type]
        return pa.list_(inner) if field.repeated else inner

    return pa.schema([(field.name, kind(field)) for field in TABLES[table].fields])


@cache
def polars_schema(table: str) -> pl.Schema:
    """The schema of a table's frames, `split` included."""
    import polars as pl

    types = {TEXT: pl.String(), BOOLEAN: pl.Boolean(), INTEGER: pl.Int64(), NUMBER: pl.Float64()}

    def kind(field: Field) -> pl.DataType:
        inner = pl.Struct({part.name: kind(part) for part in field.fields}) if field.fields else types[field.type]
        return pl.List(inner) if field.repeated else inner

    return pl.Schema({field.name: kind(field) for field in TABLES[table].fields})


def hub_features(table: str) -> list[dict[str, Any]]:
    """The features of a table as a dataset card's YAML lists them. Labels are ClassLabel there, nulls included."""
    return [_feature(field) for field in TABLES[table].fields]


def _feature(field: Field) -> dict[str, Any]:
    if field.fields:
        kind: Any = [_feature(part) for part in field.fields]
        return {"name": field.name, "list" if field.repeated else "struct": kind}
    if field.repeated:
        return {"name": field.name, "list": _HUB_TYPES[field.type]}
    if field.classes:
        return {"name": field.name, "dtype": {"class_label": {"names": dict(enumerate(field.classes))}}}
    return {"name": field.name, "dtype": _HUB_TYPES[field.type]}


def columns_markdown(table: str) -> str:
    """A Markdown table of a table's columns: name, type, meaning. The fields of records follow their column."""
    head = "| column | type | meaning |\n|---|---|---|\n"
    return head + "".join(_lines(TABLES[table].fields))


def tables_markdown() -> str:
    """Every table of a corpus as a section with its columns."""
    return "\n".join(
        f"### `{table.name}`\n\n{table.meaning.capitalize()}.\n\n{columns_markdown(table.name)}"
        for table in TABLES.values()
    )


def _lines(fields: tuple[Field, ...], within: str = "") -> Iterator[str]:
    for field in fields:
        yield f"| `{within}{field.name}` | {field.type_words} | {field.words.replace('|', '&#124;')} |\n"
        yield from _lines(field.fields, f"{within}{field.name}.")
