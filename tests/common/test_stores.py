"""Corpora, models and tables in a store that fsspec reaches; the store is a real one of fsspec, in memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest
from polars.selectors import numeric

import liescope
from liescope.cli import main
from liescope.common.errors import BadData, UsageError
from liescope.common.stores import local
from liescope.generate.corpus.open import records
from liescope.generate.importers.importing import import_games

Store = fsspec.AbstractFileSystem
Said = Callable[..., tuple[int, str]]


@pytest.fixture
def store() -> Iterator[Store]:
    store = fsspec.filesystem("memory")
    yield store
    store.rm("/", recursive=True)


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str]) -> Said:
    def run(*words: str) -> tuple[int, str]:
        code = main(words)
        return code, "".join(capfd.readouterr())

    return run


def test_a_corpus_and_a_model_in_a_store_are_read_like_their_folders(
    said: Said, store: Store, played_corpus: Path, played_model: Path
) -> None:
    store.put(str(played_corpus), "/own/said", recursive=True)
    store.put(str(played_model), "/own/reader", recursive=True)
    there = "memory://own/said"
    assert list(records(there)) == list(records(played_corpus))
    assert liescope.load("memory://own/reader").name == "reader"
    found = [
        liescope.evaluate(model, corpus, split="test").metrics.select(numeric())
        for model, corpus in ((played_model, played_corpus), ("memory://own/reader", there))
    ]
    assert found[0].width > 1
    assert found[0].equals(found[1])
    store.pipe("/own/said.csv", b"text\nI investigated Bob. He is the mafioso.\nI am a villager.\n")
    code, words = said("score", "memory://own/reader", "--in", "memory://own/said.csv")
    assert (code, "2 statements" in words or words.count("mafioso")) == (0, True), words


def test_a_command_takes_an_address_and_writes_its_report_here(
    said: Said, store: Store, played_corpus: Path, tmp_path: Path
) -> None:
    store.put(str(played_corpus), "/own/said", recursive=True)
    code, words = said("audit", "memory://own/said", "--out", str(tmp_path / "report"))
    assert (code, (tmp_path / "report" / "report.html").exists()) == (0, True), words


def test_a_table_in_a_store_is_imported_as_the_same_file(store: Store, tmp_path: Path) -> None:
    table = "text,label\n" + "".join(f"sentence number {n},{n % 2}\n" for n in range(12))
    store.pipe("/tables/said.csv", table.encode())
    (tmp_path / "said.csv").write_text(table)
    found = [
        list(records(import_games("text", one, label="label", out=tmp_path / f"run{n}").run))
        for n, one in enumerate(["memory://tables/said.csv", tmp_path / "said.csv"])
    ]
    assert found[0] == found[1] != []


def test_what_changed_in_the_store_is_brought_again_and_what_did_not_is_not(store: Store) -> None:
    store.pipe("/own/a.csv", b"first")
    before = local("memory://own/a.csv")
    assert local("memory://own/a.csv") == before
    store.pipe("/own/a.csv", b"second")
    assert local("memory://own/a.csv").read_bytes() == b"second"


def test_copies_go_when_the_process_ends(tmp_path: Path) -> None:
    program = (
        "import fsspec; from liescope.common.stores import local\n"
        "fsspec.filesystem('memory').pipe('/a/b.csv', b'x')\n"
        "print(local('memory://a/b.csv').read_text())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"TMPDIR": str(tmp_path), "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, list(tmp_path.iterdir())) == ("x\n", [])


@pytest.mark.parametrize("address", ["memory://nothing/here", "memory://own/empty"])
def test_nothing_at_an_address_is_told(store: Store, address: str) -> None:
    with pytest.raises(BadData, match=f"there is nothing at {address}"):
        liescope.audit(address)


def test_a_name_in_a_store_cannot_leave_the_copy(store: Store, tmp_path: Path) -> None:
    store.store["/own/bad/../../out.txt"] = store.store.get("/own/bad") or _file(store, b"x")
    with pytest.raises(BadData, match="outside itself"):
        local("memory://own/bad")


def _file(store: Store, content: bytes) -> object:
    store.pipe("/own/held", content)
    return store.store["/own/held"]


@pytest.mark.parametrize("address", ["s3://name:secret@bucket/corpus", "gs://bucket/corpus?token=secret"])
def test_an_address_with_a_password_is_refused_and_not_shown(said: Said, address: str) -> None:
    for words in (("audit", address), ("import", "text", address, "--out", "run")):
        code, output = said(*words)
        assert (code, "secret" in output) == (1, False), output
    for given in (address, Path(address)):  # which takes a slash away
        with pytest.raises(UsageError, match="may not hold @ or") as told:
            local(given)
        assert "secret" not in str(told.value)


def test_a_package_that_is_missing_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme, package in (("s3", "s3fs"), ("gs", "gcsfs")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(UsageError, match=f"{scheme}://bucket/corpus needs .*pip install {package}"):
            local(f"{scheme}://bucket/corpus")


def test_a_store_is_not_written_to_and_nothing_is_left(
    said: Said, played: Path, played_corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (
        ("audit", str(played_corpus)),
        ("train", "tfidf", "--corpus", str(played_corpus)),
        ("build", str(played)),
        ("play", "mini-mafia", "--player", "scripted:bold", "--games", "1"),
    ):
        code, output = said(*words, "--out", "memory://own/out")
        assert (code, list(tmp_path.iterdir())) == (1, []), (words, output)
        assert "can be read and not written" in " ".join(output.split()), output


@pytest.mark.parametrize(
    "path", ["hf://me/corpus", "hf:/datasets/me/corpus", "me/corpus", "https://x.org/a", "odd://a/b"]
)
def test_paths_and_whole_repositories_are_left_to_others(path: str) -> None:
    assert local(path) == Path(path)
