"""A corpus that several processes label is the one that a single process makes."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import BadData, UsageError
from liescope.data_cards.tables import SPLITS, TABLES
from liescope.generate.corpus import blocks, build, write

Play = Callable[..., Any]
MakeRun = Callable[..., Path]


@pytest.fixture
def runs(make_run: MakeRun, play: Play, wolves: Play) -> list[Path]:
    games = [play(number) for number in range(12)]
    return [make_run("one", games), make_run("two", [wolves(1), *(play(number) for number in range(12, 20))])]


@pytest.mark.parametrize("bound", [("GROUP_ROWS", 7), ("GROUP_CHARS", 500)])
def test_the_files_are_the_same_byte_for_byte(
    runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: tuple[str, int]
) -> None:
    monkeypatch.setattr(blocks, "GAMES", 4)
    monkeypatch.setattr(write, *bound)
    one, many = (
        build(
            runs,
            out=tmp_path / str(workers) / "corpus",
            hold_out_models=["model-a"],
            transcript=True,
            workers=workers,
        )
        for workers in (1, 2)
    )
    assert many.facts == one.facts
    written = sorted(path.relative_to(one.folder) for path in one.folder.rglob("*.parquet"))
    assert len(written) == len(TABLES) * len(SPLITS)
    for path in written:
        assert (many.folder / path).read_bytes() == (one.folder / path).read_bytes()


def test_what_is_wrong_with_a_game_is_said_and_nothing_is_left(runs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'one' twice"):
        build([runs[0], runs[0]], out=tmp_path / "built" / "corpus", workers=2)
    with sqlite3.connect(runs[1] / "journal.sqlite") as base:
        base.execute("UPDATE games SET record = replace(record, 'Alice', 'Alicf') WHERE number = 5")
    base.close()
    with pytest.raises(BadData, match=r"two.*game"):
        build(runs, out=tmp_path / "built" / "corpus", workers=2)
    assert list((tmp_path / "built").iterdir()) == []


@pytest.mark.parametrize("workers", [0, -1, 1000])
def test_a_number_of_workers_that_is_none_is_refused(runs: list[Path], tmp_path: Path, workers: int) -> None:
    with pytest.raises(UsageError, match="--workers"):
        build(runs, out=tmp_path / "corpus", workers=workers)
