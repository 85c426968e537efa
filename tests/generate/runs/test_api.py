"""`play` and `label` from Python, and their config files: the same runs as the commands make."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path

import pytest

from liescope import cli
from liescope.common.errors import UsageError
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from liescope.generate.runs.rating import label

TWO = ("scripted:bold", "scripted:novice")


def journal_of(run: Path) -> tuple[object, list[object]]:
    with Journal.open(run) as journal:
        return journal.plan, sorted(journal.records(), key=lambda game: game.game_id)


def test_play_returns_how_the_run_stands_and_its_games_as_a_frame(run: Path) -> None:
    result = play("mini-mafia", players=TWO, games=3, out=str(run), rounds=1)
    assert result.complete
    assert repr(result) == f"<RunResult {run}: 24 of 24 games of mini-mafia done>"
    assert result.to_json()["winners"] == dict(sorted(result.games["winner"].value_counts().rows()))
    assert result.games.columns == ["game_id", "cell", "status", "winner", "failure", "days"]
    assert result.games["cell"].n_unique() == 8
    json.dumps(result.to_json())


def test_play_and_the_command_make_the_same_run(run: Path, tmp_path: Path) -> None:
    play("mafia", players=TWO, games=1, seed=3, out=run, villagers=3, names="A,B,C,D,E,F", message_limit=None)
    words = ["--player", TWO[0], "--player", TWO[1], "--games", "1", "--seed", "3", "--villagers", "3"]
    words += ["--names", "A,B,C,D,E,F", "--message-limit", "0"]
    assert cli.main(["play", "mafia", *words, "--out", str(tmp_path / "other")]) == 0
    assert journal_of(run) == journal_of(tmp_path / "other")


def test_play_works_where_an_event_loop_runs_already(run: Path) -> None:
    async def notebook() -> bool:
        return play("mini-mafia", games=1, out=run).complete

    assert asyncio.run(notebook())


def test_label_returns_the_judged_run(run: Path) -> None:
    play("mini-mafia", games=2, out=run)
    judged = label(run, "scripted:bold", roles=True)
    assert judged.folder == run.with_name("first-by-scripted-bold")
    assert judged.games.drop("cell").equals(play("mini-mafia", games=2, out=run).games.drop("cell"))
    with pytest.raises(UsageError, match="a folder of their own"):
        label(run, "scripted:bold", out=run)


def test_the_config_file_beside_a_run_goes_on_with_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = "--player scripted:bold?m=2 --games 3 --message-limit 0 --names Zoë,B,C,D --assess --seed 5"
    assert cli.main(["play", "mini-mafia", *words.split(), "--out", str(run)]) == 0
    config = tomllib.loads((run / "run.toml").read_text(encoding="utf-8"))["play"]
    assert config["names"] == "Zoë,B,C,D"
    before = journal_of(run)
    capsys.readouterr()
    assert cli.main(["play", "--config", str(run / "run.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["games"] == {"planned": 3, "done": 3, "failed": 0, "before": 3}
    assert journal_of(run) == before


def test_judged_games_have_a_config_file_too(run: Path) -> None:
    play("mini-mafia", games=2, out=run)
    judged = label(run, "scripted:bold", share=0.5)
    assert cli.main(["label", "--config", str(judged.folder / "run.toml")]) == 0
