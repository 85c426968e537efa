"""Fixtures for every test, and which process of pytest-xdist runs which file."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.world import once, played, played_corpus, played_model

__all__ = ["once", "played", "played_corpus", "played_model"]

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # test processes run side by side; small models want no second thread

# Hundreds of processes begin in the tests: what the first compiles, others load. So does the next run of the tests,
# whose assertions take long to compile.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

hypothesis.settings.load_profile("ci")  # the same examples each time, however busy the machine is

# A shell lets what it starts in the background ignore Ctrl-C, and nohup a hang-up; tests of them hold there too.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

REAL_DATA = Path(os.environ.get("LIESCOPE_REAL_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with published games and corpora, which are not redistributed; tests that need it skip without it."""
    if not REAL_DATA.is_dir():
        pytest.skip(f"no published games at {REAL_DATA}; set LIESCOPE_REAL_DATA to their folder")
    return REAL_DATA


@pytest.fixture(scope="session", autouse=True)
def undrawn() -> Iterator[None]:
    """Figures are saved without anything on them, but in tests that look at them (`drawn`)."""
    from tests.common.without_figures import empty_figures

    with empty_figures():
        yield


@pytest.fixture
def drawn() -> Iterator[None]:
    """Figures as they are; a fixture that serves several tests uses `drawn_figures` itself."""
    from tests.common.without_figures import drawn_figures

    with drawn_figures():
        yield


@pytest.fixture
def shared_fits() -> Iterator[None]:
    """Equal fits of the capability model are sampled once."""
    from tests.common.shared_fits import shared_fits

    with shared_fits():
        yield


# One process runs a file, so that its fixtures are made once, and all files of a group: they share fits, games or a
# browser, or kill processes at moments that more load would move. The longest groups begin first.
# (From pytest 9.2 on, the marks of xdist for this do nothing.)
GROUPS = {
    "kill": (
        "generate/runs/test_interrupt.py",
        "generate/runs/test_kill.py",
    ),
    "pages": ("web/",),
    "fits": ("benchmark/test_",),
    "analyses": ("benchmark/analyses/",),
    "models of this process": ("generate/players/local/",),
    "golden": ("golden/",),
}


def group_of(nodeid: str) -> str:
    """The group of a test's file, or the file."""
    file = nodeid.split("::", 1)[0]
    starts = file.removeprefix("tests/").startswith
    return next((group for group, files in GROUPS.items() if starts(files)), file)


class ByFile(LoadScopeScheduling):
    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    config.option.loadscopereorder = False  # slow files first instead of those with many tests
    return ByFile(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    places = {group: place for place, group in enumerate(GROUPS)}
    items.sort(key=lambda item: (places.get(group_of(item.nodeid), len(places)), item.path not in slow))
