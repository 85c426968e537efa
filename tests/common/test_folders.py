"""Folders change as a whole or not at all, and one process at a time writes them: tried with real processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from liescope.common.errors import UsageError
from liescope.common.folders import replacing

BEGIN = """
import os, sys
from pathlib import Path
from liescope.common.folders import replacing, take_lock
out = Path(sys.argv[1])
"""
BUILD = """
with replacing(out, "corpus", lambda folder: (folder / "corpus").exists()) as folder:
    (folder / "corpus").write_text("new")
"""
HOLD = "    print('ready', flush=True)\n    sys.stdin.read()\n"
DIE_BETWEEN_THE_RENAMES = """
rename = Path.rename
def die_after(path, target):
    rename(path, target)
    os._exit(9)
Path.rename = die_after
"""


def start(code: str, out: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BEGIN + code, str(out)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ours(folder: Path) -> bool:
    return (folder / "corpus").exists()


def start_and_wait(code: str, out: Path) -> subprocess.Popen[str]:
    """A process that has said its first line, and reads standard input until it is closed."""
    process = start(code, out)
    assert process.stdout.readline() == "ready\n"
    return process


def die_between_the_renames(out: Path) -> None:
    process = start(DIE_BETWEEN_THE_RENAMES + BUILD, out)
    process.communicate(timeout=20)
    assert process.returncode == 9


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    out = tmp_path / "out"
    out.mkdir()
    (out / "corpus").write_text("old")
    return out


def test_a_folder_is_replaced_as_a_whole_and_nothing_stays_beside_it(corpus: Path) -> None:
    with replacing(corpus, "corpus", ours) as folder:
        (folder / "corpus").write_text("new")
        assert (corpus / "corpus").read_text() == "old"
    assert (corpus / "corpus").read_text() == "new"
    assert [path.name for path in corpus.parent.iterdir()] == ["out"]


def test_a_block_that_raises_leaves_the_old_folder(corpus: Path) -> None:
    with pytest.raises(ZeroDivisionError), replacing(corpus, "corpus", ours) as folder:
        (folder / "corpus").write_text(str(1 / 0))
    assert (corpus / "corpus").read_text() == "old"
    assert [path.name for path in corpus.parent.iterdir()] == ["out"]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_text("years of work")
    with pytest.raises(UsageError, match="not a corpus"), replacing(tmp_path / "thesis", "corpus", ours):
        pass
    assert (tmp_path / "thesis" / "chapter").read_text() == "years of work"
    assert [path.name for path in tmp_path.iterdir()] == ["thesis"]


def test_the_old_folder_comes_back_after_a_crash_between_the_renames(corpus: Path) -> None:
    die_between_the_renames(corpus)
    assert not corpus.exists()
    with pytest.raises(ZeroDivisionError), replacing(corpus, "corpus", ours):
        raise ZeroDivisionError
    assert (corpus / "corpus").read_text() == "old"
    assert [path.name for path in corpus.parent.iterdir()] == ["out"]


def test_a_crash_between_the_renames_is_no_way_round_the_check(corpus: Path) -> None:
    die_between_the_renames(corpus)
    with pytest.raises(UsageError, match="not a corpus"), replacing(corpus, "corpus", lambda folder: False):
        pass
    assert (corpus / "corpus").read_text() == "old"


def test_a_second_process_is_refused_and_the_first_one_finishes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = start_and_wait(BUILD + HOLD, out)
    with pytest.raises(UsageError, match="is being written by another process"), replacing(out, "corpus", ours):
        pass
    first.communicate("", timeout=20)
    assert first.returncode == 0
    assert (out / "corpus").read_text() == "new"
    with replacing(out, "corpus", ours):
        pass


def test_a_killed_process_gives_its_lock_back(tmp_path: Path) -> None:
    out = tmp_path / "out"
    killed = start_and_wait(BUILD + HOLD, out)
    killed.kill()
    killed.communicate()
    with replacing(out, "corpus", ours) as folder:
        (folder / "corpus").write_text("next")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_many_at_once_leave_one_whole_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    builders = [start(BUILD * 30, out) for _ in range(4)]
    for builder in builders:
        _, said = builder.communicate(timeout=60)
        assert builder.returncode == 0 or "is being written by another process" in said.splitlines()[-1]
    assert (out / "corpus").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
