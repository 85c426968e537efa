"""Requests a second through a player's `answer`, against the bare SDK client in the same run.

A stub endpoint in a process of its own answers each request after 200 ms; 256 connections are kept busy. The bare
client sends the very same prompts and does nothing else. Rounds alternate, and the medians are compared.

    python tests/performance/bench_endpoint.py
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence

import httpx2
from openai import AsyncOpenAI, DefaultAioHttpClient

from liescope.games import Ask, AskKind, Event, Mafia, MafiaSpec, Reply, start
from liescope.generate.players.openai.player import open_openai
from liescope.generate.players.prompts import load_prompts
from liescope.generate.players.protocol import PlayerContext

CONNECTIONS = 256
LATENCY = 0.2
REQUESTS = 2560
ROUNDS = 3

# Speaks just enough HTTP, so that the server costs the clients as little of the machine as it can.
SERVER = """
import asyncio, json, re, sys
message = {"role": "assistant", "content": '"I am a villager, and Bob has been quiet."'}
body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
    "usage": {"prompt_tokens": 900, "completion_tokens": 12, "total_tokens": 912}}).encode()
answer = b"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body
length = re.compile(rb"content-length: *(\\d+)", re.I)

class Connection(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.read = transport, b""
    def data_received(self, data):
        self.read += data
        head, found, rest = self.read.partition(b"\\r\\n\\r\\n")
        if found and len(rest) >= int(length.search(head)[1]):
            self.read = b""
            asyncio.get_running_loop().call_later(float(sys.argv[1]), self.transport.write, answer)

async def main():
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""

Asked = tuple[Ask, tuple[Event, ...]]


def turns() -> list[Asked]:
    """The speaking turns of real games, early and late."""
    found: list[Asked] = []
    for seed in range(20):
        session = start(lambda seed=seed: Mafia(MafiaSpec(1, 1, 2, scripted_night=True, days=1), seed, f"g{seed}"))
        while session.asks:
            found += [(ask, session.game.view(ask.seat)) for ask in session.asks if ask.kind is AskKind.SPEAK]
            session.send(tuple(Reply(text="I am a villager, and Bob has been quiet.") for _ in session.asks))
    return found


async def rate(one: Callable[[int], Awaitable[object]], count: int) -> float:
    """Requests a second with CONNECTIONS of them under way."""
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            await one(number)

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
    return count / (time.perf_counter() - began)


async def measure(url: str) -> tuple[list[float], list[float]]:
    asked, prompts = turns(), load_prompts("full", "mafia")
    texts = [prompts.render(ask, view).text for ask, view in asked]
    limits = httpx2.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS)
    bare = AsyncOpenAI(
        api_key="EMPTY", base_url=url, max_retries=0, http_client=DefaultAioHttpClient(limits=limits, timeout=60)
    )
    player = open_openai(f"m@{url}", PlayerContext(log=lambda attempt: None, game="mafia", concurrency=CONNECTIONS))

    async def by_client(number: int) -> object:
        content = texts[number % len(texts)]
        return await bare.chat.completions.create(model="m", messages=[{"role": "user", "content": content}])

    async def by_player(number: int) -> object:
        reply = await player.answer(*asked[number % len(asked)])
        if reply.problem:
            raise RuntimeError(reply.problem)
        return reply

    rates: tuple[list[float], list[float]] = ([], [])
    for one in (by_client, by_player):
        await rate(one, CONNECTIONS)  # opens the connections
    for _ in range(ROUNDS):
        for one, kept in zip((by_client, by_player), rates, strict=True):
            kept.append(await rate(one, REQUESTS))
    await player.close()
    await bare.close()
    return rates


def seam(asked: Sequence[Asked]) -> float:
    """Microseconds that rendering a prompt and reading an answer take, without any wire."""
    from liescope.generate.players.parsing import read_reply

    prompts = load_prompts("full", "mafia")
    began = time.perf_counter()
    for _ in range(20):
        for ask, view in asked:
            prompts.render(ask, view)
            read_reply(ask, '"I am a villager, and Bob has been quiet."')
    return (time.perf_counter() - began) / (20 * len(asked)) * 1e6


def bench_endpoint() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER, str(LATENCY)], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            bare, player = asyncio.run(measure(url))
        finally:
            server.kill()
    ceiling = CONNECTIONS / LATENCY
    ratio = statistics.median(player) / statistics.median(bare)
    print(f"endpoint, {CONNECTIONS} connections, {LATENCY * 1000:.0f} ms, at most {ceiling:.0f} requests/s:")
    print(f"  bare SDK client  {statistics.median(bare):7.0f} requests/s  ({min(bare):.0f} to {max(bare):.0f})")
    print(f"  openai player    {statistics.median(player):7.0f} requests/s  ({min(player):.0f} to {max(player):.0f})")
    print(f"  ratio            {ratio:7.2f}  (wanted: at least 0.90)")
    print(f"  prompt and parsing take {seam(turns()):.0f} µs of a request")


if __name__ == "__main__":
    bench_endpoint()
