"""The page of every report in a real browser: its tables sort by click and key, and it is dark if wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from liescope.common.colours import INK
from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Report, ReportTable, Section
from liescope.common.report.files import page_html
from tests.common.browser import Chromium, chromium

HEADS = ("model", "m", "rate", "games")
ROWS = [
    ("gpt-10", -0.5, "0.50 (0.40 to 0.60)", 1200),
    ("gpt-4", None, "–", 30),
    ("Claude", 0.25, "0.07 (-0.10 to 0.20)", 400),
    ("ÆON", 12.0, "-0.20 (-0.30 to -0.10)", 5),
]
AS_WRITTEN = ["gpt-10", "gpt-4", "Claude", "ÆON"]
ORDER = "[...document.querySelectorAll('tbody tr')].map((row) => row.cells[0].textContent)"
SORTED = "[...document.querySelectorAll('th')].map((head) => head.getAttribute('aria-sort'))"
CLICK = "document.querySelectorAll('th button')[{}].click()"
LINES = """
[...document.querySelectorAll("section p, td")].map((node) => {
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT), range = document.createRange();
  while (!texts.nextNode().data.includes("--without"));
  range.setStart(texts.currentNode, texts.currentNode.data.indexOf("--without"));
  range.setEnd(texts.currentNode, texts.currentNode.data.length);
  return new Set([...range.getClientRects()].map((rect) => rect.top)).size;
})
"""
LUMINANCE = """
(() => {
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => linear(part / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    return /, 0\\)$/.test(colour) ? ground(node.parentElement) : colour;
  };
  return [...document.querySelectorAll("h1, p, a, th, td, summary, button, code")].map((node) => {
    const [dark, light] = [ground(node), getComputedStyle(node).color].map(luminance).sort((a, b) => a - b);
    return [node.outerHTML.slice(0, 60), (light + 0.05) / (dark + 0.05)];
  });
})()
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    figure = svg(dots_with_intervals([Dot("one", 0.5, 0.4, 0.6)], "share"), "dots")
    wide = ReportTable([f"column {n}" for n in range(30)], [range(30)])
    sections = (
        Section("one", "One", ("Words.",), "How to read it.", figure, table=ReportTable(HEADS, ROWS), file="one.csv"),
        Section("two", "Two", table=wide, folded=True),
        Section("three", "Three", ("Nothing.",)),
    )
    path = tmp_path_factory.mktemp("page") / "report.html"
    told = Report("What was found", ("One.", "Two."), notes=("Scripted.",), meta="Meta.", sections=sections)
    path.write_text(page_html(told), encoding="utf-8")
    return path


class Driven:
    """One page at a time. errors: what its console or its policy complained about since it was opened."""

    def __init__(self, browser: Chromium) -> None:
        self.errors: list[str] = []
        self._page = browser.new_context(self.errors).new_page()

    def open(self, page: Path, width: int = 1280, dark: bool = False, media: str = "screen") -> None:
        """Show a page in a window of this width."""
        self._page.set_viewport_size({"width": width, "height": 844})
        self._page.emulate_media(media=media, color_scheme="dark" if dark else "light")
        self.errors.clear()
        self._page.goto(page.resolve().as_uri())

    def ask(self, script: str) -> Any:
        """The value of an expression in the page, or what its promise brings."""
        return self._page.evaluate(script)

    def press(self, key: str) -> None:
        """Press a key where the focus is."""
        self._page.keyboard.press(key)


@pytest.fixture(scope="module")
def browser() -> Iterator[Driven]:
    with chromium() as browser:
        yield Driven(browser)


def test_a_click_sorts_a_table_each_way_and_the_third_brings_it_back(browser: Driven, page: Path) -> None:
    browser.open(page)
    for column, first in (
        (0, ["ÆON", "Claude", "gpt-4", "gpt-10"]),
        (1, ["ÆON", "Claude", "gpt-10", "gpt-4"]),
        (2, ["gpt-10", "Claude", "ÆON", "gpt-4"]),
        (3, ["gpt-10", "Claude", "gpt-4", "ÆON"]),
    ):
        seen = []
        for _ in range(3):
            browser.ask(CLICK.format(column))
            seen.append((browser.ask(ORDER)[:4], browser.ask(SORTED)[column]))
        ways = ["ascending", "descending"] if column == 0 else ["descending", "ascending"]
        gaps = [name for name in first if name == "gpt-4" and column in (1, 2)]
        back = [name for name in reversed(first) if name not in gaps] + gaps
        assert seen == [(first, ways[0]), (back, ways[1]), (AS_WRITTEN, None)]
    browser.ask(CLICK.format(1))
    browser.ask(CLICK.format(3))
    assert [way for way in browser.ask(SORTED) if way] == ["descending"]
    assert browser.errors == []


