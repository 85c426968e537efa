"""The report of random games: one page that needs nothing beside itself, and says what it shows and cannot show."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from matplotlib.figure import Figure

from liescope.benchmark.analyses.analysis import MINI_MAFIA, WORDS, Analysis
from liescope.benchmark.analyses.analysis_registry import ANALYSES
from liescope.benchmark.analyses.conditions_of_play import UNKNOWN
from liescope.benchmark.analyses.findings import notes, page, run_analyses, who_won
from liescope.benchmark.analyses.frames import Frames, GameSet, Run, settings
from liescope.benchmark.analyses.standings import NOBODY
from liescope.common.report.contents import Report, markdown
from liescope.common.report.files import page_html
from liescope.games.record import GameRecord, Source
from tests.benchmark.analyses.made import load_frames
from tests.benchmark.random_play import judged, mini_mafia, werewolf
from tests.common.browser import look
from tests.common.without_figures import drawn_figures

HOSTILE = '<script>alert("x")</script> | & <img src=http://evil.example>'
FORMULA = r"$\no_such{formula$"


def games_set(records: list[GameRecord]) -> GameSet:
    run = Run("runs/one", {"game": "werewolf", "options": {"jesters": 1}, "cells": [["scripted:bold"]]}, {})
    run.finished = len(records)
    return GameSet((run,), load_frames(records), frozenset({Source.SCRIPTED}))


@pytest.fixture(scope="module")
def werewolves() -> GameSet:
    records = [werewolf(model, 1, learning) for model in (FORMULA, HOSTILE) for learning in (False, True)]
    return games_set([judged(game) for game in records])


@pytest.fixture(scope="module")
def findings(werewolves: GameSet) -> Report:
    return run_analyses(ANALYSES, werewolves.frames)


@pytest.fixture(scope="module")
def html(werewolves: GameSet, findings: Report) -> str:
    return page_html(page(werewolves, findings))


def words_of(html: str) -> str:
    """What a page says."""
    return unescape(re.sub(r"<[^>]*>", "", html))


def check_whole(html: str) -> None:
    """Asks for nothing outside itself, and text from outside stays text."""
    addresses = re.findall(r' (?:href|src|srcset|action|data)="([^"]*)"', html)
    assert all(address.startswith(("data:image/svg+xml,", "#")) for address in addresses)
    assert html.count("<script") == 1
    assert not re.search(r"@import|url\(|<(?:link|iframe|object|embed)|<[^>]* on\w+=", html)
    assert 'alert("x")' in words_of(html)


def test_the_page_asks_for_nothing_outside_itself_and_its_contents_lead_to_every_section(
    html: str, findings: Report
) -> None:
    check_whole(html)
    targets, ids = re.findall(r' href="#([^"]*)"', html), re.findall(r' id="([^"]*)"', html)
    assert sorted(targets) == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {section.name for section in findings.sections} < set(ids)


def test_scripted_games_are_never_presented_as_a_finding(html: str, werewolves: GameSet) -> None:
    assert "not findings about models or people" in words_of(html)
    assert any("All ratings and reports were given" in note and "4 of 4" in note for note in notes(werewolves))
    assert "not findings" not in " ".join(notes(replace(werewolves, sources=frozenset({Source.MODEL}))))


def test_every_analysis_either_finds_something_or_says_why_not(findings: Report) -> None:
    titles = [section.title for section in findings.sections] + list(findings.missing)
    assert sorted(titles) == sorted(analysis.title for analysis in ANALYSES if analysis.otherwise)
    drawn = {analysis.name for analysis in ANALYSES if analysis.plot}
    for section in findings.sections:
        assert findings.tables[section.name].height
        assert bool(section.figure) == (section.name in drawn)
    assert all(findings.missing.values())


def test_names_of_analyses_are_unique_and_each_says_how_to_read_it() -> None:
    names = [analysis.name for analysis in ANALYSES]
    assert set(names) == set(WORDS)
    assert len(set(names)) == len({analysis.title for analysis in ANALYSES}) == len(names)
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in names)
    assert 5 < sum(analysis.main for analysis in ANALYSES) < len(ANALYSES) / 2
    assert not {"games", "settings", "left-out"} & set(names)
    assert [analysis.name for analysis in ANALYSES if not (analysis.title and analysis.note)] == []


def test_a_section_names_the_paper_of_its_table(html: str, werewolves: GameSet, findings: Report) -> None:
    assert "Table 7, Figure 2 of the Triadic Werewolf paper" in words_of(html)
    assert "(Table 7, Figure 2 of the Triadic Werewolf paper.)" in markdown(page(werewolves, findings))
    assert replace(ANALYSES[0], source="section 4.1", paper=MINI_MAFIA).cited == "section 4.1 of the Mini-Mafia paper"
    assert replace(ANALYSES[0], source="").cited == ""


def test_games_without_jester_ratings_or_lessons_and_a_single_game_are_analysed_as_far_as_they_go() -> None:
    plain, one = games_set([mini_mafia("m", seed) for seed in range(3)]), games_set([werewolf("a", 1)])
    for games in (plain, one):
        found = run_analyses(ANALYSES, games.frames, draw=False)
        assert len(found.sections) + len(found.missing) == sum(bool(one.otherwise) for one in ANALYSES)
        assert found.sections
        assert found.missing["Lessons by theory-of-mind order"] == "no lesson was learned"
        assert found.missing["Rules and raters on the same lessons"] == "no rater tagged a kept lesson"
        words = words_of(page_html(page(games, found)))
        assert "What is not shown, and why" in words
        assert all(section.title in words for section in found.sections)
        assert all(title in words and reason in words for title, reason in found.missing.items())


def test_a_cell_that_mixes_what_does_not_belong_together_is_named() -> None:
    one, two = werewolf("a", 1), replace(werewolf("a", 2), game_id="two")
    assert not any("mixture" in note for note in notes(games_set([one, two])))
    mixed = notes(games_set([one, judged(two)]))
    assert any(
        "Some ratings and reports were given after the game" in note and "1 of 2 games" in note for note in mixed
    )
    fixed = replace(two, meta={**two.meta, "seating": "fixed"})
    assert any("different ways of seating" in note for note in notes(games_set([one, fixed])))


def test_more_models_than_a_figure_has_room_for_are_left_to_the_table() -> None:
    def table(frames: Frames) -> pl.DataFrame:
        return pl.DataFrame({"model": [f"m{n}" for n in range(55)]})

    def plot(table: pl.DataFrame) -> Figure:
        raise AssertionError("drawn")

    many = games_set([mini_mafia("m", 1)])
    shown = page_html(page(many, run_analyses([Analysis("a", "A", table, plot)], many.frames)))
    assert "too many models for a figure" in shown
    assert "m54" in shown


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
    assert seen.figures == sum(bool(section.figure) for section in findings.sections) + bool(findings.figure)
    assert seen.unreadable == ()


def test_the_first_sentence_counts_the_games_that_each_side_won_and_the_others_say_who_is_ahead() -> None:
    frames = load_frames([replace(werewolf("m", seed), game_id=f"game-{seed}") for seed in range(6)])
    won = (frames.games["winner"] == "werewolves").mean()
    first, second = run_analyses([], frames, draw=False).findings
    assert first.startswith("In 6 games of werewolf, ")
    assert f"the werewolves won {won:.0%} (" in first
    assert second == NOBODY  # one model has nobody to be compared with
    unknown = replace(frames, games=frames.games.with_columns(winner=pl.lit(UNKNOWN)))
    assert who_won(unknown) == "The sources do not say who won."


def test_a_game_whose_players_are_all_on_one_side_is_won_by_no_side() -> None:
    games = [replace(werewolf("m", seed), game_id=f"game-{seed}") for seed in range(3)]
    alone = [one_side(replace(game, game=f"{game.game}-alone", game_id=f"alone-{game.seed}")) for game in games]
    assert all(", the " in who_won(load_frames([game])) for game in games)
    said = who_won(load_frames([*games, *alone]))
    assert said.startswith("In 3 games of werewolf, the ")
    assert said.endswith("; in 3 games of werewolf-alone, all players were on one side.")
    lost = replace(alone[0], outcome=replace(alone[0].outcome, winner="nobody", winners=()))
    assert "the players won 67%" in who_won(load_frames([*alone[1:], lost]))


def one_side(game: GameRecord) -> GameRecord:
    seats = tuple(replace(seat, team="players") for seat in game.seats)
    return replace(game, seats=seats, outcome=replace(game.outcome, winner="players", winners=(seats[0].name,)))
