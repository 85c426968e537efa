"""The game and the detector of the guides as somebody else's package: installed beside Liescope, not named in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
COMMANDS = """
play traitor --games 24 --player scripted:novice --player scripted:bold --assess --out r
label r --judge scripted:steady --share 0.2 --out judged
build r --out c
export r --to kto --out shared
train doubt --corpus c --target role --marks think,maybe --out m
evaluate m --corpus c --out evaluated
score m Well.
audit c --target role --out audited
analyse r --out analysed
view r --out pages.html
"""
RUN = """
import pytest, sys
from liescope import cli
from tests.common.without_figures import empty_figures, leave_out_figures
with empty_figures(), pytest.MonkeyPatch.context() as patch:
    leave_out_figures(patch)
    for line in sys.stdin.read().strip().splitlines():
        assert cli.main(line.split()) == 0, line
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the installed package."""
    source = shutil.copytree(ROOT / "examples" / "traitor", tmp_path_factory.mktemp("source") / "traitor")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(folder), str(source)], check=True, capture_output=True)
    return folder


def run(code: str, where: Path, site: Path | None, given: str = "") -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(map(str, [ROOT, *([site] if site else [])]))
    env: Mapping[str, str] = {**os.environ, "PYTHONPATH": path}
    return subprocess.run([sys.executable, "-c", code], cwd=where, env=env, input=given, capture_output=True, text=True)


@pytest.fixture(scope="module")
def made(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where every command has left what it makes of the game."""
    where = tmp_path_factory.mktemp("work")
    done = run(RUN, where, installed, COMMANDS)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return where


@pytest.mark.long
def test_every_command_takes_a_game_and_a_detector_that_it_was_never_told_of(made: Path) -> None:
    assert (made / "analysed" / "report.html").is_file()
    assert "doubt" in (made / "m" / "model.json").read_text()
    assert "| m |" in (made / "evaluated" / "report.md").read_text()
    assert "Traitor, a game for 3 players: 1 mafioso and 2 villagers." in (made / "c" / "README.md").read_text()


@pytest.mark.parametrize(("guide", "file"), [("game", "traitor.py"), ("detector", "doubt.py")])
def test_the_guides_print_the_package(guide: str, file: str) -> None:
    page = (ROOT / "docs" / "guides" / f"{guide}.md").read_text()
    assert f'title="{file}"\n{(ROOT / "examples" / "traitor" / file).read_text()}```' in page


def test_the_checks_of_liescope_pass_for_a_part_from_another_package(installed: Path, tmp_path: Path) -> None:
    code = """
from pathlib import Path
from liescope.testing import check_detector, check_game
check_game("traitor")
texts = [(f"Maybe it is {n}?", True) if n % 2 else (f"Of course it is {n}", False) for n in range(40)]
check_detector("doubt", Path("."), texts, marks="maybe")
"""
    done = run(code, tmp_path, installed)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.long
@pytest.mark.parametrize("line", ["show r", "score m Well."])
def test_without_the_package_an_error_names_it(line: str, made: Path) -> None:
    done = run("import sys; from liescope import cli; sys.exit(cli.main(sys.stdin.read().split()))", made, None, line)
    assert done.returncode == 1
    needs = "needs the package 'liescope-traitor', which is not installed"
    assert needs in done.stderr
    assert "Traceback" not in done.stderr
