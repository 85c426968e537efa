"""`liescope import`: one run folder, the same after any number of runs, and nothing dropped silently."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from liescope.common.errors import BadData, PlanChanged, UnknownName
from liescope.games.record import GameRecord
from liescope.generate.importers import read_games
from liescope.generate.importers.commands import app
from liescope.generate.runs.journal import Journal
from tests.generate.importers.written import as_rows, play_game

Writer = Callable[..., Path]


def run(*words: object) -> None:
    typer.main.get_command(app).main([str(word) for word in words], prog_name="liescope", standalone_mode=False)


def contents(out: Path) -> list[GameRecord]:
    with Journal.open(out) as journal:
        return list(journal.records())


def test_the_run_folder_holds_every_game_in_the_order_of_the_log(
    write_log: Writer, batches: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_log(play_game(seed) for seed in range(12))
    run("mini-mafia", path, "--batches", batches, "--out", tmp_path / "run", "--json")
    facts = json.loads(capsys.readouterr().out)
    games = contents(tmp_path / "run")
    assert games == list(read_games("mini-mafia", path, batches=batches))
    assert facts["games"] == facts["new"] == sum(facts["winners"].values()) == 12
    assert facts["rejected"] == 0
    won = sum(game.outcome is not None and game.outcome.winner == "mafia" for game in games)
    assert facts["models"] == {
        role: {f"{role[0]}-model": {"games": 12, "winners": {"mafia": won, "town": 12 - won}}}
        for role in ("detective", "mafioso", "villager")
    }
    assert (tmp_path / "run" / "rejected.jsonl").read_text() == ""


def test_importing_the_same_file_again_changes_nothing(
    write_log: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = write_log(play_game(seed) for seed in range(5)), tmp_path / "run"
    run("mini-mafia", path, "--out", out)
    before, plan = contents(out), (out / "run.json").read_bytes()
    capsys.readouterr()
    run("mini-mafia", path, "--out", out, "--json")
    assert json.loads(capsys.readouterr().out)["new"] == 0
    assert contents(out) == before
    assert (out / "run.json").read_bytes() == plan


def test_an_import_that_was_stopped_goes_on_where_it_was(write_log: Writer, tmp_path: Path) -> None:
    path = write_log(play_game(seed) for seed in range(9))
    run("mini-mafia", path, "--out", tmp_path / "whole")
    run("mini-mafia", path, "--out", tmp_path / "source")
    (tmp_path / "half").mkdir()
    shutil.copy(tmp_path / "source" / "run.json", tmp_path / "half")
    with Journal.open(tmp_path / "source") as source:
        plan = source.plan
    shutil.rmtree(tmp_path / "half")
    with Journal.create(tmp_path / "half", plan) as half:
        for game in contents(tmp_path / "whole")[:4]:
            half.add_record(game)
    run("mini-mafia", path, "--out", tmp_path / "half")
    assert contents(tmp_path / "half") == contents(tmp_path / "whole")


@pytest.mark.parametrize("change", ["file", "batches", "names", "played"])
def test_another_import_or_run_in_the_folder_is_refused_with_the_difference(
    change: str, write_log: Writer, batches: Path, tmp_path: Path
) -> None:
    path, out = write_log([play_game(1), play_game(2)]), tmp_path / "run"
    if change == "played":
        Journal.create(out, {"game": "mini-mafia", "seed": 1}).close()
    else:
        run("mini-mafia", path, "--batches", batches, "--out", out)
        before = contents(out)
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
        assert contents(out) == before


def test_what_was_rejected_is_printed_and_kept_with_line_and_reason(
    write_log: Writer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_log([play_game(1), "{", *("[]" for _ in range(30)), play_game(2)])
    run("mini-mafia", path, "--out", tmp_path / "run")
    printed = capsys.readouterr().out
    assert "31 could not be imported" in printed
    assert "games.jsonl, line 2: not JSON" in printed
    kept = [json.loads(line) for line in (tmp_path / "run" / "rejected.jsonl").read_text().splitlines()]
    assert [entry["line"] for entry in kept] == [*range(2, 33)]
    assert len(contents(tmp_path / "run")) == 2


@pytest.mark.parametrize("content", ["", "\n\n", "nothing\n", "{}\n"])
def test_a_file_without_a_game_leaves_no_folder(content: str, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text(content)
    with pytest.raises(BadData, match="no game that can be imported"):
        run("mini-mafia", tmp_path / "empty.jsonl", "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_that_is_not_there_and_a_format_that_is_not_known_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.jsonl"):
        run("mini-mafia", tmp_path / "none.jsonl", "--out", tmp_path / "run")
    with pytest.raises(UnknownName, match="mini-mafia"):
        run("avalon", tmp_path / "none.jsonl", "--out", tmp_path / "run")


def test_peoples_games_are_counted(
    write_database: Writer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write_database(as_rows(play_game(seed), seed, "villager") for seed in range(4))
    run("mini-mafia", path, "--out", tmp_path / "run", "--paper-names", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert facts["games_with_a_person"] == 4
    assert set(facts["models"]["villager"]) == {"human", "Mistral 7B Instruct"}
