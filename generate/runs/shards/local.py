"""Workers as processes on this machine, each with a pipe to and from the run. Keys reach them in the environment."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from liescope.common.signals import heeded
from liescope.common.text import plain
from liescope.generate.runs.shards.dealer import drop, read_shard
from liescope.generate.runs.shards.engine import WorkerDied, pack, unpack
from liescope.generate.runs.shards.session import DRAIN, Session

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
                *(sys.executable, "-m", "liescope.generate.runs.shards.local"),
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


def main() -> None:
    """Serve the run until the worker has told how it ended, or until the run is gone.

    Signals that ask a program to end are the run's to heed: who sends them to every process of a job, as Slurm does,
    would otherwise lose what is under way.
    """
    for number in heeded():
        signal.signal(number, signal.SIG_IGN)
    orders, news = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not come between the messages
    config = _read(orders)
    if config is None:
        return
    session = Session(unpack(config))
    while (message := _read(orders)) is not None:
        answer = session.exchange(unpack(message))
        data = pack(answer)
        try:
            news.write(len(data).to_bytes(SIZE) + data)
            news.flush()
        except BrokenPipeError:
            break
        if answer["end"] is not None:
            os._exit(1 if "died" in answer["end"] else 0)
    session.abandon()
    os._exit(0)  # threads that wait for nothing must not keep the process


def _read(stream: BinaryIO) -> bytes | None:
    """The next message; None once the run is gone."""
    size = stream.read(SIZE)
    data = stream.read(int.from_bytes(size)) if len(size) == SIZE else b""
    return data or None


if __name__ == "__main__":
    main()
