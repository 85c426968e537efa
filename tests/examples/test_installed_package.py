"""Parts of every kind that another package brings by entry points: nothing of Liescope names them.

A game and a detector: test_traitor.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE = '''
import json

from liescope.games import AskKind, Reply, Source
from liescope.games.record import record_from_json, record_to_json
from liescope.generate.exports import Exporter
from liescope.generate.importers import Imported, Importer


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


class Sheets(Exporter):
    """A game a line."""

    format = "sheets"
    writes = "one JSON object a game"
    about = "Records."
    limits = "They say nothing of prompts."
    tabular = False

    def write(self, source, games, folder, tally):
        with (folder / "sheets.txt").open("w") as file:
            for game in games:
                file.write(json.dumps(record_to_json(game.record)) + "\\n")
                tally.games += 1
                tally.rows["sheets"] += 1


class SheetsImporter(Importer):
    """What Sheets writes."""

    format = "sheets"
    reads = "one JSON object a game"
    origin = "a colleague's experiment"
    licence = "CC-BY-4.0."

    def read(self, source):
        for number, line in enumerate(source.read_text().splitlines(), start=1):
            yield Imported(number, record_from_json(json.loads(line)))
'''
ANALYSES = """
from dataclasses import replace

from liescope.benchmark.analyses.conduct import ANALYSES_OF_SILENCE

AGAIN = (replace(ANALYSES_OF_SILENCE[0], name="silence_again"),)
"""
ENTRY_POINTS = """
[liescope.players]
quiet = more_parts:open_quiet
[liescope.exporters]
sheets = more_parts:Sheets
[liescope.importers]
sheets = more_parts:SheetsImporter
[liescope.analyses]
again = more_analyses:AGAIN
"""
RUN = """
import sys
from liescope import cli
from liescope.benchmark.analyses.analysis_registry import ANALYSES
for line in sys.stdin:
    print(cli.main(line.split()), file=sys.stderr)
print(*(analysis.name for analysis in ANALYSES))
"""
PLAY = "play mini-mafia --player quiet:mouse --player scripted:bold --games 1 --out "


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where the package is installed."""
    site = tmp_path_factory.mktemp("site")
    facts = site / "more_parts-3.1.dist-info"
    facts.mkdir()
    (site / "more_parts.py").write_text(MODULE, encoding="utf-8")
    (site / "more_analyses.py").write_text(ANALYSES, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: more-parts\nVersion: 3.1\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return site


def run(where: Path, lines: list[str], *sites: Path) -> subprocess.CompletedProcess[str]:
    """The commands one after the other in one process, which tells their exit codes and then the analyses."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, *sites)))}
    return subprocess.run(
        [sys.executable, "-c", RUN],
        cwd=where,
        env=environment,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture(scope="module")
def made(site: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """Where the commands have left what they make of the parts, and the analyses that there were."""
    where = tmp_path_factory.mktemp("work")
    commands = [f"{PLAY}r", "export r --to sheets --out e", "import sheets e/sheets.txt --out back"]
    commands += ["export back --to sheets --out again"]
    done = run(where, commands, site)
    assert [line for line in done.stderr.splitlines() if line.isdigit()] == ["0"] * 4, done.stderr
    return where, done.stdout.splitlines()[-1].split()


def test_a_player_plays_and_games_go_out_by_its_exporter_and_come_in_by_its_importer(
    made: tuple[Path, list[str]],
) -> None:
    facts = json.loads((made[0] / "r" / "run.json").read_text())
    assert facts["versions"]["more-parts"] == "3.1"
    written = (made[0] / "e" / "sheets.txt").read_text()
    assert "quiet mouse" in written
    assert "I would rather listen." in written
    out, back = ((made[0] / folder / "sheets.txt").read_text().splitlines() for folder in ("e", "again"))
    assert len(out) == 2 * 2 * 2
    for one, other in zip(sorted(out), sorted(back), strict=True):
        assert json.loads(one)["events"] == json.loads(other)["events"]


def test_its_analyses_stand_behind_ours_and_without_it_errors_name_it(
    made: tuple[Path, list[str]], tmp_path: Path
) -> None:
    where, analyses = made
    lines = [
        f"{PLAY}{where / 'r'}",
        f"{PLAY}new",
        f"export {where / 'r'} --to sheets --out e",
        "import sheets x --out i",
    ]
    without = run(tmp_path, lines)
    assert analyses == [*without.stdout.splitlines()[-1].split(), "silence_again"]
    needs, unknown_player, *unknown_formats = [
        line for line in without.stderr.splitlines() if line.startswith("error: ")
    ]
    assert "needs the package 'more-parts'" in needs
    assert "unknown player 'quiet:mouse'" in unknown_player
    assert all("'sheets'" in line for line in unknown_formats)
    assert len(unknown_formats) == 2
    assert list(tmp_path.iterdir()) == []
