"""A clock and hosts that a test controls: no wall time passes here."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable
from random import Random

from liescope.generate.players.openai.pace import Pace
from liescope.generate.players.player_protocol import Activity, Halt


class World:
    """A clock that jumps to the next turn at which somebody wakes up."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self.count = 0

    async def sleep(self, seconds: float) -> None:
        self.count += 1
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self.sleepers, (self.now + seconds, self.count, future))
        await future

    async def run(self, *work: Awaitable[None]) -> None:
        whole = asyncio.gather(*work)
        while not whole.done():
            await asyncio.sleep(0)
            while asyncio.get_running_loop()._ready:  # whoever can go on without waiting does
                await asyncio.sleep(0)
            if self.sleepers and not whole.done():
                at, _, future = heapq.heappop(self.sleepers)
                self.now = max(self.now, at)
                if not future.done():
                    future.set_result(None)
        await whole


class SlowHalt(Halt):
    """Sleeps on the world's clock."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    async def sleep(self, seconds: float) -> None:
        self.check()
        await self.world.sleep(seconds)
        self.check()


def pace_of(world: World, ceiling: int = 64) -> Pace:
    return Pace("host", SlowHalt(world), Activity(), ceiling, lambda: world.now)


async def ask(world: World, pace: Pace, host: Callable[[int], str], latency: Callable[[int], float]) -> int:
    """One request until it is answered; returns how often it was sent. host, latency: of the requests in flight."""
    for sent in range(1, 10_000):
        async with pace.turn() as turn:
            verdict, took = host(turn.in_flight), latency(turn.in_flight)
            await world.sleep(took if verdict == "ok" else 0.01)
        if verdict == "ok":
            pace.answered(turn, "kind", took)
            return sent
        if verdict == "limited":
            pace.limited(turn, None, "429")
        else:
            pace.failed(turn, None, "500")
    raise AssertionError("never answered")


def ask_all(
    world: World,
    pace: Pace,
    number: int,
    host: Callable[[int], str] = lambda in_flight: "ok",
    latency: Callable[[int], float] = lambda in_flight: 0.1,
    workers: int = 64,
) -> tuple[float, int]:
    """Ask so many requests; returns the seconds that it took and how many were sent."""
    waiting = iter(range(number))
    sent: list[int] = []

    async def worker() -> None:
        for _ in waiting:
            sent.append(await ask(world, pace, host, latency))

    began = world.now
    asyncio.run(world.run(*(worker() for _ in range(workers))))
    assert len(sent) == number
    return world.now - began, sum(sent)


def noisy(latency: Callable[[int], float], spread: float) -> Callable[[int], float]:
    """The latency with log-normal noise."""
    random = Random(7)
    return lambda in_flight: latency(in_flight) * random.lognormvariate(0, spread)
