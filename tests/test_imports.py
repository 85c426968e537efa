"""Imports point one way, and importing a package never loads what it does not need. Read from the code itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ORDER = ["games", "labeling", "generate", "detectors", "benchmark", "liescope"]
HEAVY = {"torch", "transformers", "sentence_transformers", "pymc", "arviz", "nutpie", "sklearn", "matplotlib"}


def modules(package: str) -> list[Path]:
    return [ROOT / "liescope.py"] if package == "liescope" else sorted((ROOT / package).rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Top-level names that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", ORDER)
def test_a_package_imports_only_packages_below_it(package: str) -> None:
    above = set(ORDER[ORDER.index(package) + 1 :])
    found = {str(path.relative_to(ROOT)): imported(path) & above for path in modules(package)}
    assert {name: names for name, names in found.items() if names} == {}


def test_data_cards_import_no_other_package() -> None:
    assert [str(path) for path in modules("data_cards") if imported(path) & set(ORDER)] == []


def test_the_rules_of_games_use_the_standard_library_alone() -> None:
    used = set().union(*(imported(path) for path in modules("games")))
    assert used - set(sys.stdlib_module_names) == {"games"}


@pytest.mark.parametrize("package", [*ORDER[:-1], "data_cards"])
def test_importing_a_package_loads_nothing_heavy(package: str) -> None:
    code = f"import sys, {package}; print(*sorted(sys.modules.keys() & {HEAVY!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_command_line_starts_without_anything_heavy() -> None:
    code = f"import sys, liescope; print(*sorted(sys.modules.keys() & {HEAVY!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
