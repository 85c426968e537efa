"""A device, a pipe or an endless file in a stranger's folder neither holds anybody up nor fills the memory."""

from __future__ import annotations

import os
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.common.errors import BadData, LiescopeError
from liescope.common.reading import read_text
from liescope.common.sentence_encoder import check_encoder
from liescope.data_cards.tables import TABLES
from liescope.detectors.learned_from import LearnedStatements
from liescope.generate.corpus.read import check, data_file
from liescope.generate.importers import Rejected, read_games
from liescope.generate.players.prompts.render import read_template
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_progress import STATE_FILE, read_state
from tests.fuzz.mutations import said

pytestmark = pytest.mark.timeout(120)

MOST_MEMORY = 1 << 31  # bytes more than now
ENDLESS = 1 << 40


def zeros(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(ENDLESS)


special = pytest.mark.parametrize("special", [zeros, pipe, sparse])
Special = Callable[[Path], None]


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Whoever reads on and on fails here and not the machine."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    old = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_MEMORY, old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, old)


def opened_run(folder: Path) -> None:
    with Journal.open(folder) as journal:
        list(journal.records())
    read_state(folder)


def opened_corpus(folder: Path) -> None:
    check(folder)
    for config in TABLES:
        liescope.read(folder, config).collect()


def opened_model(folder: Path) -> None:
    model = liescope.load(folder)
    model.score(["I investigated Bob. He is the mafioso."])
    LearnedStatements.read(model.folder)


READ: dict[str, tuple[Callable[[Path], Any], tuple[str, ...]]] = {
    "run": (opened_run, ("run.json", "journal.sqlite", STATE_FILE)),
    "corpus": (opened_corpus, ("corpus.json", data_file("statements", "train"), data_file("games", "test"))),
    "model": (
        opened_model,
        ("model.json", "words.json", "words.npy", "scores.parquet", "games.txt", "learned.parquet"),
    ),
}


@special
@pytest.mark.parametrize("kind", READ)
def test_a_run_a_corpus_or_a_model_with_one_is_refused_in_one_line(
    kind: str, special: Special, made: dict[str, Path], tmp_path: Path
) -> None:
    read, names = READ[kind]
    for name in names:
        folder = shutil.copytree(made[kind], tmp_path / name.replace("/", "-"))
        at = next(folder.rglob(Path(name).name), folder / name) if "/" not in name else folder / name
        at.unlink(missing_ok=True)
        special(at)
        with pytest.raises(LiescopeError) as error:
            read(folder)
        said(error.value)


@special
def test_more_files_of_others_are_refused_too(special: Special, tmp_path: Path) -> None:
    for name in ("encoder/config.json", "encoder/tokenizer.json", "prompts/rules.jinja"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        special(tmp_path / name)
    with pytest.raises(LiescopeError):
        check_encoder(tmp_path / "encoder")
    with pytest.raises(LiescopeError):
        read_template(tmp_path / "prompts", "rules.jinja")


@pytest.mark.long
@special
@pytest.mark.parametrize(
    ("format", "name"),
    [
        ("jsonl", "rows.json"),
        ("jsonl", "rows.csv"),
        ("jsonl", "rows.parquet"),
        ("mini-mafia", "games.jsonl.gz"),
        ("quack", "games.tar.gz"),
        ("avalon-nlu", "games.jsonl"),
        ("diplomacy", "train.jsonl"),
    ],
)
def test_no_importer_reads_one(format: str, name: str, special: Special, tmp_path: Path) -> None:
    special(tmp_path / name)
    if special is sparse:
        (tmp_path / name).unlink()
        with (tmp_path / name).open("wb") as file:
            file.truncate(1 << 29)
        assert all(isinstance(item, Rejected) for item in read_games(format, tmp_path / name))
        return
    with pytest.raises(BadData, match="not a regular file"):
        liescope.import_games(format, tmp_path / name, out=tmp_path / "run")
    with pytest.raises(BadData, match="not a regular file"):
        liescope.import_games("jsonl", tmp_path, out=tmp_path / "run")


def test_a_pipe_that_the_user_names_is_read_and_an_endless_one_is_not(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"")
    os.close(writing)
    assert read_text(Path(f"/dev/fd/{reading}"), given=True) == ""
    os.close(reading)
    with pytest.raises(BadData, match="more than"):
        read_text(Path("/dev/zero"), given=True)
