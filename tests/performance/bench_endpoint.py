"""Requests a second through a player's `answer`, against aiohttp alone in the same run.

A stub endpoint in a process of its own answers each request after 200 ms; 256 connections are kept busy, then 2,000.
The bare client sends the very same prompts and does nothing else. Rounds alternate, and the medians are compared:
requests a second, and processor time for each request, which other load on the machine changes less.

    python tests/performance/bench_endpoint.py [CONNECTIONS…]
"""

from __future__ import annotations

import asyncio
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp

from liescope.games import Ask, AskKind, Event, Mafia, MafiaSpec, Reply, start
from liescope.generate.players.openai.openai_player import open_openai
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.prompts import load_prompts
from liescope.generate.players.run_limits import Limits

CONNECTIONS = (256, 2000)
LATENCY = 0.2
REQUESTS = 10  # for each connection in a round
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


async def rate(one: Callable[[int], Awaitable[object]], connections: int, count: int) -> tuple[float, float]:
    """Requests a second with so many under way, and microseconds of processor time for each."""
    numbers = iter(range(count))

    async def work() -> None:
        for number in numbers:
            await one(number)

    began, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(connections)))
    return count / (time.perf_counter() - began), (time.process_time() - used) / count * 1e6


async def measure(url: str, connections: int) -> dict[str, list[tuple[float, float]]]:
    asked, prompts = turns(), load_prompts("full", "mafia")
    texts = [prompts.render(ask, view).text for ask, view in asked]
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=connections))
    player = open_openai(
        f"m@{url}", PlayerContext(log=lambda attempt: None, game="mafia", limits=Limits(concurrency=connections))
    )

    def body(number: int) -> dict[str, Any]:
        return {"model": "m", "messages": [{"role": "user", "content": texts[number % len(texts)]}]}

    async def by_aiohttp(number: int) -> object:
        data = json.dumps(body(number)).encode()
        async with session.post(f"{url}/chat/completions", data=data) as response:
            return json.loads(await response.read())["choices"][0]["message"]

    async def by_player(number: int) -> object:
        reply = await player.answer(*asked[number % len(asked)])
        if reply.problem:
            raise RuntimeError(reply.problem)
        return reply

    clients = {"aiohttp alone": by_aiohttp, "the player": by_player}
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in clients}
    for one in clients.values():
        await rate(one, connections, 3 * connections)  # opens the connections; the player finds its window
    for _ in range(ROUNDS):
        for name, one in clients.items():
            rates[name].append(await rate(one, connections, REQUESTS * connections))
    await player.close()
    await session.close()
    return rates


def bench_endpoint(connections: int) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER, str(LATENCY)], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            rates = asyncio.run(measure(url, connections))
        finally:
            server.kill()
    at_most = connections / LATENCY
    print(f"endpoint, {connections} connections, {LATENCY * 1000:.0f} ms, at most {at_most:.0f} requests/s:")
    medians = {name: statistics.median(each for each, _ in found) for name, found in rates.items()}
    for name, found in rates.items():
        low, high = min(found)[0], max(found)[0]
        used = statistics.median(each for _, each in found)
        print(f"  {name:15} {medians[name]:6.0f} requests/s ({low:.0f} to {high:.0f}), {used:5.0f} µs each")
    print(f"  the player beside aiohttp alone: {medians['the player'] / medians['aiohttp alone']:.2f}  (wanted: 0.95)")


if __name__ == "__main__":
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for number in map(int, sys.argv[1:]) if sys.argv[1:] else CONNECTIONS:
        bench_endpoint(number)
