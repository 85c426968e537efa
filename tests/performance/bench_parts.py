"""One process against two that play a part each, and against two parts on a Ray cluster of two nodes, one core each.

Run with: python tests/performance/bench_parts.py [GAMES]
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from liescope import parallel
from liescope.generate.runs.run_progress import status

GAMES = 3_000


def by_processes(out: str, games: int, parts: int) -> list[Path]:
    """Play in so many processes at once."""
    words = [sys.executable, "-m", "liescope", "play", "mini-mafia", "--design", "self", "--games", str(games)]
    folders = [Path(f"{out}-{number}") for number in range(1, parts + 1)]
    each = [[*words, "--part", f"{n}/{parts}", "--out", str(folder)] for n, folder in enumerate(folders, 1)]
    running = [subprocess.Popen(one, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for one in each]
    assert not any(process.wait() for process in running)
    return folders


def on_ray(out: str, games: int, parts: int) -> list[Path]:
    """Play in so many tasks at once."""
    return parallel.play("mini-mafia", out=out, parts=parts, design="self", games=games)


def compare(what: str, play: Callable[[str, int, int], list[Path]], games: int) -> None:
    """Prints games a second in one part and in two."""
    rates = []
    for parts in (1, 2):
        with TemporaryDirectory() as folder:
            began = time.perf_counter()
            done = sum(status(run).done for run in play(f"{folder}/run", games, parts))
            rates.append(done / (time.perf_counter() - began))
    print(f"{what}: one {rates[0]:,.0f} games a second, two {rates[1]:,.0f}: {rates[1] / rates[0]:.2f} times as many")


def bench_parts(games: int) -> None:
    compare("processes", by_processes, games)
    try:
        from ray.cluster_utils import Cluster
    except ImportError:
        print("Ray is not installed: pip install 'liescope[ray]'")
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    os.environ["RAY_ADDRESS"] = cluster.address
    try:
        compare("Ray nodes", on_ray, games)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    bench_parts(int(sys.argv[1]) if len(sys.argv) > 1 else GAMES)
