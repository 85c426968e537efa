"""Small things of every kind that a reader opens, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

import liescope


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus and a model."""
    folder = tmp_path_factory.mktemp("made")
    players = ["scripted:bold", "scripted:novice"]
    liescope.play("mini-mafia", out=folder / "run", players=players, games=3, assess=True)
    liescope.build([folder / "run"], out=folder / "corpus")
    liescope.train("tfidf", folder / "corpus", out=folder / "model", folds=0)
    return folder
