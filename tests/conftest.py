"""Fixtures for every test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # test processes run side by side; small models want no second thread

REAL_DATA = Path(os.environ.get("LIESCOPE_REAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with published games and corpora, which are not redistributed; tests that need it skip without it."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"no published games at {REAL_DATA}; set LIESCOPE_REAL_DATA to their folder")
    return REAL_DATA
