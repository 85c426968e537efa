"""`liescope analyse`: what it writes and prints, what it refuses, and that it leaves no half a report."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from typer.main import get_command

from liescope.benchmark.commands import app
from liescope.common.errors import BadData, UsageError
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from tests.benchmark.random_play import judged, mini_mafia, werewolf


def run(*words: str | Path) -> None:
    get_command(app).main(["analyse", *map(str, words)], standalone_mode=False)


def keep(path: Path, *records: GameRecord) -> Path:
    with Journal.create(path, {"game": records[0].game if records else "werewolf", "seed": 1}) as journal:
        for record in records:
            journal.add_record(record)
    return path


@pytest.fixture
def werewolves(tmp_path: Path) -> Path:
    games = [werewolf("a", seed, learning=seed % 2 == 1) for seed in range(4)]
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
    printed = capsys.readouterr().out
    assert {path.name for path in out.iterdir()} == {"report.html", "report.md", "tables"}
    page = (out / "report.html").read_text(encoding="utf-8")
    tables = sorted(path.name for path in (out / "tables").iterdir())
    assert all(f"tables/{name}" in page for name in tables)
    assert page.count("tables/") == len(tables)
    assert all(pl.read_csv(out / "tables" / name, infer_schema=False).height for name in tables)
    assert "werewolf, 4 games: " in printed
    for words in (printed, page, (out / "report.md").read_text(encoding="utf-8")):
        assert "no finding about models or people" in words
        assert "1 games that failed (the endpoint is down)" in words


def test_json_is_the_only_thing_on_standard_output(
    mafia: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(mafia, "--out", tmp_path / "report", "--json")
    data = json.loads(capsys.readouterr().out)
    assert set(data) == {"report", "runs", "games", "failed", "winners", "notes", "tables", "nothing"}
    assert (data["games"], data["failed"]) == (3, 1)
    assert sum(data["winners"]["mini-mafia"].values()) == 3
    assert {f"{name}.csv" for name in data["tables"]} | {"settings.csv"} == {
        path.name for path in (tmp_path / "report" / "tables").iterdir()
    }
    assert not set(data["tables"]) & set(data["nothing"])


def test_runs_of_both_games_are_analysed_side_by_side(
    werewolves: Path, mafia: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(werewolves, mafia, "--out", tmp_path / "report")
    printed = capsys.readouterr().out
    assert "werewolf, 4 games: " in printed
    assert "mini-mafia, 3 games: " in printed


def test_a_run_and_its_judged_copy_are_not_counted_twice(werewolves: Path, tmp_path: Path) -> None:
    with Journal.open(werewolves) as journal:
        copy = keep(tmp_path / "runs" / "judged", *(judged(game) for game in journal.records() if not game.failure))
    with pytest.raises(UsageError, match="would count twice"):
        run(werewolves, copy, "--out", tmp_path / "report")
    run(copy, "--out", tmp_path / "report")
    assert "from the frozen log: a judge." in (tmp_path / "report" / "report.html").read_text(encoding="utf-8")


def test_runs_that_cannot_be_analysed_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "report"
    (tmp_path / "no-run").mkdir()
    with pytest.raises(BadData, match="holds no run"):
        run(tmp_path / "no-run", "--out", out)
    with pytest.raises(UsageError, match="none has ended yet"):
        run(keep(tmp_path / "empty"), "--out", out)
    with pytest.raises(UsageError, match="no finished game to analyse \\(1 failed"):
        run(keep(tmp_path / "failed", werewolf("a", 1, failure="down")), "--out", out)
    assert not out.exists()
    with pytest.raises(UsageError, match="is a file"):
        run(tmp_path / "empty", "--out", tmp_path / "empty" / "run.json")


def test_a_report_that_was_interrupted_does_not_look_whole(mafia: Path, tmp_path: Path) -> None:
    out = tmp_path / "report"
    (out / "report.md").mkdir(parents=True)
    (out / "report.html").write_text("an earlier report")
    with pytest.raises(OSError, match=r"report\.md"):
        run(mafia, "--out", out)
    assert not (out / "report.html").exists()


def test_a_report_takes_the_place_of_an_earlier_one_tables_included(mafia: Path, tmp_path: Path) -> None:
    tables = tmp_path / "report" / "tables"
    tables.mkdir(parents=True)
    for name in ("lesson_orders", "win_rates"):
        (tables / f"{name}.csv").write_text("old")
    run(mafia, "--out", tmp_path / "report")
    assert not (tables / "lesson_orders.csv").exists()
    assert (tables / "win_rates.csv").read_text(encoding="utf-8") != "old"


def test_a_secret_of_this_machine_reaches_no_report(
    mafia: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "the endpoint is down")
    with pytest.raises(UsageError, match="SOME_API_KEY") as refused:
        run(mafia, "--out", tmp_path / "report")
    assert "the endpoint is down" not in str(refused.value)
    assert not (tmp_path / "report").exists()
