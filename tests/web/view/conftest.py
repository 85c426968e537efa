"""Runs and corpora to look at: small, and scripted, with every kind of event that the rules have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import liescope


@dataclass(frozen=True)
class Played:
    """A run and the corpus that was built from it."""

    run: Path
    corpus: Path


def played(folder: Path, game: str, games: int) -> Played:
    liescope.play(game, players=["scripted:bold"], games=games, out=folder / "runs" / game, assess=True)
    liescope.build([folder / "runs" / game], out=folder / "corpus" / game)
    return Played(folder / "runs" / game, folder / "corpus" / game)


@pytest.fixture(scope="session")
def mini_mafia(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played(tmp_path_factory.mktemp("mini"), "mini-mafia", 12)


@pytest.fixture(scope="session")
def werewolf(tmp_path_factory: pytest.TempPathFactory) -> Played:
    return played(tmp_path_factory.mktemp("wolves"), "werewolf", 2)
