"""A shell completes the names of commands, options, kinds, games, formats, labels and players."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from liescope import cli
from liescope.detectors.detector_registry import DETECTORS
from liescope.games.game_registry import GAMES
from liescope.generate.exports.exporting import EXPORTERS
from liescope.generate.importers.importing import IMPORTERS

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("tra", ["train", "transfer"]),
        ("train ", [*DETECTORS]),
        ("train linear --targ", ["--target"]),
        ("train linear --target ", ["role", "claim", "promise", "gold", "self", "peer"]),
        ("transfer corpus --detector obs", ["observers"]),
        ("play ", [*GAMES]),
        ("play mini-mafia --player ", ["scripted:novice", "scripted:steady", "scripted:bold"]),
        ("import ", [*IMPORTERS]),
        ("export runs/first --to ", [*EXPORTERS]),
        ("train linear --corpus ", []),
    ],
)
def test_names_are_completed(
    words: str, names: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_LIESCOPE_COMPLETE", "complete_fish")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"liescope {words}")
    with pytest.raises(SystemExit):
        cli.main([])
    found = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert set(names) <= set(found)
    assert names or not any(found)


def test_the_script_for_bash_asks_the_program(tmp_path: Path) -> None:
    program = tmp_path / "liescope"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m liescope "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    script = """
PATH="$1:$PATH"
source <(_LIESCOPE_COMPLETE=source_bash liescope)
COMP_WORDS=(liescope wit)
COMP_CWORD=1
_liescope_completion liescope
echo "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", script, "bash", tmp_path], capture_output=True, text=True, check=True)
    assert (done.stdout.strip(), done.stderr) == ("withdraw", "")
