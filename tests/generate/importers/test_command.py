"""`liescope import`: one run folder, the same after any number of runs, and nothing dropped silently."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
import typer

from liescope import cli
from liescope.common.errors import PlanChanged
from liescope.generate.importers import read_games
from liescope.generate.importers.commands import app
from liescope.generate.importers.own_data import TextImporter
from liescope.generate.runs.journal import Journal
from tests.generate.importers.written import play_game
from tests.generate.runs.fakes import records

Writer = Callable[..., Path]


def run(*words: object) -> None:
    typer.main.get_command(app).main(["import", *map(str, words)], prog_name="liescope", standalone_mode=False)


def test_the_run_folder_holds_every_game_in_the_order_of_the_log(
    write_log: Writer, batches: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_log(play_game(seed) for seed in range(12))
    run("mini-mafia", path, "--batches", batches, "--out", tmp_path / "run", "--json")
    facts = json.loads(capsys.readouterr().out)
    games = records(tmp_path / "run")
    assert games == list(read_games("mini-mafia", path, batches=batches))
    assert facts["games"] == facts["new"] == sum(facts["winners"].values()) == 12
    assert facts["rejected"] == 0
    won = sum(game.outcome is not None and game.outcome.winner == "mafia" for game in games)
    assert facts["models"] == {
        role: {f"{role[0]}-model": {"games": 12, "winners": {"mafia": won, "town": 12 - won}}}
        for role in ("detective", "mafioso", "villager")
    }
    assert (tmp_path / "run" / "rejected.jsonl").read_text() == ""


def test_rows_that_an_importer_loses_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read = TextImporter.games
    monkeypatch.setattr(TextImporter, "games", lambda *given, **more: islice(read(*given, **more), 1, None))
    (tmp_path / "a.csv").write_text("text,label\nOne.,lie\nTwo.,truth\nThree.,lie\n", encoding="utf-8")
    assert cli.main(["import", "text", str(tmp_path / "a.csv"), "--out", str(tmp_path / "run")]) == 1
    assert "error: 1 of 3 rows are neither kept nor left out for a reason" in capsys.readouterr().err


def test_an_import_that_was_stopped_goes_on_where_it_was_and_then_changes_nothing(
    write_log: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_log(play_game(seed) for seed in range(9))
    run("mini-mafia", path, "--out", tmp_path / "whole")
    with Journal.open(tmp_path / "whole") as whole:
        plan, games = whole.plan, list(whole.records())
    with Journal.create(tmp_path / "half", plan) as half:
        for game in games[:4]:
            half.add_record(game)
    before = (tmp_path / "half" / "run.json").read_bytes()
    for new in (5, 0):
        capsys.readouterr()
        run("mini-mafia", path, "--out", tmp_path / "half", "--json")
        assert json.loads(capsys.readouterr().out)["new"] == new
        assert records(tmp_path / "half") == games
    assert (tmp_path / "half" / "run.json").read_bytes() == before


@pytest.mark.parametrize("change", ["file", "batches", "names", "played"])
def test_another_import_or_run_in_the_folder_is_refused_with_the_difference(
    change: str, write_log: Writer, batches: Path, tmp_path: Path
) -> None:
    path, out = write_log([play_game(1), play_game(2)]), tmp_path / "run"
    if change == "played":
        Journal.create(out, {"game": "mini-mafia", "seed": 1}).close()
    else:
        run("mini-mafia", path, "--batches", batches, "--out", out)
        before = records(out)
    words: dict[str, list[object]] = {
        "file": [write_log([play_game(3)], "games.jsonl"), "--batches", batches],
        "batches": [path],
        "names": [path, "--batches", batches, "--paper-names"],
        "played": [path, "--batches", batches],
    }
    shown = {"file": "sources", "batches": "options.batches", "names": "options.paper_names", "played": "import"}
    with pytest.raises(PlanChanged, match=shown[change]):
        run("mini-mafia", *words[change], "--out", out)
    if change != "played":
        assert records(out) == before


def test_what_was_rejected_is_printed_and_kept_with_line_and_reason_and_the_shell_learns_of_it(
    write_log: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_log([play_game(1), "{", *("[]" for _ in range(30)), play_game(2)])
    run("mini-mafia", path, "--out", tmp_path / "run")
    printed = capsys.readouterr().out
    assert "31 could not be imported" in printed
    assert "games.jsonl, line 2: not JSON" in printed
    kept = [json.loads(line) for line in (tmp_path / "run" / "rejected.jsonl").read_text().splitlines()]
    assert [entry["line"] for entry in kept] == [*range(2, 33)]
    again = ["import", "mini-mafia", str(path), "--out", str(tmp_path / "run")]
    assert [cli.main(again), cli.main([*again, "--allow-rejected"])] == [1, 0]
    assert len(records(tmp_path / "run")) == 2


@pytest.mark.parametrize("name", ["diary.csv", "none/such.parquet", "plain"])
def test_a_file_in_place_of_the_format_is_told_as_such(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain").write_text("text,label\n", encoding="utf-8")
    assert cli.main(["import", name, "--out", "run"]) == 1
    assert f"{name} is no format: name it before the file" in capsys.readouterr().err
