"""Figures: text that a phone can show, labels that break where they may, the same bytes, a colour for each model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from liescope.common.colours import MODELS, model_colours, text_on
from liescope.common.figures import Dot, MatrixCell, dots_with_intervals, lines, matrices, svg
from tests.benchmark.published import bundled
from tests.common.svg_text import smallest_text

pytestmark = pytest.mark.usefixtures("drawn")
SHOWN = ["gpt-4.1-mini", "Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf", r"$\no_such{formula$ <script>", "x" * 90]


def dots() -> str:
    rows = [
        Dot(model, 0.5, 0.4, 0.6, series, facet)
        for facet in ("heard", "never heard")
        for model in SHOWN
        for series in ("tfidf", "villagers")
    ]
    return svg(dots_with_intervals([*rows, Dot("silent", None)], "AUROC", model_colours(SHOWN), 0.5), "dots")


def cells() -> str:
    held = {(one, other): MatrixCell(0.1, 0.05, 0.3) for one in SHOWN for other in SHOWN}
    return svg(matrices({"": held}, SHOWN, SHOWN * 2, "AUROC", middle=0.5), "cells")


@pytest.mark.parametrize("draw", [dots, cells])
def test_text_is_nine_pixels_high_on_a_phone(draw: Callable[[], str]) -> None:
    assert smallest_text(draw()) >= 9


@pytest.mark.parametrize("draw", [dots, cells])
def test_a_figure_is_the_same_bytes_each_time_and_holds_no_markup_of_a_name(draw: Callable[[], str]) -> None:
    drawn = draw()
    assert drawn == draw()
    assert "<script" not in drawn


def test_a_panel_without_a_number_is_not_drawn() -> None:
    rows = [Dot("a", 0.5, facet="full"), Dot("b", None, facet="full"), Dot("a", None, facet="hollow")]
    assert len(dots_with_intervals(rows, "share").axes) == 1


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
    figure = matrices({"": wide}, ["a"], [str(n) for n in range(20)], "share")
    panels = [axes for axes in figure.axes if axes.get_ylabel() == "" and axes.get_xlabel() != "share"]
    shown = [tick.get_text() for panel in panels for tick in panel.get_xticklabels()]
    assert shown == [str(n) for n in range(20)]
    assert len(panels) > 1
    assert [axes.get_xlabel() for axes in figure.axes].count("share") == 1


NAMES = st.lists(st.text(max_size=20), max_size=20, unique=True)


@settings(max_examples=30)
@given(NAMES)
def test_a_model_has_the_same_colour_in_every_order(names: list[str]) -> None:
    shuffled = sorted(names, reverse=True)
    assert model_colours(names) == model_colours(shuffled)
    assert list(model_colours(names)) == names


@given(NAMES)
def test_models_of_one_page_differ_as_long_as_there_are_colours(names: list[str]) -> None:
    assert len(set(model_colours(names).values())) == min(len(names), len(MODELS))


def test_the_models_of_the_paper_keep_their_colours_whichever_of_them_are_on_a_page() -> None:
    models = bundled("published")["model"].to_list()
    everywhere = model_colours(models)
    assert all(model_colours([name]) == {name: everywhere[name]} for name in models)
    assert len(set(everywhere.values())) == len(models) == 10


def _luminance(colour: tuple[float, ...]) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def test_every_colour_stands_out_from_paper() -> None:
    for code in MODELS:
        rgb = tuple(int(code[at : at + 2], 16) / 255 for at in (1, 3, 5))
        assert 1.05 / (_luminance(rgb) + 0.05) >= 3


@given(st.tuples(*[st.floats(0, 1)] * 3))
def test_text_has_the_contrast_that_print_needs_on_any_colour(colour: tuple[float, float, float]) -> None:
    light, dark = sorted([_luminance(colour), {"#ffffff": 1.0, "#000000": 0.0}[text_on(colour)]], reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5
