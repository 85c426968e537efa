"""Workers as actors on the nodes of a Ray cluster: each journals on its node's disk and is asked for its news.

Ray carries messages of plain bytes, with no secret in them: keys come from the environment of the nodes. A worker that
has not been asked for a while takes the run as gone. What a dead worker kept and did not tell is read from its node, if
the node lives.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from liescope.common.errors import MissingExtra, UsageError
from liescope.common.text import plain
from liescope.generate.runs.shards.dealer import free, read_shard
from liescope.generate.runs.shards.engine import WorkerDied, pack, unpack
from liescope.generate.runs.shards.session import Session

PASSED_ON = ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "LIESCOPE_ALLOW_KEYS")  # no secret among them
CPUS = 0.1  # that an actor reserves: most of the time it waits
STARTS_IN = 120.0  # seconds until a worker must have answered for the first time
GONE_AFTER = 120.0  # seconds without an exchange after which a worker takes its run as gone
_REST_IN = 15.0  # seconds for reading the shard of a dead worker


class RayEngine:
    """workers: None for one on each node.

    The cluster is the one at RAY_ADDRESS, or one that runs on this machine. Raises MissingExtra, UsageError.
    """

    def __init__(self, workers: int | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra("ray", "ray") from None
        self._connected = not ray.is_initialized()
        if self._connected:
            address = os.environ.get("RAY_ADDRESS", "auto")
            try:
                _knock(address)
                ray.init(address=address, log_to_driver=False, configure_logging=False)
            except (OSError, ValueError, ray.exceptions.RayError) as error:
                why = plain(str(error)).splitlines()[0].split(". ")[0]
                raise UsageError(
                    f"no Ray cluster can be reached at {plain(address)} ({why}); start one with `ray start --head`, or "
                    "set RAY_ADDRESS"
                ) from None
        self._nodes = sorted(node["NodeID"] for node in ray.nodes() if node["Alive"] and "CPU" in node["Resources"])
        self._started = 0
        self.workers = workers or len(self._nodes)

    async def start(self, config: dict[str, Any], folder: Path) -> RayWorker:
        import ray

        if config["limits"]["cache"] or config["limits"]["log"]:
            raise UsageError("--cache and --log need workers on this machine; leave them out with --engine ray")
        variables = {name: os.environ[name] for name in PASSED_ON if os.environ.get(name)}
        node = self._nodes[self._started % len(self._nodes)]
        self._started += 1
        actor = ray.remote(_Actor).options(**_on(node, soft=True), max_restarts=0, max_task_retries=0)
        worker = RayWorker(actor.remote(pack({**config, "shard": folder.name, "variables": variables})), folder.name)
        try:
            async with asyncio.timeout(STARTS_IN):
                await worker.settle()
        except TimeoutError:
            await worker.kill()
            raise UsageError(f"the Ray cluster started no worker in {STARTS_IN:.0f} s; see `ray status`") from None
        return worker

    async def close(self) -> None:
        import ray

        if self._connected:
            ray.shutdown()


class RayWorker:
    """One actor, of the class `_Actor`."""

    def __init__(self, actor: Any, shard: str) -> None:
        self._actor = actor
        self._shard = shard
        self._node = ""

    async def settle(self) -> None:
        """Wait until the actor is somewhere. Raises WorkerDied."""
        self._node = await _result(self._actor.where.remote())

    async def exchange(self, orders: dict[str, Any]) -> dict[str, Any]:
        return unpack(await _result(self._actor.exchange.remote(pack(orders))))

    async def close(self) -> None:
        import ray

        try:
            await _result(self._actor.drop.remote())
        except WorkerDied:
            return
        ray.kill(self._actor)

    async def kill(self) -> dict[str, Any]:
        import ray

        ray.kill(self._actor)
        rest = ray.remote(_rest).options(**_on(self._node, soft=False), max_retries=0)
        try:
            async with asyncio.timeout(_REST_IN):
                return unpack(await _result(rest.remote(self._shard)))
        except (WorkerDied, TimeoutError):  # the node has died too, or cannot be reached: what it told is all there is
            return {"pieces": [], "books": {}}


class _Actor:
    """A worker on a node. Messages are bytes (`messages`)."""

    def __init__(self, config: bytes) -> None:
        data = unpack(config)
        for name, value in data.pop("variables").items():
            os.environ.setdefault(name, value)
        self._folder = _folder(data["shard"])
        self._folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._session = Session({**data, "folder": str(self._folder)})
        self._asked_at = time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()

    def where(self) -> str:
        """The id of this node."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def exchange(self, orders: bytes) -> bytes:
        self._asked_at = time.monotonic()
        news = self._session.exchange(unpack(orders))
        self._asked_at = time.monotonic()
        return pack(news)

    def drop(self) -> None:
        """Delete the shard."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _watch(self) -> None:
        while time.monotonic() - self._asked_at < GONE_AFTER:
            time.sleep(1.0)
        self._session.abandon()


def _knock(address: str) -> None:
    """Raises OSError if nothing listens at a HOST:PORT; Ray itself would try for minutes."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _rest(shard: str) -> bytes:
    """What the shard of a dead worker on this node holds; it is deleted."""
    folder = _folder(shard)
    if not folder.exists():
        return pack({"pieces": [], "books": {}})
    asyncio.run(free(folder))
    kept = pack(read_shard(folder))
    shutil.rmtree(folder, ignore_errors=True)
    return kept


def _folder(shard: str) -> Path:
    return Path(tempfile.gettempdir()) / f"liescope-{os.getuid()}" / shard


def _on(node: str, soft: bool) -> dict[str, Any]:
    """Options that place an actor or a task on a node. soft: or elsewhere, if the node is gone."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return {"num_cpus": CPUS, "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=soft)}


async def _result(reference: Any) -> Any:
    """What a remote call returns. Raises WorkerDied."""
    import ray

    try:
        return await asyncio.wrap_future(reference.future())
    except ray.exceptions.RayError as error:
        lines = [line for line in plain(str(error)).splitlines() if line.strip()] or [type(error).__name__]
        raise WorkerDied(lines[-1][:300]) from None
