"""The world that the goldens describe, made once in a process."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.texts import frozen_texts
from tests.golden.world import World


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return World(tmp_path_factory.mktemp("golden") / "world")


@pytest.fixture(scope="session")
def texts(world: World) -> dict[str, Callable[[], str]]:
    """By file: what makes its text now."""
    return frozen_texts(world)
