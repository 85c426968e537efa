"""Real processes: runs that are killed or out of space go on as if nothing was."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from liescope import cli
from liescope.common.errors import UsageError
from liescope.games.record import GameRecord
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_plan import Plan
from tests.generate.runs.fakes import FakeEndpoint, play
from tests.generate.runs.limited_server import LimitedServer

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow
CONCURRENCY = 8
KILLS = 3
PLAY = (sys.executable, "-m", "liescope", "play", "mini-mafia", "--assess", "--seed", "3", "--max-fallbacks", "1")


@pytest.fixture
def server(serve: Callable[..., LimitedServer]) -> LimitedServer:
    return serve(latency=0.02)


def command(server: LimitedServer, out: Path, games: int) -> list[str]:
    words = [
        "--player",
        f"openai:stub@{server.url}",
        "--games",
        str(games),
        "--concurrency",
        str(CONCURRENCY),
        "--out",
        str(out),
    ]
    return [*PLAY, "--json", "--no-preflight", *words]


def begin(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    said, complained = process.communicate(timeout=240)
    return process.returncode, said, complained


def state(run: Path) -> tuple[list[GameRecord], dict[tuple[str, int, str], object]]:
    """The records and the replies of a run; nothing of one that had not begun."""
    if not (run / "run.json").exists():
        return [], {}
    with Journal.open(run) as journal:
        games = journal.begun() | set(journal.game_ids())
        replies = {(game, *key): reply for game in sorted(games) for key, reply in journal.answers(game).items()}
        return list(journal.records()), replies


@pytest.mark.long
def test_a_run_killed_at_random_moments_ends_as_if_it_had_not_been(server: LimitedServer, tmp_path: Path) -> None:
    code, said, complained = end(begin(command(server, tmp_path / "whole", games=10)))
    assert code == 0, complained
    assert json.loads(said)["games"] == {"planned": 10, "done": 10, "failed": 0, "before": 0}
    needed = server.rest()
    records, replies = state(tmp_path / "whole")
    assert len(needed) == len(replies)
    random, run, seen = Random(20), tmp_path / "run", Counter[str]()
    kept: dict[tuple[str, int, str], object] = {}
    lost = 0
    for _ in range(KILLS):
        process = begin(command(server, run, games=10))
        left = len(needed) - len(kept)
        asked = server.wait_for(random.randrange(min(2 * len(needed) // KILLS, left + 1)))
        process.kill()
        end(process)
        asked += server.rest()
        before, kept = kept, state(run)[1]
        assert before.items() <= kept.items()
        lost_now = len(asked) - (len(kept) - len(before))
        assert 0 <= lost_now <= 2 * CONCURRENCY  # under way, or answered and not yet committed
        lost += lost_now
        seen.update(asked)
    code, _, complained = end(begin(command(server, run, games=10)))
    assert code == 0, complained
    last = server.rest()
    assert len(last) == len(replies) - len(kept)  # what was in the journal is not asked for again
    seen.update(last)
    assert Counter(needed) - seen == Counter()
    assert (seen - Counter(needed)).total() == lost
    assert state(run) == (records, replies)


def test_a_full_disk_is_one_clear_line_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    """The limit on the size of files stands in for a disk that runs full in the middle of a write."""
    run = tmp_path / "run"
    words = [*PLAY, "--player", "scripted:bold", "--games", "40", "--concurrency", "1"]
    code, said, complained = end(begin(["bash", "-c", 'ulimit -f 256 && exec "$@"', "bash", *words, "--out", str(run)]))
    assert (code, said) == (1, "")
    assert "Traceback" not in complained
    (line,) = [line for line in complained.splitlines() if line.startswith("error: ")]
    assert "journal.sqlite" in line
    assert "free some space" in line
    kept = state(run)[1]
    assert kept
    assert cli.main([*PLAY[3:], "--player", "scripted:bold", "--games", "40", "--out", str(tmp_path / "whole")]) == 0
    assert kept.items() <= state(tmp_path / "whole")[1].items()  # from here it goes on as after any end


@pytest.fixture
def unwritable() -> Iterator[Path]:
    """A folder that this process may read and not write, also where the tests run as root."""
    folder = Path(tempfile.mkdtemp())
    user = os.geteuid()
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(65534)
    yield folder
    os.seteuid(user)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_asked(
    unwritable: Path, plan: Callable[..., Plan], endpoint: FakeEndpoint
) -> None:
    with pytest.raises(UsageError, match=f"{unwritable}/run cannot be read or written: Permission denied"):
        asyncio.run(play(plan(), unwritable / "run"))
    assert endpoint.asked == []


def test_a_finished_run_in_a_folder_that_cannot_be_written_can_be_read_and_not_gone_on_with(
    run: Path, unwritable: Path, plan: Callable[..., Plan], endpoint: FakeEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    own = os.geteuid()
    os.seteuid(os.getuid())
    asyncio.run(play(plan(games=10, players=("fake:a",)), run))
    assert cli.main(["show", str(run)]) == 0  # loads what the other user may not read
    shutil.copytree(run, unwritable / "run")
    for path in (unwritable / "run", *(unwritable / "run").iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)
    os.seteuid(own)
    assert cli.main(["show", str(unwritable / "run")]) == 0
    assert "10 done" in capsys.readouterr().out
    with pytest.raises(UsageError, match="permissions"):
        Journal.open(unwritable / "run", write=True)
    os.seteuid(os.getuid())
    (unwritable / "run").chmod(0o755)
    os.seteuid(own)
