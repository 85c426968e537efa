"""Runs on a Ray cluster of two nodes: the run that one process makes, also when a node dies."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.generate.runs.play import RunResult, label, play
from tests.generate.runs.test_kill import Server
from tests.generate.runs.test_workers import rows

pytest.importorskip("ray", reason="needs the extra ray")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # warnings of Ray's own
GAMES, CONCURRENCY = 12, 8


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes, one of them the head; a run connects by the address."""
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
        cluster.add_node(num_cpus=1)
        patch.setenv("RAY_ADDRESS", cluster.address)
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(0.05)
    yield server
    server.close()


def run(server: Server, out: Path, **options: Any) -> RunResult:
    player = f"openai:stub@http://127.0.0.1:{server.port}/v1"
    return play("mini-mafia", out=out, players=[player], design="self", games=GAMES, concurrency=CONCURRENCY, **options)


@pytest.fixture(scope="module")
def whole(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    result = run(server, tmp_path_factory.mktemp("whole") / "run")
    return result.folder, server.rest()


def test_a_run_on_two_nodes_is_the_run_that_one_process_makes(
    cluster: Any, server: Server, whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    result = run(server, tmp_path / "run", engine="ray")
    assert result.complete
    assert Counter(server.rest()) == Counter(whole[1])
    assert rows(result.folder) == rows(whole[0])


def test_games_are_judged_on_nodes_that_do_not_have_their_run(
    cluster: Any, whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """Workers are sent the games: they never see the folder that the games are in."""
    one, many = (
        label(whole[0], "scripted:steady", roles=True, out=tmp_path / engine, engine=engine)
        for engine in ("local", "ray")
    )
    assert rows(many.folder) == rows(one.folder)


def test_a_node_that_dies_loses_nothing_that_was_told_and_its_games_go_on(
    cluster: Any, server: Server, whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    node = cluster.add_node(num_cpus=1)
    seen = Counter[str]()

    def die() -> None:
        seen.update(server.wait_for(GAMES * 9 // 3))
        cluster.remove_node(node, allow_graceful=False)

    killer = threading.Thread(target=die)
    killer.start()
    result = run(server, tmp_path / "run", engine="ray", workers=3)
    killer.join()
    assert result.complete
    seen.update(server.rest())
    assert Counter(whole[1]) - seen == Counter()
    assert (seen - Counter(whole[1])).total() <= 2 * CONCURRENCY  # under way in the node, or just answered
    assert rows(result.folder)["replies"] == rows(whole[0])["replies"]


def test_a_missing_cluster_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(UsageError, match="RAY_ADDRESS"):
        play("mini-mafia", out=tmp_path / "run", engine="ray")
    assert not (tmp_path / "run").exists()
