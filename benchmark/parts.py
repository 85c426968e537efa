"""A part of a report: what one method found, as sections of a page and as tables for files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

from liescope.common.report_page import Section


@dataclass(frozen=True, slots=True)
class Part:
    """sections: of the page, in order; tables: by the name of their file without its ending; notes: sentences that must
    accompany them; missing: what these games cannot show, by the title that it would have, with the reason.
    """

    sections: tuple[Section, ...] = ()
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
