"""`liescope analyse`: what it writes and prints, what it refuses, and that it leaves no half a report."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from typer.main import get_command

from liescope.benchmark.analyses import analysis_registry
from liescope.benchmark.analyses.analysis_registry import ANALYSES
from liescope.benchmark.analysing import analyse
from liescope.benchmark.commands import app
from liescope.common.errors import BadData, UsageError
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from tests.benchmark.random_play import judged, mini_mafia, werewolf
from tests.common.without_figures import leave_out_figures


def run(*words: str | Path) -> None:
    get_command(app).main(["analyse", *map(str, words)], standalone_mode=False)


def keep(path: Path, *records: GameRecord) -> Path:
    with Journal.create(path, {"game": records[0].game if records else "werewolf", "seed": 1}) as journal:
        for record in records:
            journal.add_record(record)
    return path


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few analyses, without their figures: all of them are made in the tests of analyses."""
    names = ("win_rates", "flags_per_statement", "rater_agreement", "lesson_orders")
    monkeypatch.setattr(analysis_registry, "ANALYSES", [one for one in ANALYSES if one.name in names])
    leave_out_figures(monkeypatch)


@pytest.fixture
def werewolves(tmp_path: Path) -> Path:
    games = [werewolf("a", seed, learning=seed % 2 == 1) for seed in range(2)]
    return keep(tmp_path / "runs" / "one", *games, werewolf("a", 9, failure="the endpoint is down"))


@pytest.fixture
def mafia(tmp_path: Path) -> Path:
    games = [mini_mafia("b", seed) for seed in range(3)]
    return keep(tmp_path / "runs" / "two", *games, mini_mafia("b", 9, failure="the endpoint is down"))


def test_it_writes_one_page_its_main_tables_and_a_csv_for_every_table(
    werewolves: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "reports" / "one"
    run(werewolves, "--out", out)
    printed = " ".join(capsys.readouterr().out.split())
    assert {path.name for path in out.iterdir()} == {"report.html", "report.md", "tables"}
    page = (out / "report.html").read_text(encoding="utf-8").replace("<wbr>", "")
    tables = sorted(path.name for path in (out / "tables").iterdir())
    assert all(f"tables/{name}" in page for name in tables)
    assert page.count("tables/") == len(tables)
    assert all(pl.read_csv(out / "tables" / name, infer_schema=False).height for name in tables)
    assert "In 2 games of werewolf, " in printed
    for words in (printed, page, (out / "report.md").read_text(encoding="utf-8")):
        assert "not findings about models or people" in words
        assert "1 games that failed (the endpoint is down)" in words


@pytest.mark.long
def test_a_run_and_two_judged_copies_are_one_set_of_games_with_three_raters(werewolves: Path, tmp_path: Path) -> None:
    with Journal.open(werewolves) as journal:
        games = [game for game in journal.records() if not game.failure]
    copies = [keep(tmp_path / "judged" / name, *(judged(game, name) for game in games)) for name in ("one", "two")]
    again = keep(tmp_path / "runs" / "again", *(judged(game, "one") for game in games))
    with pytest.raises(UsageError, match="rated by one, which would count twice"):
        analyse([*copies, again])
    result = analyse([werewolves, *copies], out=tmp_path / "report")
    assert result.games == 2
    assert result.tables["win_rates"]["games"].max() == 2
    pairs = result.tables["rater_agreement"].select("one", "other").unique().rows()
    assert set(pairs) == {("one", "two"), ("players", "one"), ("players", "two")}
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "given after the game, from its log, by one (2 of 2 games), two (2 of 2 games)." in page
    alone = analyse(copies[0])
    assert "rater" not in alone.tables["flags_per_statement"].columns
    assert "rater_agreement" in alone.nothing


def test_runs_that_cannot_be_analysed_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "report"
    (tmp_path / "no-run").mkdir()
    with pytest.raises(BadData, match="holds no run"):
        run(tmp_path / "no-run", "--out", out)
    with pytest.raises(UsageError, match="none has finished yet"):
        run(keep(tmp_path / "empty"), "--out", out)
    with pytest.raises(UsageError, match="no finished game to analyse \\(1 failed"):
        run(keep(tmp_path / "failed", werewolf("a", 1, failure="down")), "--out", out)
    assert not out.exists()
    with pytest.raises(UsageError, match="is a file"):
        run(tmp_path / "empty", "--out", tmp_path / "empty" / "run.json")


def test_a_report_takes_the_place_of_an_earlier_one_where_that_was_asked_for_tables_included(
    mafia: Path, tmp_path: Path
) -> None:
    tables = tmp_path / "report" / "tables"
    run(mafia, "--out", tmp_path / "report")
    for name in ("lesson_orders", "win_rates"):
        (tables / f"{name}.csv").write_text("old")
    with pytest.raises(UsageError, match="add --overwrite to replace a report"):
        run(mafia, "--out", tmp_path / "report")
    assert (tables / "win_rates.csv").read_text(encoding="utf-8") == "old"
    run(mafia, "--out", tmp_path / "report", "--overwrite")
    assert not (tables / "lesson_orders.csv").exists()
    assert (tables / "win_rates.csv").read_text(encoding="utf-8") != "old"
