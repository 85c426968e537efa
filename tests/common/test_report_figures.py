"""Figures of reports: text that a phone can show, labels that break only where they may, the same bytes each time."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from liescope.common.colours import model_colours
from liescope.common.figures import Dot, MatrixCell, dots_with_intervals, lines, matrix, svg
from tests.common.svg_text import smallest_text

pytestmark = pytest.mark.usefixtures("drawn")
MODELS = ["gpt-4.1-mini", "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", r"$\no_such{formula$ <script>", "x" * 90]


def dots() -> str:
    rows = [
        Dot(model, 0.5, 0.4, 0.6, series, facet)
        for facet in ("heard", "never heard")
        for model in MODELS
        for series in ("tfidf", "villagers")
    ]
    return svg(dots_with_intervals([*rows, Dot("silent", None)], "AUROC", model_colours(MODELS), 0.5), "dots")


def cells() -> str:
    held = {(one, other): MatrixCell(0.1, 0.05, 0.3, one == other) for one in MODELS for other in MODELS}
    return svg(matrix(MODELS, MODELS * 2, held, "AUROC", middle=0.5, row_axis="train", column_axis="test"), "cells")


@pytest.mark.parametrize("draw", [dots, cells])
def test_text_is_nine_pixels_high_on_a_phone(draw: Callable[[], str]) -> None:
    assert smallest_text(draw()) >= 9


@pytest.mark.parametrize("draw", [dots, cells])
def test_a_figure_is_the_same_bytes_each_time_and_holds_no_markup_of_a_name(draw: Callable[[], str]) -> None:
    drawn = draw()
    assert drawn == draw()
    assert "<script" not in drawn


def test_labels_break_at_spaces_and_behind_marks_alone() -> None:
    name = "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf"
    assert lines(name, 16).split("\n") == ["Meta-Llama-3.1-", "8B-Instruct-Q4_", "K_M.gguf"]
    assert lines("mafia, scripted:bold", 12).split("\n") == ["mafia,", "scripted:", "bold"]
    assert max(map(len, lines("y" * 400, 20).split("\n"))) <= 60


def test_a_cell_says_its_interval() -> None:
    assert MatrixCell(0.731, 0.657, 1.0).text == "0.73\n.66–1.00"
    assert MatrixCell(-0.1, -0.2, 0.02).text == "-0.10\n-.20 to .02"
    assert MatrixCell(0.5).text == "0.50"


def test_columns_that_do_not_fit_go_on_below() -> None:
    wide = {("a", str(n)): MatrixCell(0.5, 0.4, 0.6) for n in range(20)}
    figure = matrix(["a"], [str(n) for n in range(20)], wide, "share")
    panels = [axes for axes in figure.axes if axes.get_ylabel() == "" and axes.get_xlabel() != "share"]
    shown = [tick.get_text() for panel in panels for tick in panel.get_xticklabels()]
    assert shown == [str(n) for n in range(20)]
    assert len(panels) > 1
    assert [axes.get_xlabel() for axes in figure.axes].count("share") == 1


def test_names_of_figures_keep_their_shapes_apart() -> None:
    figure = dots_with_intervals([Dot("a", 0.5, 0.4, 0.6)], "share")
    one, two = (set(re.findall(r'id="([mp][0-9a-f]{10})"', svg(figure, name))) for name in ("one", "two"))
    assert one
    assert not one & two
