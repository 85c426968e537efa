"""What a table of many rows allows one to say: p-values of its rows, corrected for how many there are.

Of a hundred intervals of 95%, five leave the truth out. So a table whose rows are read against zero says for each row
how likely such a figure is without any difference, corrected for all rows of the table (Holm 1979); and one whose rows
are read against each other says whether they differ at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from scipy.special import fdtrc, stdtrit

from liescope.benchmark.analyses.conditions_of_play import GAME, POOLED
from liescope.common.statistics import LEVEL, Floats, holm, p_value

LEAST = 0.001
"""What a smaller p is printed as: the methods promise no more."""
SMALLER = f"A p below {LEAST:g} is printed as {LEAST:g}."


@dataclass(frozen=True, slots=True)
class Zero:
    """Every row is read against zero. figure: the column; draws: columns that count the independent draws behind a row,
    of which the least counts; rest: of the bounds' names after the figure's, where they are not lo and hi.
    """

    figure: str = "difference"
    draws: tuple[str, ...] = ("games",)
    own_bounds: bool = False

    def added(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with the columns p and p_holm, named after the figure where its bounds are."""
        before = f"{self.figure}_" if self.own_bounds else ""
        least = pl.min_horizontal(self.draws)
        rows = table.select(self.figure, f"{before}lo", f"{before}hi", least.alias("_draws")).iter_rows()
        found = [
            None if value is None or draws is None else p_value(value, (lo, hi), draws) for value, lo, hi, draws in rows
        ]
        return table.with_columns(
            _printed(f"{before}p", found),
            _printed(f"{before}p_holm", holm(found)),
        )

    def words(self, table: pl.DataFrame) -> str:
        name = f"{self.figure} p" if self.own_bounds else "p"
        tests = table.drop_nulls(f"{self.figure}_p" if self.own_bounds else "p").height
        return (
            f"{name}: of so large a figure without any difference; {name} holm: corrected for the {tests} rows of this "
            "table that have one (Holm)."
        )


@dataclass(frozen=True, slots=True)
class Alike:
    """Rows of one panel are read against each other. within: the columns that make a panel; by: the column in which its
    rows differ, and which take no other's games; figure: the column compared; draws: as in `Zero`.
    """

    within: tuple[str, ...]
    figure: str = "mean"
    by: str = "model"
    draws: tuple[str, ...] = ("games",)

    def added(self, table: pl.DataFrame) -> pl.DataFrame:
        """The table with the column p_equal: of panels as uneven if their rows were equal, corrected for all panels."""
        keys = [*GAME, *self.within]
        read = table.filter(pl.col(self.by) != POOLED).with_columns(_draws=pl.min_horizontal(self.draws))
        panels, found = [], []
        for key, part in read.drop_nulls([self.figure, "lo", "hi"]).group_by(keys, maintain_order=True):
            panels.append(key)
            found.append(_welch(*(part[name].to_numpy().astype(float) for name in (self.figure, "lo", "hi", "_draws"))))
        schema = {name: table.schema[name] for name in keys}
        equal = pl.DataFrame(panels, schema, orient="row").with_columns(_printed("p_equal", holm(found)))
        joined = table.join(equal, on=keys, how="left", nulls_equal=True, maintain_order="left")
        return joined.with_columns(pl.when(pl.col(self.by) != POOLED).then("p_equal"))

    def words(self, table: pl.DataFrame) -> str:
        keys = [name for name in (*GAME, *self.within) if name in table.columns]
        panels = table.drop_nulls("p_equal").select(keys).unique().height
        within = ", ".join(name.replace("_", " ") for name in self.within)
        return (
            f"p equal: of rows as uneven within the same {within} if every {self.by} had the same (Welch's test), "
            f"corrected for the {panels} such comparisons of this table (Holm)."
        )


Correction = Zero | Alike


def _welch(values: Floats, lo: Floats, hi: Floats, draws: Floats) -> float | None:
    """The p of Welch's test that several independent figures are equal, their errors read off their intervals; None for
    fewer than two.
    """
    rows = len(values)
    if rows < 2 or (draws < 2).any() or (hi <= lo).any():
        return None
    weights = (2 * stdtrit(draws - 1, 0.5 + LEVEL / 2) / (hi - lo)) ** 2
    middle = float(weights @ values / weights.sum())
    spread = float(weights @ (values - middle) ** 2) / (rows - 1)
    uneven = float(((1 - weights / weights.sum()) ** 2 / (draws - 1)).sum()) / (rows**2 - 1)
    return float(fdtrc(rows - 1, 1 / (3 * uneven), spread / (1 + 2 * (rows - 2) * uneven)))


def _printed(name: str, values: Sequence[float | None]) -> pl.Series:
    return pl.Series(name, [None if value is None else max(value, LEAST) for value in values], pl.Float64)
