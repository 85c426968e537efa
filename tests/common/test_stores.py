"""Corpora, models, reports and tables in a store that fsspec reaches: one in memory, and one on disk."""

from __future__ import annotations

import runpy
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem
from polars.selectors import numeric

import liescope
from liescope import parallel
from liescope.benchmark.capability.count_sources import load_conditions
from liescope.cli import main
from liescope.common import stores
from liescope.common.errors import BadData, UsageError
from liescope.common.stores import local
from liescope.generate.corpus.open import open_games, records
from liescope.generate.importers.importing import import_games
from liescope.generate.players.reply_cache import ReplyCache

Store = fsspec.AbstractFileSystem
Said = Callable[..., tuple[int, str]]


@pytest.fixture
def store() -> Iterator[Store]:
    store = fsspec.filesystem("memory")
    yield store
    store.rm("/", recursive=True)


class Disk(LocalFileSystem):
    """A store on this disk, below `base`. Like most, it lists what it holds by names of its own."""

    protocol = "disk"
    base = Path()
    cachable = False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        _, scheme, place = str(path).partition("://")
        return str(cls.base / place) if scheme else str(path)


@pytest.fixture
def disk(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> type[Disk]:
    monkeypatch.setattr(Disk, "base", tmp_path_factory.mktemp("disk"))
    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "disk", Disk)
    return Disk


