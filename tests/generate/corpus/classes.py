"""Rows as `datasets` gives them."""

from __future__ import annotations

from typing import Any

from liescope.data_cards.tables import TABLES


def as_classes(row: dict[str, Any], config: str) -> dict[str, Any]:
    """A row with its labels as the numbers of their classes; nulls stay nulls."""
    classes = {field.name: field.classes for field in TABLES[config].fields if field.classes}

    def number(name: str, value: Any) -> Any:
        if name not in classes or value is None:
            return value
        return int(value) if isinstance(value, bool) else classes[name].index(value)

    return {name: number(name, value) for name, value in row.items()}
