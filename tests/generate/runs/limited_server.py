"""An endpoint that behaves as hosted ones do under load: a limit of requests a second, outages, faults by chance.

It runs in a thread of its own. What it answers is a function of the request alone.
"""

from __future__ import annotations

import asyncio
import json
import queue
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from http.client import HTTPConnection
from random import Random

from tests.generate.runs.stub_replies import answer


@dataclass(frozen=True)
class Fault:
    """A response that is no answer. body: sent as it is."""

    status: int
    body: bytes = b'{"error": {"message": "trouble"}}'
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Behaviour:
    """per_second: requests that are allowed, in windows of a second; limited: the response to any other; fault: called
    with the seconds since the first request and the body, gives a fault or None; latency: seconds for an answer.
    """

    per_second: float | None = None
    limited: Fault = Fault(429, b'{"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}')
    fault: Callable[[float, bytes], Fault | None] = lambda seconds, body: None
    latency: float = 0.005


class LimitedServer:
    """The server under way. answered, refused: requests by what came of them; began: of the first request; digests: of
    the bodies of all requests, each there before it is answered.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self.behaviour = behaviour
        self.answered = 0
        self.refused: Counter[int] = Counter()
        self.under_way = 0
        self.began: float | None = None
        self.digests: queue.Queue[str] = queue.Queue()
        self._window = (0, 0)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self._ready.wait(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def wait_for(self, requests: int) -> list[str]:
        """The next so many requests, as they come."""
        return [self.digests.get(timeout=240) for _ in range(requests)]

    def rest(self) -> list[str]:
        """The requests not told yet, of clients that have ended.

        What a client sent before its end may still lie in the server's buffers; two requests of our own, one after
        the other, come after all of it.
        """
        seen: list[str] = []
        for number in range(2):
            body = json.dumps({"model": "none", "last": number}).encode()
            line = HTTPConnection("127.0.0.1", self.port, timeout=60)
            line.request("POST", "/v1/chat/completions", body)
            line.getresponse().read()
            line.close()
            while (digest := self.digests.get(timeout=240)) != sha256(body).hexdigest():
                seen.append(digest)
        return seen

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            tasks.add(task)
            with suppress(asyncio.CancelledError):
                await self._talk(reader, writer)
            tasks.discard(task)

        server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: *(\d+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                if not body:
                    writer.write(answer(body))
                    continue
                self.digests.put(sha256(body).hexdigest())
                self.under_way += 1
                try:
                    fault = self._fault(body)
                    await asyncio.sleep(self.behaviour.latency if fault is None else 0.001)
                finally:
                    self.under_way -= 1
                if fault is None:
                    self.answered += 1
                    writer.write(answer(body))
                else:
                    self.refused[fault.status] += 1
                    writer.write(_http(fault))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _fault(self, body: bytes) -> Fault | None:
        now = time.monotonic()
        self.began = now if self.began is None else self.began
        fault = self.behaviour.fault(now - self.began, body)
        if fault is not None or self.behaviour.per_second is None:
            return fault
        second, count = self._window
        if int(now) != second:
            second, count = int(now), 0
        self._window = (second, count + 1)
        return self.behaviour.limited if count >= self.behaviour.per_second else None


def _http(fault: Fault) -> bytes:
    head = f"HTTP/1.1 {fault.status} Stub\r\nContent-Type: application/json\r\nContent-Length: {len(fault.body)}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in fault.headers.items())
    return head.encode() + b"\r\n" + fault.body


def by_chance(share: float, *faults: Fault, seed: int = 1) -> Callable[[float, bytes], Fault | None]:
    """A fault for that share of all requests, each as likely."""
    random = Random(seed)
    return lambda seconds, body: random.choice(faults) if random.random() < share else None


def as_json(data: object) -> bytes:
    return json.dumps(data).encode()
