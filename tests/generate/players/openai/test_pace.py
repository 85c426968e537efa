"""The pace of a host against clocks and limits that a test controls: no wall time passes here."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable

import pytest

from liescope.common.errors import BudgetSpent, RunPaused
from liescope.generate.players.activity import Activity
from liescope.generate.players.openai import breaker, pace
from liescope.generate.players.openai.breaker import OUTAGE
from liescope.generate.players.openai.pace import LONGEST_ASKED, Pace
from liescope.generate.players.shared import Halt


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


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(autouse=True)
def _real_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.5)
    monkeypatch.setattr(breaker, "FIRST_PROBE", 0.5)
    monkeypatch.setattr(breaker, "LONGEST_PROBE", 10.0)


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


async def ask(world: World, pace: Pace, host: Callable[[], str], latency: float) -> int:
    """One request until it is answered; returns how often it was sent."""
    for sent in range(1, 10_000):
        async with pace.turn() as turn:
            verdict = host()
            await world.sleep(latency if verdict == "ok" else 0.01)
        if verdict == "ok":
            pace.answered(turn, "kind", world.now - turn.at)
            return sent
        if verdict == "limited":
            pace.limited(turn, None, "429")
        else:
            pace.failed(turn, None, "500")
    raise AssertionError("never answered")


def windows(world: World, allowed: int, length: float) -> Callable[[], str]:
    """A host that takes so many requests in each window of time."""
    counts: dict[int, int] = {}

    def answer() -> str:
        window = int(world.now // length)
        counts[window] = counts.get(window, 0) + 1
        return "ok" if counts[window] <= allowed else "limited"

    return answer


def bucket(world: World, rate: float, burst: float) -> Callable[[], str]:
    """A host that refills tokens at a rate, up to a burst."""
    state = [burst, world.now]

    def answer() -> str:
        state[0] = min(burst, state[0] + (world.now - state[1]) * rate)
        state[1] = world.now
        if state[0] < 1:
            return "limited"
        state[0] -= 1
        return "ok"

    return answer


@pytest.mark.parametrize(
    ("make", "allowed", "number", "worst"),
    [
        (lambda w: windows(w, 20, 1), 20.0, 1200, 1.2),
        (lambda w: windows(w, 5, 1), 5.0, 600, 1.2),
        (lambda w: bucket(w, 20, 20), 20.0, 1200, 1.2),
        (lambda w: bucket(w, 8, 500), 8.0, 1500, 1.25),
        (lambda w: windows(w, 500, 60), 500 / 60, 3000, 1.25),
        (lambda w: windows(w, 60, 60), 1.0, 400, 1.25),
    ],
)
@pytest.mark.parametrize("latency", [0.01, 2.0])
def test_a_limit_is_found_and_kept_near(
    world: World, make: Callable[[World], Callable[[], str]], allowed: float, number: int, worst: float, latency: float
) -> None:
    """64 requests at once against a limit: the time taken against the time that the limit would allow at best."""
    pace, host = pace_of(world), make(world)
    waiting = iter(range(number))
    sent: list[int] = []

    async def worker() -> None:
        for _ in waiting:
            sent.append(await ask(world, pace, host, latency))

    began = world.now
    asyncio.run(world.run(*(worker() for _ in range(64))))
    assert len(sent) == number
    assert (world.now - began) / (number / allowed) < worst
    assert sum(sent) < (1.5 if latency < 1 else 2.2) * number


def test_a_host_that_is_down_is_tried_by_one_request_at_a_time_and_then_all_go_on(world: World) -> None:
    pace = pace_of(world)
    until = world.now + 600
    during: list[float] = []

    def host() -> str:
        if world.now < until:
            during.append(world.now)
            return "down"
        return "ok"

    asyncio.run(world.run(*(ask(world, pace, host, 0.1) for _ in range(64))))
    assert len(during) < 64 + OUTAGE + 600 / 10 + 20
    assert world.now - until < 15


def test_a_complaint_stops_everybody_for_as_long_as_it_asks_and_old_ones_change_nothing(world: World) -> None:
    pace = pace_of(world)
    sent: list[float] = []

    async def one(asked: float) -> None:
        async with pace.turn() as turn:
            sent.append(turn.at)
            await world.sleep(0.1)
        if turn.at < 1001:
            pace.limited(turn, asked, "slow down")

    async def late() -> None:
        await world.sleep(0.2)
        assert pace._activity.wait is not None
        assert pace._activity.wait[1] == "slow down"
        async with pace.turn() as turn:
            sent.append(turn.at)
        pace.answered(turn, "kind", 0.1)
        assert pace._activity.wait is None

    asyncio.run(world.run(one(7.0), one(3.0), one(5.0), late()))
    assert sent[:3] == [1000.0] * 3
    assert sent[3] == pytest.approx(1007.1)


def test_a_host_that_asks_for_a_day_is_asked_again_earlier(world: World) -> None:
    pace = pace_of(world)

    async def go() -> None:
        async with pace.turn() as turn:
            pass
        pace.limited(turn, 86400.0, "429")
        async with pace.turn() as turn:
            assert turn.at == pytest.approx(1000 + LONGEST_ASKED)

    asyncio.run(world.run(go()))


def test_few_failures_among_answers_slow_nobody_down(world: World) -> None:
    pace = pace_of(world)

    async def go() -> None:
        for number in range(100):
            async with pace.turn() as turn:
                pass
            if number % 3:
                pace.answered(turn, "kind", 0.1)
            else:
                pace.failed(turn, None, "500")

    asyncio.run(world.run(go()))
    assert world.now == 1000.0
    assert pace.rate.per_second is None


def test_whoever_waits_is_told_when_the_run_ends() -> None:
    """On the real clock: a wait of a minute ends at once."""

    async def go() -> None:
        halt = Halt()
        pace = Pace("host", halt, Activity(), 1)
        async with pace.turn() as turn:
            pass
        pace.limited(turn, 60.0, "429")

        async def wait() -> None:
            async with pace.turn():
                raise AssertionError("nothing may be sent")

        waiting = [asyncio.create_task(wait()) for _ in range(5)]
        await asyncio.sleep(0.01)
        halt.set(BudgetSpent("enough"))
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [BudgetSpent] * 5
        assert all(isinstance(result, RunPaused) for result in results)

    asyncio.run(asyncio.wait_for(go(), 5))
