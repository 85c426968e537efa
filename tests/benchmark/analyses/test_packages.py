"""Analyses that another package brings by an entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
MODULE = """
from dataclasses import replace

from liescope.benchmark.analyses.conduct import ANALYSES_OF_SILENCE

MINE = (replace(ANALYSES_OF_SILENCE[0], name="silence_again"),)
"""
SCRIPT = "from liescope.benchmark.analyses.analysis_registry import ANALYSES; print(*(one.name for one in ANALYSES))"


def names(site: Path) -> list[str]:
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{site}"}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_analyses_of_an_installed_package_stand_behind_ours(tmp_path: Path) -> None:
    without = names(tmp_path)
    (tmp_path / "more_analyses.py").write_text(MODULE, encoding="utf-8")
    facts = tmp_path / "more_analyses-1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: more-analyses\nVersion: 1\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text("[liescope.analyses]\nmore = more_analyses:MINE\n", encoding="utf-8")
    assert names(tmp_path) == [*without, "silence_again"]
