"""A signal that asks to end, at any moment: exit code 128 and its number, one or two lines, no traceback, and nothing
that was answered is lost."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_progress import status
from tests.generate.runs.limited_server import Fault, LimitedServer

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow
# Where the interrupt passed through an exec (a dataclass being made), Python ends itself with the signal, although the
# interrupt was handled; to a shell both are 130.
ENDED = (130, -signal.SIGINT)


@pytest.fixture
def slow(serve: Callable[..., LimitedServer]) -> LimitedServer:
    return serve(latency=1.0)


def begin(server: LimitedServer, out: Path, **how: Any) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "liescope", "play", "mini-mafia", "--player", f"openai:stub@{server.url}"]
    words += ["--no-preflight", "--games", "50", "--design", "self", "--concurrency", "8", "--out", str(out)]
    words += ["--max-fallbacks", "1"]  # what the server answers is often of no use
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, cwd=ROOT, **(how or piped))


def wait_until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def kept(run: Path) -> int:
    with Journal.open(run) as journal:
        return sum(len(journal.answers(game_id)) for game_id in journal.begun() | set(journal.game_ids()))


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, *(pytest.param(one, marks=pytest.mark.long) for one in (signal.SIGINT, signal.SIGHUP))]
)
def test_requests_under_way_come_in_and_no_new_one_is_sent(slow: LimitedServer, tmp_path: Path, number: int) -> None:
    process = begin(slow, tmp_path / "run")
    wait_until(lambda: slow.answered >= 8 and slow.under_way == 8)
    process.send_signal(number)
    said, complained = process.communicate(timeout=30)
    assert (process.returncode, said) == (128 + number, "")
    assert "waiting for the requests under way" in complained
    assert f"run the same command again to go on with {tmp_path / 'run'}" in complained.replace("\n", "")
    assert "Traceback" not in complained
    assert kept(tmp_path / "run") == slow.answered


@pytest.mark.long
def test_a_second_time_ends_at_once(slow: LimitedServer, tmp_path: Path) -> None:
    slow.behaviour.latency = 60.0
    process = begin(slow, tmp_path / "run")
    wait_until(lambda: slow.under_way == 8)
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, complained = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in complained
    assert not status(tmp_path / "run").running
    assert "ended" in next(status(tmp_path / "run").lines())


@pytest.mark.long
def test_a_terminal_that_is_closed_loses_nothing(slow: LimitedServer, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    here = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    process = begin(slow, tmp_path / "run", **here, preexec_fn=_owns_terminal, start_new_session=True)
    os.close(theirs)
    wait_until(lambda: slow.answered >= 8 and slow.under_way == 8)
    os.close(ours)
    assert process.wait(30) == 128 + signal.SIGHUP
    assert kept(tmp_path / "run") == slow.answered
    assert "ended" in next(status(tmp_path / "run").lines())


@pytest.mark.long
def test_nohup_is_respected(slow: LimitedServer, tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = begin(slow, tmp_path / "run")
    finally:
        signal.signal(signal.SIGHUP, before)
    wait_until(lambda: slow.answered >= 8)
    process.send_signal(signal.SIGHUP)
    answered = slow.answered
    wait_until(lambda: slow.answered >= answered + 16)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130


def _owns_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.long
def test_a_wait_for_a_limit_ends_at_once(slow: LimitedServer, tmp_path: Path) -> None:
    slow.behaviour.fault = lambda seconds, body: Fault(429, headers={"Retry-After": "100"})
    process = begin(slow, tmp_path / "run")
    wait_until(lambda: slow.refused[429] >= 8)
    process.send_signal(signal.SIGINT)
    _, complained = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in complained


@pytest.mark.long
@pytest.mark.parametrize("after", [0.0, 0.3, 1.0])
def test_the_first_second_knows_no_traceback(slow: LimitedServer, tmp_path: Path, after: float) -> None:
    process = begin(slow, tmp_path / "run")
    wait_until(lambda: _loads_liescope(process.pid))
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    _, complained = process.communicate(timeout=30)
    assert process.returncode in ENDED
    assert not re.search("Traceback|KeyboardInterrupt", complained)


def _loads_liescope(pid: int) -> bool:
    """Whether the process is past the start of Python itself, which no program can guard: it loads libraries."""
    try:
        return "site-packages" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
    except OSError:
        return True
