"""The world and its reports, made once in a process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.world import World
from tests.golden_reports.reports import frozen_reports


@pytest.fixture(scope="session")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Callable[[], str]]:
    """By file in frozen/: what makes its text now."""
    return frozen_reports(World(tmp_path_factory.mktemp("golden") / "world"))
