"""The report of random games: one page that needs nothing beside itself, and says what it cannot show."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure

from liescope.benchmark.analyses import analysis
from liescope.benchmark.analyses.analysis import MINI_MAFIA, Analysis
from liescope.benchmark.analyses.analysis_registry import ANALYSES
from liescope.benchmark.analyses.findings import notes, overview, page, run_analyses, winners
from liescope.benchmark.analyses.frames import Frames, GameSet, Run, load_frames, settings
from liescope.common.report.contents import Report
from liescope.common.report.files import page_html
from liescope.common.report.plain_text import markdown, markdown_table
from liescope.games.record import GameRecord, Source
from tests.benchmark.random_play import judged, mini_mafia, werewolf
from tests.common.browser import look
from tests.common.without_figures import drawn_figures

HOSTILE = '<script>alert("x")</script> | & <img src=http://evil.example>'
FORMULA = r"$\no_such{formula$"
VOID = {"meta", "img", "br", "hr", "link", "input", "wbr"}


class Read(HTMLParser):
    """What a browser would make of a page: its tags, in balance, its addresses, its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attributes:
            self.ids += [value or ""] if name == "id" else []
            self.addresses += [value or ""] if name in ("href", "src", "srcset", "action", "data") else []
            self.handlers += [name] if name.startswith("on") else []

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def games_set(records: list[GameRecord]) -> GameSet:
    run = Run("runs/one", {"game": "werewolf", "options": {"jesters": 1}, "cells": [["scripted:bold"]]}, {})
    run.finished = len(records)
    return GameSet((run,), load_frames(records), frozenset({Source.SCRIPTED}))


@pytest.fixture(scope="module")
def werewolves() -> GameSet:
    records = [
        werewolf(model, seed, learning) for model in (FORMULA, HOSTILE) for learning in (False, True) for seed in (1, 2)
    ]
    return games_set([judged(replace(game, game_id=f"{game.game_id}-{n}")) for n, game in enumerate(records)])


@pytest.fixture(scope="module")
def findings(werewolves: GameSet) -> Report:
    return run_analyses(ANALYSES, werewolves.frames)


@pytest.fixture(scope="module")
def html(werewolves: GameSet, findings: Report) -> str:
    return page_html(page(werewolves, findings))


def check_whole(html: str) -> None:
    """Asks for nothing outside itself, and text from outside stays text."""
    read = Read(html)
    assert all(address.startswith(("data:image/svg+xml,", "#")) for address in read.addresses)
    assert read.tags.count("script") == 1
    assert not {"link", "iframe", "object", "embed"} & set(read.tags)
    assert not read.handlers
    assert not re.search(r"@import|url\(", html)
    assert "<script>alert" not in html
    assert 'alert("x")' in read.words


def test_the_page_is_whole_and_asks_for_nothing_outside_itself(html: str) -> None:
    check_whole(html)


def test_every_entry_of_the_contents_leads_to_a_section(html: str, findings: Report) -> None:
    read = Read(html)
    targets = [address[1:] for address in read.addresses if address.startswith("#")]
    assert sorted(targets) == sorted(read.ids)
    assert len(set(read.ids)) == len(read.ids)
    assert {section.name for section in findings.sections} < set(read.ids)


def test_scripted_games_are_never_presented_as_a_finding(html: str, werewolves: GameSet) -> None:
    assert "not findings about models or people" in Read(html).words
    assert any("All ratings and reports were given" in note and "8 of 8" in note for note in notes(werewolves))
    assert "not findings" not in " ".join(notes(replace(werewolves, sources=frozenset({Source.MODEL}))))


def test_every_analysis_either_finds_something_or_says_why_not(findings: Report) -> None:
    titles = [section.title for section in findings.sections] + list(findings.missing)
    assert sorted(titles) == sorted(analysis.title for analysis in ANALYSES)
    drawn = {analysis.name for analysis in ANALYSES if analysis.plot}
    for section in findings.sections:
        assert findings.tables[section.name].height
        assert bool(section.figure) == (section.name in drawn)
    assert all(findings.missing.values())


def test_names_of_analyses_are_unique_and_each_says_how_to_read_it() -> None:
    names = [analysis.name for analysis in ANALYSES]
    assert len(set(names)) == len({analysis.title for analysis in ANALYSES}) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)
    assert 5 < sum(analysis.main for analysis in ANALYSES) < len(ANALYSES) / 2
    assert not {"games", "settings", "left-out"} & set(names)
    assert [analysis.name for analysis in ANALYSES if not (analysis.title and analysis.note)] == []


def test_a_section_names_the_paper_of_its_table(html: str, werewolves: GameSet, findings: Report) -> None:
    assert "Table 7, Figure 2 of the Triadic Werewolf paper" in Read(html).words
    assert "(Table 7, Figure 2 of the Triadic Werewolf paper.)" in markdown(page(werewolves, findings))
    assert replace(ANALYSES[0], source="section 4.1", paper=MINI_MAFIA).cited == "section 4.1 of the Mini-Mafia paper"
    assert replace(ANALYSES[0], source="").cited == ""


def test_games_without_a_jester_ratings_or_lessons_are_analysed_as_far_as_they_go() -> None:
    plain = games_set([mini_mafia("m", seed) for seed in range(3)])
    found = run_analyses(ANALYSES, plain.frames, draw=False)
    assert found.sections
    assert found.missing["Lessons by theory-of-mind order"] == "no lesson was learned"
    assert found.missing["Rules and judges on the same lessons"] == "no lesson was learned; no judge tagged lessons"
    words = Read(page_html(page(plain, found))).words
    assert "What these games cannot show" in words
    assert all(title in words for title in found.missing)


