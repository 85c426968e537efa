"""Faces are tested with the real packages of their tools: `make faces`. Elsewhere their files are not collected."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

NEEDS = {
    "test_control_arena.py": ("control_arena",),
    "test_inspect_detector.py": ("inspect_ai",),
    "test_inspect_games.py": ("inspect_ai", "inspect_scout"),
    "test_textarena.py": ("textarena",),
    "test_trl.py": ("trl",),
    "test_verifiers.py": ("verifiers",),
}


def _versions() -> dict[str, str]:
    found = {}
    for package in sorted({package for packages in NEEDS.values() for package in packages}):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


VERSIONS = _versions()
collect_ignore = [file for file, packages in NEEDS.items() if not VERSIONS.keys() >= set(packages)]


def pytest_report_header() -> str:
    return f"faces: {', '.join(map(' '.join, VERSIONS.items())) or 'none of their tools is installed'}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What the tools themselves warn of is theirs to mend."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
