"""The short scripts and notebooks of examples/ run as a reader would run them, on the data that lies beside them."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import runpy
import shutil
import sys
from argparse import Namespace
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import liescope
from tests.generate.players.local import small_model

# groups.py shows what a splitter that knows no groups does.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:The groups parameter is ignored by KFold")]
ROOT = Path(__file__).parents[2]
HERE = ROOT / "examples"
SCRIPTS = sorted(path.stem for path in HERE.glob("*.py"))
NOTEBOOKS = sorted(path.stem for path in HERE.glob("*.ipynb"))
# What a script prints, as a reader is to see it.
PRINTS = {
    "own_texts": "ahead of length alone by",
    "own_chats": "observers:suspicion",
    "games_offline": "linear for role",
    "beside_players": "against observers:suspicion",
    "groups": "rows of a speaker together",
    "publish_dry_run": "license: cc0-1.0",
    "arms_race": "claim_villager",
}
SMALL = {"arms_race": ["--rounds", "1", "--games", "20"]}
FIRST = {"own_texts", "own_chats", "groups", "own_data"}
"""What a newcomer runs; the others are long."""


def each(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.long] * (name not in FIRST)) for name in names]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples, in which scripts find what others left."""
    copy = tmp_path_factory.mktemp("examples") / "examples"
    shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("out", "__pycache__"))
    return copy


@cache
def printed(folder: Path, name: str) -> str:
    """What a script prints, run as `python NAME.py out` in this process; each runs once."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        patch.chdir(folder)
        patch.setattr(sys, "argv", [f"{name}.py", "out", *SMALL.get(name, ())])
        runpy.run_path(f"{name}.py", run_name="__main__")
    return said.getvalue()


def test_every_script_says_what_it_prints_and_the_page_names_every_example() -> None:
    assert set(SCRIPTS) == {*PRINTS, "real_model"}  # which needs a package: tests/detectors/test_real_model.py runs it
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert [name for name in (*SCRIPTS, *NOTEBOOKS) if f"`{name}." not in page] == []


@pytest.mark.long
# In this order, as those that use what others left come after them.
@pytest.mark.parametrize("name", each(PRINTS))
def test_a_script_runs_and_prints_what_it_promises(name: str, folder: Path) -> None:
    assert PRINTS[name] in printed(folder, name)


@pytest.mark.parametrize("name", each(NOTEBOOKS))
@pytest.mark.long
def test_the_cells_of_a_notebook_run_in_order_and_it_keeps_no_outputs(name: str, folder: Path) -> None:
    cells = json.loads((HERE / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells if "outputs" in cell)
    names: dict[str, Any] = {"__name__": "__main__"}
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
        patch.chdir(folder)
        for cell in cells:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), cell["id"], "exec"), names)


def test_where_rows_of_a_speaker_are_not_kept_together_the_habit_passes_for_a_lie(folder: Path) -> None:
    apart, together, *by_sklearn = (float(line.split()[-1]) for line in printed(folder, "groups").splitlines())
    assert min(apart, by_sklearn[0]) > 0.9
    assert max(together, by_sklearn[1]) < 0.65


@pytest.mark.long
def test_a_policy_escapes_the_detector_that_it_is_improved_against(folder: Path) -> None:
    printed(folder, "arms_race")
    with (folder / "out" / "arms-race" / "rounds.csv").open(encoding="utf-8") as file:
        before, after = csv.DictReader(file)
    assert float(before["new_value"]) > 0.6 > 0.5 > float(after["fixed_value"])
    assert float(after["town_wins"]) < float(before["town_wins"])
    assert before["readable"] == after["readable"] == "1.0"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing`:FutureWarning")  # PEFT reads it
def test_a_language_model_says_the_least_suspect_reply_and_learns_it(tmp_path: Path) -> None:
    race = runpy.run_path(str(HERE / "arms_race.py"))
    policy = race["Model"](small_model.make(tmp_path))
    games = tmp_path / "games"
    race["play"](policy, 1, 8, out=games)
    liescope.train("tfidf", games, target="role", folds=0, out=tmp_path / "tfidf")
    detector = liescope.load(tmp_path / "tfidf")
    drawn, said = re.findall(r"(0\.\d\d) as", policy.improve(detector, Namespace(games=8), 2))
    assert float(said) < float(drawn)
    assert all(values.any() for name, values in policy.model.named_parameters() if "lora_B" in name)  # they were zero


def test_the_data_of_the_examples_is_what_its_script_makes(tmp_path: Path) -> None:
    made = runpy.run_path(str(HERE / "data" / "make_data.py"))
    made["messages"](tmp_path / "messages.csv")
    made["chats"](tmp_path / "chats.jsonl")
    for name in ("messages.csv", "chats.jsonl"):
        assert (tmp_path / name).read_bytes() == (HERE / "data" / name).read_bytes()