def test_a_table_is_sorted_without_a_mouse(browser: Driven, page: Path) -> None:
    browser.open(page)
    for _ in range(12):
        browser.press("Tab")
        if browser.ask("document.activeElement.textContent") == "m":
            break
    assert browser.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.press("Enter")
    assert browser.ask(ORDER)[:2] == ["ÆON", "Claude"]
    browser.press(" ")
    assert browser.ask(ORDER)[0] == "gpt-10"
    assert browser.errors == []


def test_a_script_that_got_into_the_page_is_not_run(browser: Driven, page: Path, tmp_path: Path) -> None:
    html = page.read_text(encoding="utf-8").replace("<h1>", "<script>document.title = 'got in'</script><h1>")
    (tmp_path / "changed.html").write_text(html, encoding="utf-8")
    browser.open(tmp_path / "changed.html")
    assert browser.ask("document.title") == "What was found"
    assert any("Content Security Policy" in error for error in browser.errors)


@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_never_scrolls_sideways_a_wide_table_says_that_it_goes_on_and_its_text_has_contrast(
    browser: Driven, page: Path, width: int
) -> None:
    said = "[...document.querySelectorAll('.scroll')].map((at) => getComputedStyle(at, '::before').content.length > 9)"
    for dark in (False, True):
        browser.open(page, width, dark)
        browser.ask("document.querySelectorAll('details').forEach((folded) => (folded.open = true))")
        assert browser.ask("document.documentElement.scrollWidth") <= width
        assert browser.ask(f"new Promise((done) => setTimeout(() => done({said}), 200))") == [width < 500, True]
        contrasts = browser.ask(LUMINANCE)
        assert contrasts
        assert [(words, contrast) for words, contrast in contrasts if contrast < 4.5] == []


def test_no_figure_is_higher_than_the_screen_until_it_is_opened(browser: Driven, tmp_path: Path) -> None:
    high = [svg(dots_with_intervals([Dot(f"row {n}", 0.5) for n in range(rows)], "share"), "d") for rows in (24, 90)]
    sections = tuple(Section(f"s{n}", "S", figure=figure) for n, figure in enumerate(high))
    (tmp_path / "page.html").write_text(page_html(Report("Found", ("One.",), sections=sections)), encoding="utf-8")
    heights = "[...document.images].map((img) => (img.closest('.cut') || img).getBoundingClientRect().height)"
    for width in (390, 1280):
        browser.open(tmp_path / "page.html", width)
        assert max(browser.ask(heights)) <= 844
        browser.ask("document.querySelector('.tall details').open = true")
        assert browser.ask(heights)[1] > 844


def test_the_name_of_an_option_is_never_broken(browser: Driven, tmp_path: Path) -> None:
    """A browser may end a line after any hyphen, so a page could say "-" and "-without"."""
    rows = [(f"{'x' * 30} {'a ' * count}--without",) for count in range(40)]
    sections = (
        Section("one", "One", tuple(words for (words,) in rows), table=ReportTable(("words",), rows), folded=True),
    )
    (tmp_path / "page.html").write_text(page_html(Report("Found", ("One.",), sections=sections)), encoding="utf-8")
    browser.open(tmp_path / "page.html", 390)
    browser.ask("document.querySelector('details').open = true")
    assert browser.ask(LINES) == [1] * 80


def test_a_dark_page_shows_its_figures_with_light_ink_and_prints_as_a_light_one(browser: Driven, page: Path) -> None:
    ground, figure = (
        "getComputedStyle(document.{}).{}".format(*of) for of in (("body", "backgroundColor"), ("images[0]", "filter"))
    )
    browser.open(page, dark=True)
    assert browser.ask(ground) != "rgb(255, 255, 255)"
    assert "invert" in browser.ask(figure)
    browser.open(page, dark=True, media="print")
    assert browser.ask(ground) == "rgb(255, 255, 255)"
    assert browser.ask(figure) == "none"


@pytest.mark.usefixtures("drawn")
def test_a_figure_has_dark_ink_and_no_ground() -> None:
    drawn = svg(dots_with_intervals([Dot("one", 0.5, 0.4, 0.6)], "share"), "dots")
    ground = re.search(r'<g id="patch_1">\s*<path d="[^"]*" style="([^"]*)"', drawn)
    assert ground[1] == "fill: none"
    assert INK in drawn
