"""Workers as processes on this machine, each with a pipe to and from the run. Keys reach them in the environment."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from liescope.common.text import plain
from liescope.generate.runs.shards.engine import WorkerDied
from liescope.generate.runs.shards.leftovers import drop, read_shard
from liescope.generate.runs.shards.messages import pack, unpack
from liescope.generate.runs.shards.session import DRAIN

LOG = "worker.log"  # what a worker wrote to standard error
SIZE = 8  # bytes before each message with its length


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
        try:
            size = int.from_bytes(await self._process.stdout.readexactly(SIZE))
            return unpack(await self._process.stdout.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            raise self._died() from None

    async def send(self, message: dict[str, Any]) -> None:
        data = pack(message)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(len(data).to_bytes(SIZE) + data)
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
