"""Curves of a report: told apart where there are few, summed up where there are many."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from liescope.benchmark.analyses.analysis_figures import MOST, Curves


def drawn(series: int, days: int) -> Figure:
    rows = [(f"cell {n}", day, n / series) for n in range(series) for day in range(1, days + 1)]
    table = pl.DataFrame(rows, ["cell", "day", "mean"], orient="row")
    colours = dict.fromkeys(table["cell"], "#0072B2")
    return Curves("day", ("day", "share"), "cell", "", colours)(table)


def test_curves_of_one_colour_differ_in_their_strokes() -> None:
    (panel,) = drawn(3, days=4).axes
    assert len({line.get_linestyle() for line in panel.lines}) == 3


def test_of_many_curves_the_median_and_the_ends_are_shown_and_named() -> None:
    figure = drawn(MOST + 4, days=4)
    (panel,) = figure.axes
    assert [line.get_ydata()[0] for line in panel.lines] == [0.45, 0.0, 0.9]
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["median of the cells, middle half shaded", "cell 0", "cell 9"]


def test_days_are_whole_and_a_single_day_is_still_seen() -> None:
    for series in (2, MOST + 1):
        (panel,) = drawn(series, days=1).axes
        assert all(line.get_marker() == "o" for line in panel.lines)
        assert all(float(tick).is_integer() for tick in panel.get_xticks())
    (panel,) = drawn(2, days=3).axes
    assert all(float(tick).is_integer() for tick in panel.get_xticks())
