"""What many tests read and none changes: made once in a run of the tests, whichever process of xdist asks first.

Whoever wants to change something copies it first.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


class Once:
    """once("models/tfidf", make): the file or folder of that name, which make(path) has written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, name: str, make: Callable[[Path], object]) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        made = path.with_name(f"{path.name}.made")
        with FileLock(path.with_name(f"{path.name}.lock")):
            if not made.exists():
                shutil.rmtree(path, ignore_errors=True)  # of another process, which failed
                make(path)
                made.touch()
        return path


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    own = tmp_path_factory.getbasetemp()
    return Once((own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "world")


@pytest.fixture(scope="session")
def played(once: Once) -> Path:
    """A run of 24 assessed games of Mini-Mafia between two scripted players."""
    import liescope

    players = ["scripted:bold", "scripted:novice"]
    return once("runs/played", lambda out: liescope.play("mini-mafia", out=out, players=players, games=3, assess=True))


@pytest.fixture(scope="session")
def played_corpus(once: Once, played: Path) -> Path:
    import liescope

    return once("corpora/played", lambda out: liescope.build(played, out=out))


@pytest.fixture(scope="session")
def played_model(once: Once, played_corpus: Path) -> Path:
    import liescope

    return once("models/played", lambda out: liescope.train("tfidf", played_corpus, out=out, folds=0))
