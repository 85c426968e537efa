"""A part of a report: what one method found, as sections of a page and as tables for files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from liescope.common.report_page import Section, with_interval


@dataclass(frozen=True, slots=True)
class Part:
    """sections: of the page, in order; tables: by the name of their file without its ending; notes: sentences that must
    accompany them; missing: what these games cannot show, by the title that it would have, with the reason.
    """

    sections: tuple[Section, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)


def by_condition(parts: Mapping[str, Part]) -> Part:
    """The parts of several conditions as one: its tables have the column condition, its sections and what is missing
    name their condition. One part alone stays as it is.
    """
    if len(parts) < 2:
        return next(iter(parts.values()), Part())
    names = dict.fromkeys(name for part in parts.values() for name in part.tables)
    return Part(
        tuple(
            replace(section, name=f"{section.name}-{number}", title=f"{section.title}: {condition}")
            for number, (condition, part) in enumerate(parts.items(), start=1)
            for section in part.sections
        ),
        {
            name: pl.concat(
                [
                    part.tables[name].select(pl.lit(condition).alias("condition"), pl.all())
                    for condition, part in parts.items()
                    if name in part.tables
                ],
                how="diagonal",
            )
            for name in names
        },
        tuple(f"{condition}: {note}" for condition, part in parts.items() for note in part.notes),
        {
            f"{title}: {condition}": reason
            for condition, part in parts.items()
            for title, reason in part.missing.items()
        },
    )


def interval_text(name: str, digits: int = 2) -> pl.Expr:
    """A column with its interval, as text for a table. name: of the column; its ends have the endings _lo and _hi."""
    parts = pl.struct(value=name, lo=f"{name}_lo", hi=f"{name}_hi")
    return parts.map_elements(
        lambda row: with_interval(row["value"], row["lo"], row["hi"], digits), return_dtype=pl.String
    ).alias(name)
