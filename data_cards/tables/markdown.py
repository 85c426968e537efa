"""Tables in Markdown, for cards and docs."""

from __future__ import annotations

from collections.abc import Iterator

from liescope.data_cards.tables import TABLES
from liescope.data_cards.tables.declare import Field


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