@pytest.fixture
def clean(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder."""
    monkeypatch.chdir(folder := tmp_path_factory.mktemp("clean"))
    return folder


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


@pytest.mark.parametrize(
    "address",
    [
        "s3://name:secret@bucket/corpus",
        "s3://secret@bucket/corpus",
        "s3://name:sec/secret@bucket/corpus",
        "gs://bucket/corpus?token=secret",
        "hf://name:secret@datasets/me/said",
    ],
)
def test_an_address_with_a_password_is_refused_and_not_shown(said: Said, address: str) -> None:
    for words in (("audit", address), ("import", "text", address, "--out", "run")):
        code, output = said(*words)
        assert (code, "secret" in output) == (1, False), output
    for given in (address, Path(address)):  # which takes a slash away
        with pytest.raises(UsageError, match="may not hold a name before @") as told:
            local(given)
        assert "secret" not in str(told.value)


def test_a_package_that_is_missing_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme, package in (("s3", "s3fs"), ("gs", "gcsfs")):
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(UsageError, match=f"{scheme}://bucket/corpus needs .*pip install {package}"):
            local(f"{scheme}://bucket/corpus")


@pytest.fixture(params=["memory", "disk"])
def at(request: pytest.FixtureRequest, store: Store, disk: type[Disk]) -> str:
    """An empty place in a store: one in memory, one whose folders have to be made."""
    return f"{request.param}://own/made"


def below(address: str) -> dict[str, bytes]:
    """What lies at an address: content by path."""
    store, root = fsspec.core.url_to_fs(address)
    store.invalidate_cache()
    return {name[len(root) :]: store.cat_file(name) for name in store.find(root)}


@pytest.mark.long
def test_every_command_writes_to_an_address_what_it_writes_to_a_folder(
    said: Said, at: str, played: Path, played_corpus: Path, played_model: Path, tmp_path: Path, clean: Path
) -> None:
    table = tmp_path / "said.csv"
    table.write_text("text,label\n" + "".join(f"sentence number {n},{n % 2}\n" for n in range(12)))
    corpus, model = str(played_corpus), str(played_model)
    for number, (end, words) in enumerate(
        (
            ("", ["build", str(played)]),
            ("", ["import", "text", str(table), "--label", "label"]),
            ("", ["train", "tfidf", "--corpus", corpus, "--target", "role"]),
            ("", ["export", str(played), "--to", "inspect"]),
            ("", ["audit", corpus]),
            ("", ["evaluate", model, "--corpus", corpus]),
            (".parquet", ["score", model, "--in", str(table)]),
            (".html", ["view", corpus, "0"]),
        )
    ):
        there, here = f"{at}/{number}{end}", tmp_path / f"{number}{end}"
        code, output = said(*words, "--out", there)
        local_code, _ = said(*words, "--out", str(here))
        assert (code, local_code) == (0, 0), (words, output)
        assert there in output.replace("\n", ""), (words, output)
        files = [f"/{path.relative_to(here)}" for path in here.rglob("*") if path.is_file()] if here.is_dir() else [""]
        made = below(there)
        assert sorted(made) == sorted(files), words
        for name, content in {**made, "output": output.encode()}.items():
            assert b"/liescope-" not in content, (words, name)
        if words[0] == "build":
            tables = {name: content for name, content in made.items() if name.endswith(".parquet")}
            assert tables == {name: (here / name[1:]).read_bytes() for name in tables} != {}
    assert list(clean.iterdir()) == []


@pytest.mark.long
def test_a_result_in_python_names_the_address_and_is_read_from_there(
    at: str, played: Path, played_corpus: Path, clean: Path
) -> None:
    built = liescope.build(played, out=f"{at}/said")
    assert (str(built.folder), built.to_json()["corpus"]) == (f"{at}/said",) * 2
    assert str(built.folder / "README.md") == f"{at}/said/README.md"
    assert built.statements.equals(liescope.read(played_corpus, "statements").collect())
    trained = liescope.train("tfidf", built.folder, target="role", out=Path(f"{at}/reader"))
    assert liescope.load(trained.model).name == "reader"
    audited = liescope.audit(f"{at}/said", out=f"{at}/audit")
    assert {str(file).removeprefix(f"{at}/audit") for file in audited.files} == below(f"{at}/audit").keys()
    assert str(liescope.build(played, out=f"{at}/said").notes[0]).startswith(f"{at}/said held a corpus")


def test_what_is_at_an_address_is_treated_as_a_folder_is(
    said: Said, at: str, played: Path, played_corpus: Path, clean: Path
) -> None:
    there = f"{at}/said"
    assert said("build", str(played), "--out", there)[0] == 0
    before = below(there)
    for words, told in (
        (("build", str(played), "--transcript"), "holds a corpus of other runs or options; add --overwrite"),
        (("analyse", str(played)), "is not empty; add --overwrite"),
        (("analyse", str(played), "--overwrite"), "exists and is not a report"),
        (("train", "tfidf", "--corpus", str(played_corpus)), "exists and is not a model"),
        (("export", str(played), "--to", "inspect"), "is not a Liescope export"),
    ):
        code, output = said(*words, "--out", there)
        assert (code, f"{there} " in output, told in output) == (1, True, True), output
        assert below(there) == before
    assert said("build", str(played), "--transcript", "--overwrite", "--out", there)[0] == 0
    assert sorted(below(there)) == sorted(before)
    assert below(there)["/corpus.json"] != before["/corpus.json"]


def test_files_that_a_new_export_lacks_go_and_an_import_goes_on(
    said: Said, at: str, played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = f"{at}/export"
    assert said("export", str(played), "--to", "inspect", "--out", there)[0] == 0
    store, root = fsspec.core.url_to_fs(there)
    store.pipe_file(f"{root}/of_old.jsonl", b"{}\n")
    before = below(there).keys()
    assert said("export", str(played), "--to", "inspect", "--out", there)[0] == 0
    assert below(there).keys() == before - {"/of_old.jsonl"}
    table = tmp_path / "said.csv"
    table.write_text("text,label\n" + "".join(f"sentence number {n},{n % 2}\n" for n in range(12)))
    first = import_games("text", table, label="label", out=f"{at}/run")
    sent = list[str]()
    monkeypatch.setattr(type(store), "put_file", lambda self, here, name, **_: sent.append(name.rpartition("/")[2]))
    monkeypatch.setattr(type(store), "rm_file", lambda self, name: None)
    again = import_games("text", table, label="label", out=f"{at}/run")
    assert (first.new, again.new, str(again.run)) == (12, 0, f"{at}/run")
    assert "run.json" not in sent  # what did not change is left as it is
    assert len(list(records(f"{at}/run"))) == 12


@pytest.mark.long
@pytest.mark.parametrize("after", [0, 5])
def test_what_cannot_be_sent_is_kept_and_the_command_told_sends_it(
    said: Said, at: str, played: Path, after: int, clean: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    there = f"{at}/said"
    assert said("build", str(played), "--transcript", "--out", there)[0] == 0
    store = type(fsspec.core.url_to_fs(there)[0])
    monkeypatch.setattr(tempfile, "tempdir", str(clean))
    with monkeypatch.context() as broken:
        broken.setattr(store, "put_file", _fails_after(store.put_file, after, PermissionError("a signed request")))
        code, output = said("build", str(played), "--overwrite", "--out", there)
    assert (code, "signed" in output) == (1, False)
    assert f"error: {there} cannot be written (PermissionError); all is kept in" in output
    with pytest.raises(BadData, match=r"there is nothing|is not a corpus"):  # and not half of each
        liescope.read(there, "statements").collect()
    (kept,) = clean.glob("liescope-kept-*/said")
    assert liescope.read(kept, "statements").collect().height > 0
    python, m, module, *words = shlex.split(output.rpartition("send it with: ")[2])
    assert (python, m, module) == ("python", "-m", stores.__name__)
    monkeypatch.setattr(sys, "argv", [module, *words])
    runpy.run_path(stores.__file__, run_name="__main__")
    files = [path for path in kept.rglob("*") if path.is_file()]
    assert below(there) == {f"/{path.relative_to(kept)}": path.read_bytes() for path in files}
    assert liescope.read(there, "games").collect().equals(liescope.read(kept, "games").collect())


def test_ctrl_c_while_sending_keeps_what_was_made(
    at: str, played_corpus: Path, clean: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = type(fsspec.core.url_to_fs(at)[0])
    monkeypatch.setattr(tempfile, "tempdir", str(clean))
    monkeypatch.setattr(store, "put_file", _fails_after(store.put_file, 1, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        liescope.audit(played_corpus, out=f"{at}/audit")
    (kept,) = clean.glob("liescope-kept-*/audit")
    assert ((kept / "report.html").exists(), str(kept) in capsys.readouterr().err) == (True, True)


def _fails_after(put: Callable[..., None], files: int, error: BaseException) -> Callable[..., None]:
    left = iter(range(files))

    def fails(store: Store, here: str, name: str, **how: object) -> None:
        if next(left, None) is None:
            raise error
        put(store, here, name, **how)

    return fails


def test_a_run_and_what_is_written_piece_by_piece_stay_here(
    said: Said, store: Store, played: Path, played_model: Path, clean: Path
) -> None:
    store.put(str(played), "/own/run", recursive=True)
    for words in (
        ("play", "mini-mafia", "--player", "scripted:bold", "--games", "1", "--out", "memory://own/out"),
        ("demo", "--out", "memory://own/out"),
        ("serve", "--out", "memory://own/out", "--port", "0"),
        ("label", "memory://own/run", "--judge", "scripted:bold"),
        ("withdraw", "memory://own/run", "Bob"),
    ):
        code, output = said(*words)
        assert (code, list(clean.iterdir())) == (1, []), (words, output)
        assert "is in a store, and this is written piece by piece" in output, (words, output)
    with pytest.raises(UsageError, match="piece by piece"):
        parallel.build([played], out="memory://own/out")
    with pytest.raises(UsageError, match="piece by piece"):
        parallel.score(str(played_model), "said.csv", out="memory://own/out.csv", parts=2)
    with pytest.raises(UsageError, match="piece by piece"):
        ReplyCache(Path("memory://own/cache"))
    assert list(clean.iterdir()) == []
    assert not store.exists("/own/out")


@pytest.mark.long
def test_runs_reports_answers_and_suites_are_read_from_a_store(
    said: Said, store: Store, played: Path, played_corpus: Path, played_model: Path, tmp_path: Path, clean: Path
) -> None:
    report = liescope.evaluate(played_model, played_corpus, out=tmp_path / "report")
    for name, path in (("run", played), ("said", played_corpus), ("reader", played_model), ("report", "")):
        store.put(str(path or report.files[0].parent), f"/own/{name}", recursive=True)
    store.pipe("/own/suite.toml", b'[[data]]\nname = "own"\nformat = "text"\nfile = "said.csv"\n')
    store.pipe("/own/said.csv", b"text,deceptive\n" + b"".join(b"sentence %d,%d\n" % (n, n % 2) for n in range(30)))
    m = "memory://own"
    for words, told in (
        (("show", f"{m}/run"), f"liescope show {m}/run GAME_ID"),
        (("status", f"{m}/run"), f"{m}/run: play ended"),
        (("build", f"{m}/run", "--out", str(tmp_path / "again")), "The corpus is in"),
        (("publish", f"{m}/said", "--repo", "me/said", "--dry-run"), "would be at"),
        (("publish", f"{m}/reader", "--repo", "me/reader", "--report", f"{m}/report", "--dry-run"), "would be at"),
        (("bench", "tfidf", "--suite", f"{m}/suite.toml", "--out", str(tmp_path / "bench")), "tfidf"),
    ):
        code, output = said(*words)
        assert (code, told in output, "/liescope-" in output) == (0, True, False), output
    said("report", f"{m}/run", "--out", str(tmp_path / "page"))
    made = [path.read_bytes() for path in tmp_path.rglob("*") if path.suffix in (".html", ".json", ".md", ".csv")]
    assert not [content for content in made if b"/liescope-" in content]
    assert f"Made from {m}/run".encode() in (tmp_path / "page" / "report.html").read_bytes()
    store.pipe("/own/counts.csv", b"mafioso,detective,villager,mafia_wins,games\nA,B,C,2,5\n")
    assert load_conditions([f"{m}/counts.csv"])[""].games == 5
    assert open_games(f"{m}/run").source == f"{m}/run"
    store.pipe("/own/people.json", b"[]")
    for words, told in (
        (("--people", f"{m}/people.json"), f"{m}/people.json holds no answer"),
        (("--people", f"{m}/none.json"), f"there is nothing at {m}/none.json"),
    ):
        code, output = said("evaluate", str(played_model), "--corpus", str(played_corpus), *words, "--out", "out")
        assert (code, told in output) == (1, True), output
    code, output = said("score", str(played_model), f"{m}/said.csv")
    assert (code, "not a statement; read a file with --in" in output) == (1, True)


def test_messages_name_the_address_and_not_the_copy(said: Said, store: Store, played_corpus: Path) -> None:
    store.put(str(played_corpus), "/own/said", recursive=True)
    store.pipe("/own/said/games/test-00000.parquet", b"PAR1")
    store.pipe("/own/broken/corpus.json", b"{")
    store.pipe("/own/table.csv", b"text\n")
    for words, told in (
        (("audit", "memory://own/said"), "memory://own/said/games/test-00000.parquet is truncated or damaged"),
        (("audit", "memory://own/broken"), "memory://own/broken/corpus.json cannot be read"),
        (("audit", "memory://own/table.csv"), "memory://own/table.csv is a file and not a corpus"),
        (("import", "text", "memory://own/table.csv", "--out", "run"), "memory://own/table.csv holds no text"),
    ):
        code, output = said(*words)
        assert (code, told in output, "/liescope-" in output) == (1, True, False), output


def test_a_revision_on_the_hub_is_read_and_nothing_is_written_there(
    store: Store, disk: type[Disk], played: Path, played_corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules["fsspec.registry"]._registry, "hf", disk)
    for place in ("datasets/me/said@v2", "datasets/me/said@refs%2Fpr%2F1/part"):
        disk().put(f"{played_corpus}/", f"hf://{place}/", recursive=True)
        assert liescope.read(f"hf://{place}", "games").collect().height > 0
        assert liescope.audit(Path(f"hf://{place}")).games > 0
    with pytest.raises(UsageError, match="liescope publish"):
        liescope.build(played, out="hf://datasets/me/said/part")


@pytest.mark.parametrize(
    "path", ["hf://me/corpus", "hf:/datasets/me/corpus", "me/corpus", "https://x.org/a", "odd://a/b"]
)
def test_paths_and_whole_repositories_are_left_to_others(path: str) -> None:
    assert local(path) == Path(path)
