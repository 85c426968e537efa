"""Imports point one way, and importing a package never loads what it does not need. Read from the code itself."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ORDER = ["common", "games", "labeling", "generate", "detectors", "benchmark", "front door"]
ROOMS = [*ORDER[1:-1], "data_cards"]
HEAVY = {
    "torch",
    "transformers",
    "sentence_transformers",
    "pymc",
    "arviz",
    "sklearn",
    "matplotlib",
    "datasets",
    "scipy.stats",
    "fastapi",
    "starlette",
    "uvicorn",
}


def modules(room: str) -> list[Path]:
    if room == "front door":
        return [path for path in sorted((ROOT / "liescope").rglob("*.py")) if room_of(path) == room]
    return sorted((ROOT / "liescope" / room if room == "common" else ROOT / room).rglob("*.py"))


def room_of(path: Path) -> str:
    """The room that a file of liescope/ belongs to: common, one behind a link, or the front door itself."""
    first = path.relative_to(ROOT / "liescope").parts[0]
    return first if first in {"common", *ROOMS} else "front door"


@cache
def imported(path: Path) -> set[str]:
    """Names that a file imports, anywhere in it: rooms of liescope by their own name, others by their top one."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "liescope" else [node.module]
            )
        else:
            continue
        names |= {room_imported(name) for name in found}
    return names


def room_imported(name: str) -> str:
    top, _, rest = name.partition(".")
    if top != "liescope":
        return top
    room = rest.partition(".")[0]
    return "liescope" if room == "__version__" else room if room in {"common", *ROOMS} else "front door"


@pytest.mark.parametrize("room", ORDER)
def test_a_package_imports_only_packages_below_it(room: str) -> None:
    above = set(ORDER[ORDER.index(room) + 1 :])
    found = {str(path.relative_to(ROOT)): imported(path) & above for path in modules(room)}
    assert found
    assert {name: names for name, names in found.items() if names} == {}


def test_data_cards_import_nothing_but_what_is_common() -> None:
    assert [str(path) for path in modules("data_cards") if imported(path) & set(ORDER[1:])] == []


def test_the_rules_of_games_use_the_standard_library_and_what_declares_options() -> None:
    used = set().union(*(imported(path) for path in modules("games")))
    assert used - set(sys.stdlib_module_names) == {"games", "common", "pydantic", "typing_extensions"}


def test_no_module_is_imported_under_a_name_of_its_own_at_the_top() -> None:
    files = [path for folder in (*ROOMS, "tests", "liescope/common") for path in (ROOT / folder).rglob("*.py")]
    suspect = re.compile(rf"^\s*(?:from|import)\s+(?:[\w., ]*,\s*)?(?:{'|'.join(ROOMS)})\b", re.MULTILINE)
    tops = {alias for path in files if suspect.search(path.read_text("utf-8")) for alias in top_level_imports(path)}
    assert tops & set(ROOMS) == set()


def top_level_imports(path: Path) -> set[str]:
    tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    names = [
        name
        for node in tree
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom) and not node.level
            else []
        )
    ]
    return {name.split(".")[0] for name in names}


def test_only_pages_import_what_serves_them() -> None:
    files = [path for room in (*ORDER, "data_cards") for path in modules(room)]
    users = {path for path in files if imported(path) & {"fastapi", "starlette", "uvicorn"}}
    assert [str(path) for path in users if not path.is_relative_to(ROOT / "liescope" / "web")] == []


def test_importing_a_package_loads_nothing_heavy_and_the_front_door_no_room() -> None:
    modules = ["liescope", *(f"liescope.{room}" for room in ROOMS), "liescope.web", "liescope.cli"]
    code = f"""
import importlib, sys
for name in {modules!r}:
    importlib.import_module(name)
    print(name, *sorted(sys.modules.keys() & {HEAVY!r}))
    if name == "liescope":
        print(*sorted(name for name in sys.modules if name.startswith("liescope.")))
        print("libraries:", *sorted(sys.modules.keys() & {{"typer", "rich", "polars"}}))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    first, *others = modules
    assert done.stdout.splitlines() == [
        first,
        "liescope.common liescope.common.errors liescope.common.key_finder",
        "libraries:",
        *others,
    ]


def test_a_process_that_plays_loads_no_library_of_tables(tmp_path: Path) -> None:
    code = f"""
import sys
from liescope import cli
run = ["play", "mini-mafia", "--games", "1", "--player", "scripted:bold", "--out", {str(tmp_path / "run")!r}]
assert cli.main(run) == 0
print("loaded:", *sorted(sys.modules.keys() & {{"polars", "pyarrow", "pandas"}}))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "loaded:"
