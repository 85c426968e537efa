"""Players that another package brings by an entry point: nothing of Liescope names them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MODULE = """
from liescope.games import AskKind, Reply, Source
from liescope.games.core import Assessment


class Quiet:
    source = Source.SCRIPTED

    def __init__(self, model):
        self.model = model

    async def prepare(self):
        pass

    async def answer(self, ask, view):
        if ask.kind is AskKind.SPEAK:
            return Reply(text="I would rather listen.")
        return Reply(choice=ask.options[0]) if ask.options else Reply(problem="nothing to choose from")

    async def close(self):
        pass


def open_quiet(argument, context):
    return Quiet(f"quiet {argument}")
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder where a package with a player is installed."""
    site = tmp_path / "site"
    facts = site / "quiet_player-3.1.dist-info"
    facts.mkdir(parents=True)
    (site / "quiet_player.py").write_text(MODULE, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: quiet-player\nVersion: 3.1\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text("[liescope.players]\nquiet = quiet_player:open_quiet\n", encoding="utf-8")
    return site


def play(run: Path, games: int, *sites: Path, workers: int = 1) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join(map(str, (ROOT, *sites)))
    command = ["play", "mini-mafia", "--player", "quiet:mouse", "--player", "scripted:bold", "--games", str(games)]
    command += ["--out", str(run), "--workers", str(workers), "--json"]
    environment = os.environ | {"PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, "-m", "liescope", *command], env=environment, capture_output=True, text=True, check=False
    )


def test_a_player_of_an_installed_package_plays_in_every_worker(site: Path, tmp_path: Path) -> None:
    played = play(tmp_path / "run", 1, site, workers=2)
    assert played.returncode == 0, played.stderr
    summary = json.loads(played.stdout)
    assert summary["games"]["done"] == summary["games"]["planned"] > 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["versions"]["quiet-player"] == "3.1"


def test_without_the_package_its_run_says_what_is_missing_and_a_new_one_which_players_there_are(
    site: Path, tmp_path: Path
) -> None:
    assert play(tmp_path / "run", 1, site).returncode == 0
    again, new = play(tmp_path / "run", 1), play(tmp_path / "new", 1)
    assert again.returncode
    assert "needs the package 'quiet-player'" in again.stderr
    assert new.returncode
    assert "unknown player 'quiet:mouse'" in new.stderr
    assert not (tmp_path / "new").exists()
