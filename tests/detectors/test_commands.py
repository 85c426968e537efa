"""`train` and `evaluate` as a user types them."""

from __future__ import annotations

import os
import pty
import re
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from liescope import cli
from liescope.common.errors import UsageError
from liescope.common.folders import replacing
from liescope.detectors import commands, learning_commands
from tests.detectors.conftest import Corpus


def run(*words: str) -> str:
    app = (learning_commands if words[0] == "train" else commands).app
    return CliRunner().invoke(app, list(words), catch_exceptions=False).stdout


def test_no_name_breaks_a_table_of_the_report_or_becomes_a_formula(make_corpus: Corpus, tmp_path: Path) -> None:
    """Models and folders are called as an attacker would call them."""
    corpus, out = make_corpus(games=60, models=("=cmd|x", "a|b[/b]<i>")), tmp_path / "x[" / "b]|=y"
    run("train", "tfidf", "--corpus", str(corpus), "--out", str(out), "--folds", "0")
    run("evaluate", str(out), "--corpus", str(corpus), "--observers", "--out", str(tmp_path / "r"))
    report = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    blocks = [block.splitlines() for block in report.split("\n\n") if block.startswith("|")]
    tables = [line for block in blocks for line in block if line[:1] == "|"]
    assert any(r"villager=a\|b" in line for line in tables)
    assert any(r"b\]\|=y" in line for line in tables)
    assert all(len({len(re.findall(r"(?<!\\)\|", line)) for line in block if line[:1] == "|"}) == 1 for block in blocks)
    assert all("<i>" not in line for line in tables)
    csv = (tmp_path / "r" / "report.csv").read_text(encoding="utf-8")
    assert not re.search(r"(^|,)[=+@]", csv, re.MULTILINE)


def test_everything_fits_80_columns_with_a_row_for_each_detector(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    said = run("train", "tfidf", "--corpus", str(corpus), "--out", "m", "--folds", "2")
    shown = run("evaluate", "m", "--corpus", str(corpus), "--split", "test", "--observers", "--out", "r")
    assert max(map(len, (said + shown).splitlines())) <= 80
    for name in ("m", "length", "one word or mark"):  # each on one line
        assert re.search(rf"^{name} +0\.\d\d \(", shown, re.M), shown


def test_two_trainings_into_one_folder_are_one_too_many(corpus: Path, tmp_path: Path) -> None:
    with replacing(tmp_path / "m", "model", lambda _: True), pytest.raises(UsageError, match="by another process"):
        run("train", "tfidf", "--corpus", str(corpus), "--out", str(tmp_path / "m"), "--folds", "0")


@contextmanager
def small_files(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The limit on the size of files stands in for a disk that is full."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # or compiled modules are cut at the limit, for everybody
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.long
@pytest.mark.parametrize("action", ["train", "evaluate"])
def test_a_full_disk_leaves_nothing_half_made(
    action: str,
    model: Path,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    more = {"train": ["tfidf", "--folds", "0"], "evaluate": [str(model)]}[action]
    words = [action, *more, "--corpus", str(corpus), "--out", str(tmp_path / "out")]
    with small_files(monkeypatch):
        code = cli.main(words)
    assert code == 1
    said = capsys.readouterr().err
    assert "cannot be written" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("seed", ["-1", str(2**32)])
@pytest.mark.parametrize("command", ["train", "evaluate"])
def test_a_seed_out_of_range_is_one_line(command: str, seed: str, corpus: Path, tmp_path: Path) -> None:
    what = {"train": "tfidf", "evaluate": str(tmp_path)}[command]
    with pytest.raises(UsageError, match="seed"):
        run(command, what, "--corpus", str(corpus), "--out", str(tmp_path / "out"), "--seed", seed)


@pytest.mark.long
def test_at_a_terminal_score_says_that_it_reads_and_ctrl_c_ends_it(model: Path) -> None:
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, [sys.executable, "-m", "liescope", "score", str(model)])
    _read_until(terminal, b"reading statements, one a line, from standard input; Ctrl-D ends it")
    time.sleep(1)  # it waits for a line, where polars has worked before
    os.write(terminal, b"I am the detective.\n")
    time.sleep(0.3)
    os.write(terminal, b"\x03")
    ended = time.monotonic() + 20
    while (done := os.waitpid(process, os.WNOHANG))[0] == 0:
        assert time.monotonic() < ended, os.kill(process, 9)
        time.sleep(0.05)
    assert os.waitstatus_to_exitcode(done[1]) == 130


def _read_until(terminal: int, words: bytes) -> None:
    said = b""
    while words not in said:
        said += os.read(terminal, 1000)
