"""Jobs in parts on a Ray cluster of two nodes are those that one process does, whatever dies."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import liescope
from liescope import parallel
from liescope.common.errors import UsageError
from liescope.generate.runs.journal import Journal
from tests.generate.runs.limited_server import Behaviour, LimitedServer
from tests.generate.runs.test_kill import CONCURRENCY, state
from tests.generate.runs.test_parts import same, tables

pytest.importorskip("ray", reason="needs the extra ray")
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]  # warnings of Ray's own
GAMES = 6


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two nodes, one of them the head, through which this process is connected: it dies with its node."""
    import ray
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        cluster = Cluster(initialize_head=True, connect=True, head_node_args={"num_cpus": 1})
        cluster.add_node(num_cpus=1)
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(scope="module")
def server() -> Iterator[LimitedServer]:
    server = LimitedServer(Behaviour(latency=0.05))
    yield server
    server.close()


def words(server: LimitedServer) -> dict[str, Any]:
    told = {"concurrency": CONCURRENCY, "preflight": False, "max_fallbacks": 1.0}  # no odd answers pause a part
    return {"players": [f"openai:stub@{server.url}"], "design": "self", "games": GAMES, **told}


@pytest.fixture(scope="module")
def whole(server: LimitedServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A run by one process, and the requests that it took."""
    run = liescope.play("mini-mafia", out=tmp_path_factory.mktemp("whole") / "big", **words(server)).folder
    return run, server.rest()


def test_play_label_build_and_score_are_as_by_one_process(
    cluster: Any, server: LimitedServer, whole: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # tasks understand paths from here, too
    folders = parallel.play("mini-mafia", out="big", parts=2, **words(server))
    assert Counter(server.rest()) == Counter(whole[1])
    wanted = tables(whole[0], out=tmp_path / "one", hold_out_models=["stub"])
    assert same(wanted, tables(*folders, out=tmp_path / "two", hold_out_models=["stub"]))
    built = parallel.build(folders, out="built/corpus", hold_out_models=["stub"])
    assert same(wanted, {name: built.read(name).drop("latency_ms", strict=False) for name in wanted})
    one = liescope.build(whole[0], out=tmp_path / "three", hold_out_models=["stub"])
    assert {**built.facts.to_json(), "files": (), "name": ""} == {**one.facts.to_json(), "files": (), "name": ""}
    judged = parallel.label(str(whole[0]), "scripted:steady", roles=True, out="by", parts=2)
    alone = liescope.label(whole[0], "scripted:steady", roles=True, out=tmp_path / "alone" / "by").folder
    assert same(tables(alone, out=tmp_path / "four"), tables(*judged, out=tmp_path / "five"))
    said = [f"I {'doubt' if number % 2 else 'trust'} Bob {number}." for number in range(60)]
    liescope.train("tfidf", said, [number % 2 == 1 for number in range(60)], out="model", folds=0)
    texts = pl.DataFrame({"text": [f"I trust Bob {number}." for number in range(5000)]})
    texts.write_parquet("said.parquet")
    done = parallel.score("model", "said.parquet", out="scores.parquet", parts=2)
    assert (done.statements, done.scored) == (5000, 5000)
    liescope.score_file("model", "said.parquet", out="alone.parquet")
    assert pl.read_parquet("scores.parquet").equals(pl.read_parquet("alone.parquet"))


def test_a_part_whose_process_or_node_dies_goes_on_elsewhere_and_asks_nothing_twice(
    cluster: Any, server: LimitedServer, whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    node = cluster.add_node(num_cpus=1)
    seen = Counter[str]()

    def die() -> None:
        seen.update(server.wait_for(len(whole[1]) // 3))
        cluster.remove_node(node, allow_graceful=False)
        seen.update(server.wait_for(len(whole[1]) // 3))
        for journal in sorted(tmp_path.glob("big-*/journal.sqlite-wal")):
            for pid in writers(journal):
                os.kill(pid, signal.SIGKILL)
                return

    killer = threading.Thread(target=die)
    killer.start()
    folders = parallel.play("mini-mafia", out=str(tmp_path / "big"), parts=3, **words(server))
    killer.join()
    seen.update(server.rest())
    assert Counter(whole[1]) - seen == Counter()
    assert (seen - Counter(whole[1])).total() <= 2 * 2 * CONCURRENCY  # under way in what died, or just answered
    records, replies = state(whole[0])
    parts = [state(folder) for folder in folders]
    assert [game for part in parts for game in part[0]] == records
    assert parts[0][1] | parts[1][1] | parts[2][1] == replies


def writers(file: Path) -> list[int]:
    """The processes that have a file open."""
    found = []
    for folder in Path("/proc").glob("[0-9]*/fd"):
        try:
            if any(link.resolve() == file.resolve() for link in folder.iterdir()):
                found.append(int(folder.parent.name))
        except OSError:
            continue
    return found


def test_what_stops_a_part_is_said_and_the_rest_is_kept(cluster: Any, server: LimitedServer, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"big-1 has stopped: .*budget"):
        parallel.play("mini-mafia", out=str(tmp_path / "big"), parts=2, max_tokens=2000, **words(server))
    server.rest()
    with Journal.open(tmp_path / "big-2") as journal:
        assert journal.begun()


def test_a_missing_cluster_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    ray.shutdown()
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(UsageError, match="RAY_ADDRESS"):
        parallel.play("mini-mafia", out=str(tmp_path / "run"), parts=2)
    assert list(tmp_path.iterdir()) == []
