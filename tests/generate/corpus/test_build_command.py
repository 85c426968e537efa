"""`liescope build` as a user meets it: figures, one JSON object, progress aside, one line on a mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from liescope import cli
from liescope.common.folders import replacing
from liescope.generate.corpus import build, read
from tests.generate.corpus.games import play

Liescope = Callable[..., Any]
MakeRun = Callable[..., Path]
ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def liescope(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """liescope("build", …): what the command says, and its exit code."""

    def run(*words: object) -> Done:
        capsys.readouterr()
        code = cli.main([str(word) for word in words])
        return Done(code, *capsys.readouterr())

    return run


def test_it_tells_what_it_made_and_keeps_progress_off_standard_output(
    make_run: MakeRun, tmp_path: Path, liescope: Liescope
) -> None:
    run = make_run("one", [play(number) for number in range(10)])
    done = liescope("build", run, "--out", tmp_path / "corpus")
    assert done.returncode == 0, done.stderr
    assert "of 10 games" in done.stdout
    assert "10/10 games" in done.stderr
    assert read(tmp_path / "corpus", "games").collect().height == 10


def test_a_full_disk_is_one_line_and_leaves_nothing_behind(make_run: MakeRun, tmp_path: Path) -> None:
    words = ["".join(sha256(f"{number} {part}".encode()).hexdigest() for part in range(90)) for number in range(40)]
    run = make_run("one", [play(number, said=said) for number, said in enumerate(words)])
    full = (
        "import resource, signal, sys; sys.dont_write_bytecode = True; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))"
    )
    code = f"{full}\nfrom liescope.cli import main\nsys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "build", str(run), "--out", str(tmp_path / "corpus")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"error: {tmp_path / 'corpus'} cannot be written")
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs"]


def test_a_second_build_into_one_folder_says_so_and_destroys_nothing(
    make_run: MakeRun, tmp_path: Path, liescope: Liescope
) -> None:
    run = make_run("one", [play(number) for number in range(8)])
    out = tmp_path / "corpus"
    with replacing(out, "corpus", lambda _: True) as folder:
        (folder / "half").write_text("built", encoding="utf-8")
        second = liescope("build", run, "--out", out)
        assert second.returncode == 1
        assert second.stderr.splitlines()[-1].startswith(f"error: {out} is being written by another process")
        assert (folder / "half").read_text("utf-8") == "built"
    assert (out / "half").is_file()


def test_games_that_are_still_to_play_are_counted(make_run: MakeRun, tmp_path: Path, liescope: Liescope) -> None:
    run = make_run("one", [play(number) for number in range(3)])
    head = json.loads((run / "run.json").read_text(encoding="utf-8"))
    head["plan"] = {**head["plan"], "cells": [["a"] * 3, ["b"] * 3], "games": 4}
    (run / "run.json").write_text(json.dumps(head), encoding="utf-8")
    assert build(run, out=tmp_path / "corpus").unplayed == 5
    done = liescope("build", run, "--out", tmp_path / "corpus")
    assert "5 games of these runs are not played yet" in done.stderr
