"""Games that wait for their endpoint, on two Ray nodes against one, and with two processes against one.

The endpoint is a process of its own that answers after a second. A node takes CONNECTIONS requests at once, so two
can take twice as many. Time runs from the first request to the last, as the endpoint sees them: starting a worker takes
a second or two, once for each run. Run with: python tests/performance/bench_ray.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from liescope.generate.runs.play import play

STUB = Path(__file__).parents[1] / "generate" / "runs" / "stub_server.py"
LATENCY = 1.0
CONNECTIONS = 32  # of one node
GAMES = 160  # in all


class Server:
    """The stub server, and when its requests came."""

    def __init__(self) -> None:
        command = [sys.executable, str(STUB), str(LATENCY)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.times: list[float] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for _ in self.process.stdout:
            self.times.append(time.perf_counter())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()


def rate(server: Server, **where: Any) -> float:
    """Requests a second. where: the engine and its workers, each with CONNECTIONS."""
    server.times.clear()
    with TemporaryDirectory() as folder:
        result = play(
            "mini-mafia",
            out=Path(folder) / "run",
            players=[f"openai:stub@http://127.0.0.1:{server.port}/v1"],
            design="self",
            games=GAMES,
            concurrency=CONNECTIONS * where["workers"],
            preflight=False,
            **where,
        )
        assert result.complete
    return len(server.times) / (server.times[-1] - server.times[0])


def compare(server: Server, engine: str, what: str) -> None:
    one, two = (rate(server, engine=engine, workers=workers) for workers in (1, 2))
    print(
        f"{what}, {LATENCY * 1000:.0f} ms, {CONNECTIONS} connections each: one {one:.0f} requests a second, two "
        f"{two:.0f}, {two / one:.2f} times as many (wanted: at least 1.90)",
        flush=True,
    )


def bench_ray() -> None:
    try:
        import ray
        from ray.cluster_utils import Cluster
    except ImportError:
        print("Ray is not installed: pip install 'liescope[ray]'")
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    os.environ["RAY_ADDRESS"] = cluster.address
    server = Server()
    try:
        compare(server, "ray", "Ray nodes")
    finally:
        server.close()
        ray.shutdown()
        cluster.shutdown()


def bench_processes() -> None:
    server = Server()
    try:
        compare(server, "local", "processes")
    finally:
        server.close()


if __name__ == "__main__":
    bench_processes()
    bench_ray()