def test_a_cell_that_mixes_what_does_not_belong_together_is_named() -> None:
    one, two = werewolf("a", 1), replace(werewolf("a", 2), game_id="two")
    assert not any("mixture" in note for note in notes(games_set([one, two])))
    mixed = notes(games_set([one, judged(two)]))
    assert any("Some ratings and reports were given by a judge" in note and "1 of 2 games" in note for note in mixed)
    fixed = replace(two, meta={**two.meta, "seating": "fixed"})
    assert any("different ways of seating" in note for note in notes(games_set([one, fixed])))


def test_a_single_game_is_enough_for_a_report() -> None:
    one = games_set([werewolf("a", 1)])
    found = run_analyses(ANALYSES, one.frames)
    assert found.sections
    assert len(found.sections) + len(found.missing) == len(ANALYSES)
    words = Read(page_html(page(one, found))).words
    assert all(section.title in words for section in found.sections)
    assert all(title in words and reason in words for title, reason in found.missing.items())


def test_an_analysis_is_not_called_without_what_it_needs(werewolves: GameSet) -> None:
    def never(frames: Frames) -> pl.DataFrame:
        raise AssertionError("called")

    def nothing(frames: Frames) -> pl.DataFrame:
        return frames.games.clear()

    empty = replace(werewolves.frames, ratings=werewolves.frames.ratings.clear())
    analyses = [
        Analysis("a", "A", never, needs=(analysis.RATINGS, analysis.with_and_without("jester"))),
        Analysis("b", "B", nothing, needs=(analysis.SAID,), otherwise="all of it was said by one"),
    ]
    reasons = run_analyses(analyses, empty).missing.values()
    assert list(reasons) == ["no statement was rated; a jester was dealt in every game", "all of it was said by one"]


def test_the_overview_and_the_headline_count_every_game_once(werewolves: GameSet) -> None:
    table = overview(werewolves.frames)
    assert table["games"].sum() == werewolves.frames.games.height == 8
    assert table.height == 4
    assert sum(winners(werewolves.frames)["werewolf"].values()) == 8


def test_more_models_than_a_figure_has_room_for_are_left_to_the_table() -> None:
    def table(frames: Frames) -> pl.DataFrame:
        return pl.DataFrame({"model": [f"m{n}" for n in range(55)]})

    def plot(table: pl.DataFrame) -> Figure:
        raise AssertionError("drawn")

    many = games_set([mini_mafia("m", 1)])
    shown = page_html(page(many, run_analyses([Analysis("a", "A", table, plot)], many.frames)))
    assert "too many models for a figure" in shown
    assert "m54" in shown


def test_a_table_of_markdown_holds_its_cells_whatever_they_hold() -> None:
    table = pl.DataFrame({"model": ["a|b\nc <b>"], "share": [0.5]})
    assert markdown_table(table).splitlines() == [
        "| model | share |",
        "| --- | ---: |",
        r"| a\|b c &lt;b&gt; | 0.500 |",
    ]


def test_settings_are_flat_and_name_the_run() -> None:
    plan = {"game": "werewolf", "options": {"jesters": 1, "names": []}, "cells": [["a", "a"], ["a", "b"]], "seed": 3}
    rows = settings([Run("runs/x", plan, {"python": "3.11"})])
    assert dict(rows.select("setting", "value").iter_rows()) == {
        "game": "werewolf",
        "options.jesters": "1",
        "options.names": "none",
        "cells": "2: a; a, b",
        "seed": "3",
        "bids": "whole numbers from 0 to 10; one that cannot be read counts as 0",
        "version of python": "3.11",
    }
    assert set(rows["run"]) == {"runs/x"}


@pytest.mark.parametrize(("game", "unset"), [("werewolf", "1, as the paper"), ("mini-mafia", "the provider's default")])
def test_settings_say_how_each_model_was_asked_where_nothing_was_set_too(game: str, unset: str) -> None:
    models = ["openai:m?temperature.vote=0&top_p=0.5", "openai:n?temperature=0.3", "scripted:bold"]
    rows = dict(
        settings([Run("x", {"game": game, "players": models, "cells": [models]}, {})])["setting", "value"].rows()
    )
    assert rows["temperature of m"].startswith(f"0 (temperature.vote); {unset}")
    assert rows["temperature of n"] == "0.3 (temperature)"
    assert (rows["top_p of m"], rows["top_p of n"]) == ("0.5 (top_p)", "the provider's default")
    assert rows["max_tokens of n"] == "not set: the provider's default"
    assert not [name for name in rows if "bold" in name]


@pytest.mark.long
def test_the_page_fits_a_phone_and_nothing_in_its_figures_is_small_cut_off_or_covered(
    werewolves: GameSet, tmp_path: Path
) -> None:
    with drawn_figures():
        findings = run_analyses(ANALYSES, werewolves.frames)
    html = page_html(page(werewolves, findings))
    check_whole(html)
    seen = look({"report": html}, tmp_path)["report"]
    assert seen.width <= 390
    assert seen.figures == sum(bool(section.figure) for section in findings.sections) + 1
    assert seen.unreadable == ()
