"""Where workers run. A run gives a worker its orders and takes its news, whatever lies between them.

Local workers are processes with a pipe to and from the run; keys reach them in the environment. Workers on a Ray
cluster are actors, each journalling on its node's disk. Ray carries messages of plain bytes, with no secret in them:
keys come from the environment of the nodes. What a dead worker kept and did not tell is read from its node, if the node
lives.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from liescope.common.errors import MissingExtra, UnknownName, UsageError
from liescope.common.text import plain
from liescope.generate.runs.open_run import drop, read_shard
from liescope.generate.runs.shards.worker import DRAIN, Actor, pack, rest_of, unpack

LOCAL, RAY = "local", "ray"
ENGINES = (LOCAL, RAY)


class WorkerDied(Exception):
    """A worker ended without saying how; the message says what is known."""


class Worker(Protocol):
    """One worker that was started."""

    async def exchange(self, orders: dict[str, Any]) -> dict[str, Any]:
        """Give orders, take the news (`WorkerSession.exchange`). Raises WorkerDied."""
        ...

    async def close(self) -> None:
        """Let go of a worker that has told how it ended; its shard is deleted."""
        ...

    async def kill(self) -> dict[str, Any]:
        """End the worker at once; returns the pieces and books that its shard holds, as far as they can be had."""
        ...


class Engine(Protocol):
    """workers: how many are wanted."""

    workers: int

    async def start(self, config: dict[str, Any], folder: Path) -> Worker:
        """A new worker. config: as in `WorkerSession`, without its folder; folder: where a shard on this machine may
        be.

        Raises UsageError if none can be started.
        """
        ...

    async def close(self) -> None: ...


_LARGEST = 2**30  # bytes of a message
LOG = "worker.log"  # what a worker wrote to standard error


class LocalEngine:
    """As many processes as wanted."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    async def start(self, config: dict[str, Any], folder: Path) -> LocalWorker:
        folder.mkdir(parents=True)
        paths = [str(Path(__file__).parents[4]), *filter(None, [os.environ.get("PYTHONPATH")])]
        with (folder / LOG).open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "liescope.generate.runs.shards.worker"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=_LARGEST,
                start_new_session=True,  # Ctrl-C is the run's to handle
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        worker = LocalWorker(process, folder)
        try:
            await worker.send({**config, "folder": str(folder)})
        except WorkerDied:
            await worker.kill()
            raise
        return worker

    async def close(self) -> None:
        """Nothing is left once the workers are closed."""


class LocalWorker:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._folder = folder

    async def exchange(self, orders: dict[str, Any]) -> dict[str, Any]:
        await self.send(orders)
        assert self._process.stdout is not None
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            return unpack(await self._process.stdout.readuntil())
        raise self._died()

    async def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(pack(message))
            await self._process.stdin.drain()
        except ConnectionError:
            raise self._died() from None

    async def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(DRAIN):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
        drop(self._folder)

    async def kill(self) -> dict[str, Any]:
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        kept = read_shard(self._folder)
        drop(self._folder)
        return kept

    def _died(self) -> WorkerDied:
        with suppress(OSError):
            lines = (self._folder / LOG).read_text(errors="replace").strip().splitlines()
            if lines:
                return WorkerDied(plain(lines[-1])[:300])
        return WorkerDied("it left no message")


PASSED_ON = ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "LIESCOPE_ALLOW_KEYS")  # no secret among them
CPUS = 0.1  # that an actor reserves: most of the time it waits
STARTS_IN = 120.0  # seconds until a worker must have answered for the first time
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
        actor = ray.remote(Actor).options(**_on(node, soft=True), max_restarts=0, max_task_retries=0)
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
    """One actor, of the class `Actor`."""

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
        rest = ray.remote(rest_of).options(**_on(self._node, soft=False), max_retries=0)
        try:
            async with asyncio.timeout(_REST_IN):
                return unpack(await _result(rest.remote(self._shard)))
        except (WorkerDied, TimeoutError):  # the node has died too, or cannot be reached: what it told is all there is
            return {"pieces": [], "books": {}}


def _knock(address: str) -> None:
    """Raises OSError if nothing listens at a HOST:PORT; Ray itself would try for minutes."""
    host, _, port = address.rpartition("//")[2].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


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


def open_engine(name: str, workers: int | None) -> Engine | None:
    """The engine of that name; None if this process alone is to do the work. workers: by default one for `local`, one
    on each node for `ray`.

    Raises UnknownName, MissingExtra, and UsageError for a cluster that cannot be reached.
    """
    if name not in ENGINES:
        raise UnknownName("engine", name, ENGINES)
    if name == RAY:
        return RayEngine(workers)
    if workers is None or workers == 1:
        return None
    return LocalEngine(workers)
