"""The judging of Werewolf in a real process that is killed goes on as if nothing was.

Playing: test_kill.py; with lessons: test_learning.py.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from liescope.generate.runs.journal import Journal
from tests.generate.runs.test_kill import Server, begin, end, state

pytestmark = pytest.mark.long
CONCURRENCY = 8
TABLE = ["--villagers", "2", "--werewolves", "1", "--debate-turns", "1", "--defence-turns", "1", "--assess"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(0.004)
    yield server
    server.close()


def words(server: Server, out: Path, *more: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "liescope",
        *more,
        "--json",
        "--no-preflight",
        "--concurrency",
        str(CONCURRENCY),
        "--out",
        str(out),
    ]


def play(server: Server, out: Path, games: int = 4) -> list[str]:
    player = f"openai:stub@http://127.0.0.1:{server.port}/v1"
    design = ["--design", "self", "--player", player, "--games", str(games), "--seed", "4"]
    return words(server, out, "play", "werewolf", *design, *TABLE)


def label(server: Server, run: Path, out: Path) -> list[str]:
    judge = f"openai:judge@http://127.0.0.1:{server.port}/v1"
    return words(server, out, "label", str(run), "--judge", judge, "--share", "0.3", "--roles")


def killed_and_resumed(server: Server, command: list[str], run: Path, needed: int, seed: int) -> str:
    """What the command prints in the end, after it was killed on the way; other tests kill more often."""
    process = begin(command)
    server.wait_for(Random(seed).randint(needed // 12, needed // 4))
    process.kill()
    end(process)
    server.rest()
    assert 0 < len(state(run)[1]) < needed
    code, said, complained = end(begin(command))
    server.rest()
    assert code == 0, complained
    return said


@pytest.fixture(scope="module")
def whole(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object], int]:
    """An undisturbed run of 4 games, what it printed, and how many requests it took."""
    run = tmp_path_factory.mktemp("whole") / "run"
    code, said, complained = end(begin(play(server, run)))
    assert code == 0, complained
    return run, json.loads(said), len(server.rest())


def test_calls_and_tokens_a_game_are_told_by_kind(whole: tuple[Path, dict[str, object], int]) -> None:
    run, said, needed = whole
    kinds = said["kinds"]
    assert isinstance(kinds, dict)
    expected = {"bid", "speak", "explained_vote", "vote", "kill", "protect", "self_assessment", "peer_assessment"}
    assert kinds.keys() == expected
    assert sum(kind["calls_per_game"] for kind in kinds.values()) * 4 == pytest.approx(needed)
    with Journal.open(run) as journal:
        asked = Counter(key[2] for key in state(run)[1])
        assert asked.total() == needed
        tokens, _ = journal.spent()
    told = sum(kind["prompt_tokens_per_game"] + kind["completion_tokens_per_game"] for kind in kinds.values())
    assert told * 4 == pytest.approx(tokens)


def test_judging_killed_and_resumed_is_that_of_an_uninterrupted_one_and_leaves_the_run_alone(
    server: Server, whole: tuple[Path, dict[str, object], int], tmp_path: Path
) -> None:
    run = whole[0]
    before = state(run)
    code, said, complained = end(begin(label(server, run, tmp_path / "one")))
    assert code == 0, complained
    assert json.loads(said)["games"]["done"] == 4
    needed = len(server.rest())
    killed_and_resumed(server, label(server, run, tmp_path / "two"), tmp_path / "two", needed, seed=2)
    assert state(tmp_path / "two") == state(tmp_path / "one")
    assert state(run) == before
