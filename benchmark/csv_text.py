"""Tables as CSV files that a spreadsheet can open without running anything in them."""

from __future__ import annotations

import polars as pl

from liescope.common.text import cell


def safe(table: pl.DataFrame) -> pl.DataFrame:
    """The table ready for CSV: lists joined by semicolons, and no text that would start a formula."""
    nested = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    joined = table.with_columns(pl.col(nested).cast(pl.List(pl.String)).list.join("; ")) if nested else table
    texts = [name for name, kind in joined.schema.items() if kind == pl.String]
    return joined.with_columns(pl.col(name).map_elements(cell, return_dtype=pl.String) for name in texts)
