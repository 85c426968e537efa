"""Every table is declared once, and every schema and every word about it is made of the declaration."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

import datasets
import pytest

from liescope.data_cards.tables import (
    TABLES,
    arrow_schema,
    columns_markdown,
    columns_of_games,
    polars_schema,
    tables_markdown,
)
from liescope.data_cards.tables.declare import DECEPTION_TYPES, fields_of
from liescope.games.taxonomy import DeceptionType


@pytest.mark.parametrize("name", TABLES)
def test_all_schemas_have_the_declared_columns_in_their_order(name: str) -> None:
    columns = [field.name for field in fields(TABLES[name].row)] + ["split"]
    assert list(TABLES[name].columns) == columns
    assert arrow_schema(name).names == columns
    assert polars_schema(name).names() == columns
    assert datasets.Features.from_arrow_schema(arrow_schema(name)).arrow_schema.equals(arrow_schema(name))


@pytest.mark.parametrize("name", TABLES)
def test_every_column_has_a_meaning_and_a_null_has_its_reason(name: str) -> None:
    for field in TABLES[name].fields:
        assert field.meaning
        assert field.nullable == bool(field.null or field.reason), field.name
        if field.reason:
            assert f"reason in `{field.reason}`" in field.words()


@pytest.mark.parametrize("unit", ["text", "group", "conversation", "record"])
@pytest.mark.parametrize("name", ["statements", "games", "events", "ratings"])
def test_where_there_is_no_game_columns_name_the_unit_and_those_of_games_are_left_out(name: str, unit: str) -> None:
    page = columns_markdown(name, unit)
    assert f"of a {unit} |" in page
    for line in page.splitlines()[2:]:
        _, column, _, meaning, _ = line.replace("game_id", "").split("|")
        assert not {"game", "games", "player", "players", "rules", "table"} & set(re.findall(r"[a-z]+", meaning)), (
            column
        )
    for column in columns_of_games(name):
        assert f"| `{column}` |" not in page
        assert f"| `{column}` |" in columns_markdown(name)


def test_the_classes_of_types_are_the_taxonomy() -> None:
    assert [kind.value for kind in DeceptionType] == list(DECEPTION_TYPES)


def test_docs_show_every_table_with_its_columns_and_those_of_its_records() -> None:
    page = tables_markdown()
    for name, table in TABLES.items():
        assert f"### `{name}`" in page
        assert columns_markdown(name) in page
        for field in table.fields:
            for part in field.fields:
                assert f"| `{field.name}.{part.name}` | {part.type_words} |" in page


@dataclass
class NoColumn:
    name: str


@dataclass
class NoType:
    name: complex


@dataclass
class SilentNull:
    name: str | None


@dataclass
class LostReason:
    name: str | None


@dataclass
class LostColumn:
    name: str


MEANINGS = {
    "NoType": {"name": "a number"},
    "SilentNull": {"name": "a name"},
    "LostReason": {"name": {"meaning": "a name", "reason": "why"}},
    "LostColumn": {"name": "a name", "age": "years"},
}


@pytest.mark.parametrize("row", [NoColumn, NoType, SilentNull, LostReason, LostColumn])
def test_a_column_that_is_not_fully_declared_is_refused(row: type) -> None:
    with pytest.raises(TypeError, match=row.__name__):
        fields_of(row, MEANINGS)
