"""What takes a corpus takes a run too, and sees the same rows and splits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from liescope.common.errors import BadData
from liescope.data_cards.tables import TABLES
from liescope.games.record import GameRecord
from liescope.generate.corpus import as_corpus, build, read
from tests.generate.corpus.games import play


def test_a_run_is_read_as_its_corpus_and_leaves_nothing_behind(
    make_run: Callable[[str, Iterable[GameRecord]], Path], tmp_path: Path
) -> None:
    run = make_run("one", [play(number) for number in range(6)])
    built = build(run, out=tmp_path / "built").folder
    before = sorted(tmp_path.rglob("*"))
    with as_corpus(run) as folder:
        for name in TABLES:
            assert read(folder, name).collect().equals(read(built, name).collect()), name
    assert not folder.exists()
    assert sorted(tmp_path.rglob("*")) == before
    with as_corpus(built) as folder:
        assert folder == built


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    with as_corpus(tmp_path) as folder, pytest.raises(BadData, match="is not a corpus"):
        read(folder, "games")
