"""The world that the goldens describe, made once in a process."""

from __future__ import annotations

import pytest

from tests.golden.world import World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("golden") / "world")
