"""Requests to an endpoint, beside the bare SDK: a second, and processor time of each.

Run: python tests/performance/bench_endpoint.py
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from statistics import median

from openai import AsyncOpenAI, DefaultAioHttpClient, DefaultAsyncHttpxClient

from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.openai.endpoint import Endpoint
from liescope.generate.players.openai.spec import Key
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.run_limits import Limits

REQUESTS, ROUNDS, LATENCY, KEY = 1200, 3, 0.5, "sk-a-key-of-the-benchmark"
BODY = {
    "model": "m",
    "messages": [{"role": "user", "content": "You are Alice, a player of Mafia. Alice trusts nobody. " * 60}],
    "temperature": 0.7,
}
WORDS = {"role": "assistant", "content": '"I am a villager, and I trust nobody here."'}
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": WORDS}],
    "usage": {"prompt_tokens": 700, "completion_tokens": 12, "total_tokens": 712},
}

Sending = Callable[[int], Awaitable[object]]


class Answering(asyncio.Protocol):
    """The server's side of a connection: every whole request is answered after the latency."""

    content = json.dumps(ANSWER).encode()
    response = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(content) + content
    )

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport, self.came = transport, b""

    def data_received(self, data: bytes) -> None:
        self.came += data
        head, blank, body = self.came.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if blank and len(body) == int(length or 0):
            self.came = b""
            asyncio.get_running_loop().call_later(LATENCY, self.transport.write, self.response)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, backlog=2048)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def timed(send: Sending, at_once: int) -> tuple[float, float]:
    """Requests a second, and milliseconds of processor time for each."""
    numbers = iter(range(REQUESTS))

    async def work() -> None:
        for number in numbers:
            await send(number)

    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return REQUESTS / (time.perf_counter() - began), 1000 * (time.process_time() - cpu) / REQUESTS


async def bench_endpoint(url: str, at_once: int) -> None:
    context = PlayerContext(log=lambda attempt: None, game="mafia", limits=Limits(concurrency=at_once))
    endpoint = Endpoint.of(context, url, Key("A_KEY", KEY))
    clients = {
        "bare SDK on aiohttp": AsyncOpenAI(
            api_key=KEY, base_url=url, max_retries=0, http_client=DefaultAioHttpClient()
        ),
        "bare SDK": AsyncOpenAI(api_key=KEY, base_url=url, max_retries=0, http_client=DefaultAsyncHttpxClient()),
    }

    async def ours(number: int) -> object:
        return await endpoint.complete(Ask(f"g{number}", 1, "Alice", AskKind.SPEAK, 1, Phase.DISCUSSION), BODY, None)

    def bare(client: AsyncOpenAI) -> Sending:
        return lambda number: client.chat.completions.create(**BODY)

    ways = {"our endpoint": ours} | {name: bare(client) for name, client in clients.items()}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, send in ways.items():
            found[name].append(await timed(send, at_once))
    await endpoint.close()
    for client in clients.values():
        await client.close()
    medians = {name: [median(figures) for figures in zip(*rounds, strict=True)] for name, rounds in found.items()}
    bare_rate, bare_cpu = medians["bare SDK"]
    for name, (rate, cpu) in medians.items():
        print(
            f"{name}, {at_once} at once: {rate:,.0f} requests a second ({rate / bare_rate:.2f} of the bare SDK's), "
            f"{cpu:.2f} ms of processor time each ({cpu / bare_cpu:.2f})"
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    with subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True) as server:
        try:
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            for at_once in (64, 256):
                asyncio.run(bench_endpoint(url, at_once))
        finally:
            server.kill()
