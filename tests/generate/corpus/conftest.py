"""Runs with a real journal, and a corpus that a test may spoil."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from tests.generate.corpus.games import pack, play, stream, wolves


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[[str, Iterable[GameRecord]], Path]:
    """Writes games to a run folder with a real journal."""

    def make(name: str, games: Iterable[GameRecord]) -> Path:
        path = tmp_path / "runs" / name
        with Journal.create(path, {"game": "mini-mafia", "name": name}) as journal:
            for game in games:
                journal.add_record(game)
        return path

    return make


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both games, judged ones among them."""
    folder = tmp_path_factory.mktemp("whole") / "corpus"
    games = [*map(play, range(24)), *(wolves(number, judged=True) for number in range(6))]
    pack(stream(games), folder)
    return folder


@pytest.fixture
def corpus(whole: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(whole, tmp_path / "corpus"))


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`datasets.load_dataset` with a cache of its own."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    return lambda folder, config="statements": datasets.load_dataset(
        str(folder), config, cache_dir=str(tmp_path / "cache")
    )


@pytest.fixture
def leak() -> Callable[[Path], None]:
    """Moves one game's vote rows of a corpus to another split, as a careless edit would."""

    def move(corpus: Path) -> None:
        train, test = (corpus / "votes" / f"{split}-00000.parquet" for split in ("train", "test"))
        table = pq.read_table(train)
        position = table.schema.get_field_index("split")
        odd = table.slice(0, 1).set_column(position, table.schema.field("split"), pa.array(["test"]))
        pq.write_table(pa.concat_tables([odd, pq.read_table(test).slice(1)]), test)
        facts = json.loads((corpus / "corpus.json").read_text("utf-8"))
        for file in facts["files"]:
            file["sha256"] = sha256((corpus / file["path"]).read_bytes()).hexdigest()
        (corpus / "corpus.json").write_text(json.dumps(facts), encoding="utf-8")

    return move
