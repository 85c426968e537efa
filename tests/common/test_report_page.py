"""The page of a report: three findings first, a figure, sections; whole, escaped, and in need of nothing else."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import polars as pl

from liescope.common.report_page import Page, Section, Table, page_html, shown, with_interval, write_page

HOSTILE = '<script>alert("x")</script>"\'> & <img src=http://evil.example> \x1b[31m'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>'
FINDINGS = ("One was found.", "Two was found.", "Three was found.")


def page(**changes: object) -> Page:
    sections = (
        Section("one", "One", ("Words.",), figure=SVG, table=Table(("model", "share"), [("a", 0.5), ("b", None)])),
        Section("two", "Two", table=pl.DataFrame({"n": range(30)}), source="Table 1", file="tables/two.csv"),
        Section("three", "Three", ("Nothing to count.",)),
    )
    return Page(**{"title": "What was found", "findings": FINDINGS, "figure": SVG, "sections": sections, **changes})  # type: ignore[arg-type]


def test_the_findings_come_first_then_the_warnings_then_the_figure_then_the_sections() -> None:
    html = page_html(page(warnings=("Scripted.",)))
    places = [html.index(words) for words in (*FINDINGS, "Scripted.", "<img", '<h2 id="one">', '<h2 id="two">')]
    assert places == sorted(places)


def test_text_from_outside_stays_text_wherever_it_stands() -> None:
    section = Section(
        "s", HOSTILE, (HOSTILE,), HOSTILE, SVG, HOSTILE, Table((HOSTILE,), [(HOSTILE,)]), source=HOSTILE, file=HOSTILE
    )
    html = page_html(Page(HOSTILE, (HOSTILE, HOSTILE, HOSTILE), SVG, HOSTILE, (HOSTILE,), HOSTILE, (section,) * 3))
    assert html.count("<script") == 1
    assert "\x1b" not in html
    assert html.count("<img") == 4
    assert set(re.findall(r'src="(.{5})', html)) == {"data:"}


def test_a_page_asks_for_nothing_outside_itself() -> None:
    html = page_html(page())
    assert set(re.findall(r'(?:src|href)="(data:image/svg\+xml|#|[^"]*)', html)) == {"data:image/svg+xml", "#"}
    assert not re.search(r"@import|url\(|<link|<script[^>]", html)


def test_a_page_allows_no_script_but_its_own() -> None:
    html = page_html(page())
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    assert "default-src 'none'" in html


def test_a_page_is_complete_without_its_script() -> None:
    html = re.sub("<script>.*</script>", "", page_html(page()), flags=re.DOTALL)
    assert [f'<td class="number">{n}</td>' in html for n in range(30)] == [True] * 30
    assert "<button" not in html


def test_long_tables_and_those_that_ask_for_it_are_folded() -> None:
    html = page_html(page())
    assert "Table of 30 rows" in html
    assert html.count("<details>") == 1
    short = Section("a", "A", table=Table(("n",), [(1,)]), folded=True)
    assert "Table of 1 row<" in page_html(page(sections=(short,)))


def test_words_may_break_only_behind_a_mark() -> None:
    html = page_html(page(title="Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf"))
    assert "<h1>Meta-<wbr>Llama-<wbr>3.1-<wbr>8B-<wbr>Instruct-<wbr>Q4_<wbr>K_<wbr>M.gguf</h1>" in html
    assert "<title>Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf</title>" in html
    assert "<wbr>" not in page_html(page(title="gpt-4.1-mini"))


def test_a_written_page_is_the_page(tmp_path: Path) -> None:
    write_page(tmp_path / "report.html", page())
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page_html(page())


def test_values_are_shown_rounded_and_what_is_not_there_as_a_dash() -> None:
    values = (0.12345, 1234.5678, 3, True, None, float("nan"), ["a", "b"])
    assert [shown(value) for value in values] == ["0.123", "1234.6", "3", "yes", "–", "–", "a; b"]


def test_a_number_is_said_with_its_interval() -> None:
    assert with_interval(0.7349, 0.65, 0.8) == "0.73 (0.65 to 0.80)"
    assert with_interval(0.7349, None, None, 1) == "0.7"
    assert with_interval(-0.001, -0.1, 0.1) == "0.00 (-0.10 to 0.10)"
    assert with_interval(None, None, None) == "–"
