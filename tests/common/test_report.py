"""The page of a report: three findings first, a figure, sections; whole, escaped, and in need of nothing else."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import polars as pl
import pytest

from liescope.common.errors import UsageError
from liescope.common.report.contents import (
    FIGURES,
    MISSING,
    Column,
    Report,
    ReportTable,
    Section,
    markdown,
    shown,
    terminal,
    with_interval,
)
from liescope.common.report.files import check_report_folder, page_html, write

HOSTILE = '<script>alert("x")</script>"\'> & <img src=http://evil.example> \x1b[31m'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"></svg>'
FINDINGS = ("One was found.", "Two was found.", "Three was found.")


def page(**changes: object) -> Report:
    sections = (
        Section(
            "one", "One", ("Words.",), figure=SVG, table=ReportTable(("model", "share"), [("a", 0.5), ("b", None)])
        ),
        Section("two", "Two", table=pl.DataFrame({"n": range(30)}), source="Table 1", file="tables/two.csv"),
        Section("three", "Three", ("Nothing to count.",)),
    )
    return Report(**{"title": "What was found", "findings": FINDINGS, "figure": SVG, "sections": sections, **changes})  # type: ignore[arg-type]


def test_the_answer_comes_first_with_its_warning_and_its_figure_then_the_rest() -> None:
    html = page_html(page(notes=("Scripted.", "Reworded.")))
    one, *more = FINDINGS
    order = (one, "Scripted.", "<img", *more, "Reworded.", '<h2 id="one">', '<h2 id="two">')
    places = [html.index(words) for words in order]
    assert places == sorted(places)


def drawn(name: str, chapter: str = "", main: bool = True) -> Section:
    return Section(name, name.capitalize(), figure=SVG, chapter=chapter, main=main)


def test_a_page_of_many_figures_shows_ten_and_folds_the_others_into_an_appendix() -> None:
    sections = [drawn(f"a{n}", "First", main=n > 3) for n in range(12)] + [drawn(f"b{n}", "Second") for n in range(2)]
    told = page(sections=(*sections, Section("words", "Words"), Section("aside", "Aside", main=False)))
    short, rest = told.in_short
    assert sum(bool(section.figure) for section in short) == FIGURES - 1  # and that of the findings
    assert [section.name for section in short] == ["a4", "a5", "a6", "a7", "a8", "a9", "a10", "b0", "b1", "words"]
    assert [section.name for section in rest] == ["a0", "a1", "a2", "a3", "a11", "aside"]
    html = page_html(told)
    shown, folded = html.split('<h2 class="chapter" id="appendix">')
    assert shown.count("<img") == FIGURES
    assert folded.count("<img") == 5
    assert "6 more sections, with 5 figures" in folded
    assert set(re.findall(r'href="#([^"]*)', html)) == set(re.findall(r' id="([^"]*)', html))
    ten = page(sections=sections[: FIGURES - 1])
    assert ten.in_short == (ten.sections, ())


def test_text_from_outside_stays_text_wherever_it_stands() -> None:
    section = Section(
        "s",
        HOSTILE,
        (HOSTILE,),
        HOSTILE,
        SVG,
        HOSTILE,
        ReportTable((HOSTILE,), [(HOSTILE,)]),
        source=HOSTILE,
        file=HOSTILE,
    )
    html = page_html(Report(HOSTILE, (HOSTILE, HOSTILE, HOSTILE), SVG, HOSTILE, (HOSTILE,), HOSTILE, (section,) * 3))
    assert html.count("<script") == 1
    assert "\x1b" not in html
    assert html.count("<img") == 4
    assert set(re.findall(r'src="(.{5})', html)) == {"data:"}


def test_a_page_allows_no_script_but_its_own() -> None:
    html = page_html(page())
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    assert "default-src 'none'" in html
    assert not re.search(r"@import|url\(|<link|<script[^>]", html)


def test_a_page_is_complete_without_its_script() -> None:
    html = re.sub("<script>.*</script>", "", page_html(page()), flags=re.DOTALL)
    assert [f'<td class="number">{n}</td>' in html for n in range(30)] == [True] * 30
    assert "<button" not in html


def test_long_tables_and_those_that_ask_for_it_are_folded() -> None:
    html = page_html(page())
    assert "Table of 30 rows" in html
    assert html.count("<details>") == 1
    short = Section("a", "A", table=ReportTable(("n",), [(1,)]), folded=True)
    assert "Table of 1 row<" in page_html(page(sections=(short,)))
    rows = ReportTable(("n",), [(n,) for n in range(100)])
    cells = [page_html(page(sections=(Section("a", "A", table=rows, folded=whole),))).count("<td") for whole in (0, 1)]
    assert cells == [60, 100]


def test_words_may_break_only_behind_a_mark() -> None:
    html = page_html(page(title="Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf"))
    assert "<h1>Meta-<wbr>Llama-<wbr>3.1-<wbr>8B-<wbr>Instruct-<wbr>Q4_<wbr>K_<wbr>M.gguf</h1>" in html
    assert "<title>Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf</title>" in html
    assert "<wbr>" not in page_html(page(title="gpt-4.1-mini"))


def test_values_are_shown_rounded_and_what_is_not_there_as_a_dash() -> None:
    values = (0.12345, 1234.5678, 3, True, None, float("nan"), ["a", "b"])
    assert [shown(value) for value in values] == ["0.123", "1234.6", "3", "yes", "–", "–", "a; b"]


def test_a_number_is_said_with_its_interval() -> None:
    assert with_interval(0.7349, 0.65, 0.8) == "0.73 (0.65 to 0.80)"
    assert with_interval(0.7349, None, None, ".1f") == "0.7"
    assert with_interval(-0.001, -0.1, 0.1) == "0.00 (-0.10 to 0.10)"
    assert with_interval(None, None, None) == "–"


def scores() -> ReportTable:
    frame = pl.DataFrame({"model": ["b", "a"], "m": [2.0, 0.123], "m_lo": [1.0, -0.001], "m_hi": [3.0, 0.5]})
    return ReportTable.of(frame, (Column("condition"), Column("model"), Column("m", "deceives", interval=True)))


def test_a_table_shows_the_declared_columns_that_a_frame_has_with_their_intervals() -> None:
    told = Report("Found", sections=(Section("one", "One", table=scores(), printed=True),))
    assert markdown(told).splitlines()[-4:] == [
        "| model | deceives |",
        "| --- | --- |",
        "| b | 2.00 (1.00 to 3.00) |",
        "| a | 0.12 (0.00 to 0.50) |",
    ]
    assert "2.00 (1.00 to 3.00)" in page_html(told)
    assert any(line.split() == ["b", "2.00", "(1.00", "to", "3.00)"] for line in terminal(told))


def test_sections_of_several_chapters_are_told_apart_on_a_terminal() -> None:
    sections = [Section(f"s{n}", "All", chapter=f"Target {n}", printed=True) for n in (1, 1, 2)]
    assert [line for line in terminal(Report("Found", sections=tuple(sections))) if line] == [
        *("Target 1", "All", "All", "Target 2", "All")
    ]
    assert "Target 1" not in list(terminal(Report("Found", sections=tuple(sections[:2]))))


def test_lines_on_a_terminal_are_narrow_and_safe() -> None:
    wide = ReportTable([f"column {n}" for n in range(9)], [[HOSTILE] * 9])
    told = Report(
        "Found", (HOSTILE * 9,), notes=(HOSTILE,), sections=(Section("one", HOSTILE, table=wide, printed=True),)
    )
    lines = [part for line in terminal(told) for part in line.splitlines()]
    assert max(map(len, lines)) <= 79
    assert "\x1b" not in "".join(lines)


def test_a_report_is_replaced_by_another_and_nothing_else_is(tmp_path: Path) -> None:
    out = tmp_path / "report"
    table = pl.DataFrame({"name": ["=HYPERLINK(evil)"], "n": [1]})
    one = Report("Found", tables={"one": table}, files={"data.json": {"n": 1}, "frame.parquet": table})
    names = {"report.html", "report.md", "tables/one.csv", "data.json", "frame.parquet"}
    assert {path.relative_to(out).as_posix() for path in write(one, out, tables_in="tables")} == names
    assert (out / "tables" / "one.csv").read_text(encoding="utf-8") == "name,n\n'=HYPERLINK(evil),1\n"
    assert pl.read_parquet(out / "frame.parquet").equals(table)
    write(Report("Found again"), out)
    assert {path.name for path in out.iterdir()} == {"report.html", "report.md"}
    with pytest.raises(UsageError, match="add --overwrite"):
        check_report_folder(out, overwrite=False)
    (out / "mine.txt").write_text("kept", encoding="utf-8")
    with pytest.raises(UsageError, match="is not a report"):
        write(one, out)
    assert (out / "mine.txt").exists()


def test_a_secret_of_this_machine_is_never_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-0123456789abcdef")
    with pytest.raises(UsageError, match="SOME_API_KEY"):
        write(Report("Found", ("It is sk-0123456789abcdef.",)), tmp_path / "report")
    assert not (tmp_path / "report").exists()


def test_what_is_missing_is_told_last_with_its_reason() -> None:
    frame = pl.DataFrame({"n": [1]})
    part = Report(sections=(Section("one", "One"),), missing={"Two": "too few"}, tables={"one": frame})
    assert [section.title for section in part.shown_sections] == ["One", MISSING]
    assert part.to_json()["missing"] == {"Two": "too few"}
    assert part.to_json()["tables"]["one"] == {"columns": ["n"], "rows": [[1]]}
