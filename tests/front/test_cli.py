"""The command line as a program sees it: exit codes, one clear line, help with an example."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from liescope import cli
from liescope.generate.runs.journal import Journal


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"liescope {cli.__version__}\n"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["plya"], "plya"),
        (["play", "chess", "--out", "{tmp}/r"], "mini-mafia"),
        (["play", "mini-mafia", "--player", "scripted:timid", "--out", "{tmp}/r"], "novice"),
        (["play", "mini-mafia", "--player", "robot:x", "--out", "{tmp}/r"], "scripted"),
        (["play", "mini-mafia", "--player", "bold", "--out", "{tmp}/r"], "scripted:bold"),
        (["play", "mini-mafia", "--games", "many", "--out", "{tmp}/r"], "games"),
        (["play", "mini-mafia", "--games", "0", "--out", "{tmp}/r"], "games"),
        (["play", "mini-mafia"], "--out"),
        (["show", "{tmp}/none"], "none"),
        (["build", "{tmp}/none", "--out", "{tmp}/c"], "none"),
        (["import", "mini-mafia", "{tmp}/none.jsonl", "--out", "{tmp}/r"], "none.jsonl"),
        (["train", "oracle", "--corpus", "{tmp}/c", "--out", "{tmp}/m"], "tfidf"),
        (["train", "tfidf", "--corpus", "{tmp}/c", "--out", "{tmp}/m"], "{tmp}/c"),
        (["evaluate", "{tmp}/m", "--corpus", "{tmp}/c", "--out", "{tmp}/e"], "{tmp}"),
        (["audit", "{tmp}/c"], "{tmp}/c"),
        (["audit", "{tmp}/c", "--target", "lies"], "claim"),
        (["audit", "{tmp}/c", "--shuffles", "3"], "20"),
        (["fit", "{tmp}/none.csv", "--out", "{tmp}/f"], "none.csv"),
        (["publish", "{tmp}/c", "--repo", "a/b"], "{tmp}/c"),
    ],
)
def test_a_mistake_is_one_line_that_names_it_and_exit_code_1(
    words: list[str], names: str, tmp_path: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([word.replace("{tmp}", str(tmp_path)) for word in words]) == 1
    said = capsys.readouterr()
    (line,) = said.err.strip().splitlines()
    assert line.startswith("error: ")
    assert names.replace("{tmp}", str(tmp_path)) in line
    assert said.out == ""


def test_an_openai_player_without_a_key_names_the_variable(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    words = ["play", "mini-mafia", "--player", "openai:gpt-4.1-mini", "--games", "1", "--out", f"{tmp_path}/r"]
    assert cli.main(words) == 1
    assert "OPENAI_API_KEY" in capsys.readouterr().err


def test_a_reader_that_leaves_ends_a_command_as_it_ends_any_tool_and_loses_no_game(tmp_path: Path) -> None:
    words = ["play", "mini-mafia", "--player", "scripted:bold", "--games", "5", "--out", str(tmp_path / "run")]
    with subprocess.Popen(
        [sys.executable, "-m", "liescope", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as playing:
        assert playing.stdout is not None
        assert playing.stderr is not None
        playing.stdout.close()
        said = playing.stderr.read()
        assert playing.wait(60) == 128 + signal.SIGPIPE
    assert "Traceback" not in said
    assert "Broken" not in said
    assert "error" not in said
    with Journal.open(tmp_path / "run") as journal:
        assert len(list(journal.records())) == 5


def test_a_log_on_a_full_disk_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["play", "mini-mafia", "--player", "scripted:bold", "--games", "1", "--out", str(tmp_path / "run")]
    assert cli.main([*words, "--log", "/dev/full"]) == 1
    assert "the log /dev/full cannot be written: No space left on device" in " ".join(capsys.readouterr().err.split())
    assert cli.main(words) == 0
