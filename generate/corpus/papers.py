"""The corpus's papers: its dataset card, croissant.json and corpus.json, filled from its facts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from liescope.common.errors import UsageError
from liescope.data_cards import CardError, croissant, render_dataset_card
from liescope.generate.corpus.read import FACTS_FILE
from liescope.generate.corpus.schema import CONFIGS

CARD_FILE, CROISSANT_FILE = "README.md", "croissant.json"


def write_papers(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write README.md, croissant.json and corpus.json. Raises UsageError where the card would have a gap."""
    columns = describe_columns()
    try:
        card = render_dataset_card(facts, columns)
    except CardError as error:
        raise UsageError(f"the dataset card cannot be filled: {error}") from error
    (folder / CARD_FILE).write_text(card, encoding="utf-8")
    for name, data in ((CROISSANT_FILE, croissant(facts, columns)), (FACTS_FILE, facts)):
        (folder / name).write_text(json.dumps(data, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def describe_columns() -> dict[str, list[dict[str, Any]]]:
    """Config to its columns in order, each with name, type (text, boolean, integer, number or records), repeated
    (a list of these) and, for records, fields described likewise.
    """
    return {config: [_describe(field) for field in schema] for config, schema in CONFIGS.items()}


def _describe(field: pa.Field) -> dict[str, Any]:
    repeated = pa.types.is_list(field.type)
    kind = field.type.value_type if repeated else field.type
    fields = [_describe(inner) for inner in kind] if pa.types.is_struct(kind) else []
    return {"name": field.name, "type": "records" if fields else _word(kind), "repeated": repeated, "fields": fields}


def _word(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    return "number" if pa.types.is_floating(kind) else "text"
