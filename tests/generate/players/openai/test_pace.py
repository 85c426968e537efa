"""The pace of a host against clocks and limits that a test controls: no wall time passes here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from liescope.common.errors import BudgetSpent, RunPaused
from liescope.generate.players.openai import pace
from liescope.generate.players.openai.pace import CREDIBLE, EARLY, LONGEST_ASKED, OUTAGE, Pace
from liescope.generate.players.openai.window import FIRST
from liescope.generate.players.player_protocol import Activity, Halt
from tests.generate.players.openai.fake_world import World, ask, ask_all, noisy, pace_of


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(autouse=True)
def _real_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.5)
    monkeypatch.setattr(pace, "FIRST_PROBE", 0.5)
    monkeypatch.setattr(pace, "LONGEST_PROBE", 10.0)


def windows(world: World, allowed: int, length: float) -> Callable[[int], str]:
    """A host that takes so many requests in each window of time."""
    counts: dict[int, int] = {}

    def answer(in_flight: int) -> str:
        window = int(world.now // length)
        counts[window] = counts.get(window, 0) + 1
        return "ok" if counts[window] <= allowed else "limited"

    return answer


def bucket(world: World, rate: float, burst: float) -> Callable[[int], str]:
    """A host that refills tokens at a rate, up to a burst."""
    state = [burst, world.now]

    def answer(in_flight: int) -> str:
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
        (lambda w: bucket(w, 20, 20), 20.0, 1200, 1.1),
        (lambda w: bucket(w, 8, 500), 8.0, 1500, 1.0),
        (lambda w: windows(w, 500, 60), 500 / 60, 3000, 1.1),
        (lambda w: windows(w, 60, 60), 1.0, 400, 1.1),
    ],
)
@pytest.mark.parametrize("latency", [0.01, 2.0])
def test_a_limit_is_found_and_kept_near(
    world: World,
    make: Callable[[World], Callable[[int], str]],
    allowed: float,
    number: int,
    worst: float,
    latency: float,
) -> None:
    """The time taken against the time that the limit would allow at best."""
    seconds, sent = ask_all(world, pace_of(world), number, make(world), lambda in_flight: latency)
    assert seconds / (number / allowed) < worst
    assert sent < 1.7 * number


def test_a_host_that_refuses_a_few_requests_at_any_rate_is_not_slowed_down_for(world: World) -> None:
    chance = Random(3)

    def host(in_flight: int) -> str:
        return "limited" if chance.random() < 0.01 else "ok"

    seconds, sent = ask_all(world, pace_of(world), 5000, host, lambda in_flight: 0.1)
    assert seconds < 5000 * 0.1 / 16  # what the first window would take without a refusal
    assert sent < 1.05 * 5000


@pytest.mark.parametrize(
    ("allowed", "latency"), [(5, 0.01), (5, 0.2), (5, 2.0), (20, 0.01), (20, 0.2), (20, 2.0), (200, 0.2)]
)
def test_in_the_long_run_a_limit_is_used_to_nine_tenths(world: World, allowed: int, latency: float) -> None:
    """After half a minute of finding it out, and ten latencies until enough requests are in flight. What is refused is
    not paid for.
    """
    number, host = 130 * allowed, windows(world, allowed, 1)
    seconds, sent = ask_all(world, pace_of(world, 512), number, host, lambda in_flight: latency, workers=600)
    assert seconds < 32 + 10 * latency + 100 / 0.9
    assert sent < 1.05 * number + 60


def at_once(
    world: World, most: int, latency: float, spread: float
) -> tuple[Callable[[int], str], Callable[[int], float]]:
    """A host that takes so many requests at once and refuses any other as if it came too early; and its latencies."""
    ends: list[float] = []
    random, took = Random(1), [latency]

    def answer(in_flight: int) -> str:
        ends[:] = [end for end in ends if end > world.now + 1e-9]
        if len(ends) >= most:
            return "limited"
        took[0] = latency * random.lognormvariate(-(spread**2) / 2, spread)
        ends.append(world.now + took[0])
        return "ok"

    return answer, lambda in_flight: took[0]


@pytest.mark.parametrize("most", [1, 5, 12, 30])
@pytest.mark.parametrize("latency", [0.2, 2.0])
@pytest.mark.parametrize("spread", [0.0, 0.5])
def test_a_host_that_takes_so_many_at_once_is_kept_busy_though_it_does_not_say_so(
    world: World, most: int, latency: float, spread: float
) -> None:
    """In the words of a rate limit: it took less than half of that before, with a latency of 0.2 s."""
    pace, number = pace_of(world, 256), 60 * most
    seconds, sent = ask_all(world, pace, number, *at_once(world, most, latency, spread), workers=300)
    assert seconds < number * latency / most / 0.85
    assert sent < 1.05 * number + 25
    assert most <= pace.window.size <= most + 2
    assert pace.rate.per_second is None


def test_a_host_that_is_down_is_tried_by_one_request_at_a_time_and_then_all_go_on(world: World) -> None:
    pace = pace_of(world)
    until = world.now + 600
    during: list[float] = []

    def host(in_flight: int) -> str:
        if world.now < until:
            during.append(world.now)
            return "down"
        return "ok"

    asyncio.run(world.run(*(ask(world, pace, host, lambda in_flight: 0.1) for _ in range(64))))
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
        for wait in (EARLY, 2 * EARLY, 4 * EARLY, LONGEST_ASKED, LONGEST_ASKED):
            before = world.now
            pace.limited(turn, 86400.0, "429")
            assert pace._activity.wait is not None
            assert "asks for 86,400 s, and is tried earlier" in pace._activity.wait[1]
            async with pace.turn() as turn:
                assert turn.at - before == pytest.approx(wait)
            await world.sleep(0.1)
        pace.answered(turn, "kind", 0.1)
        pace.limited(turn, CREDIBLE, "429")
        before = world.now
        async with pace.turn() as turn:
            assert turn.at - before == pytest.approx(CREDIBLE)

    asyncio.run(world.run(go()))


def test_one_such_wait_holds_a_short_job_for_seconds_only(world: World) -> None:
    pace, sent = pace_of(world), list[float]()

    async def one(number: int) -> None:
        while True:
            async with pace.turn() as turn:
                sent.append(world.now - 1000)
                await world.sleep(0.1)
            if number or turn.at > 1000:
                pace.answered(turn, "kind", 0.1)
                return
            pace.limited(turn, 100_000.0, "429")

    async def all_of_them() -> None:
        await asyncio.gather(*(one(number) for number in range(24)))

    asyncio.run(world.run(all_of_them()))
    assert max(sent) < EARLY + 1
    assert min(at for at in sent if at > 1) >= EARLY


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


# The window


@pytest.mark.parametrize("spread", [0.5, 1.0])
def test_a_host_with_room_is_filled_to_the_ceiling_whatever_the_noise(world: World, spread: float) -> None:
    pace = pace_of(world, 256)
    ask_all(world, pace, 4000, latency=noisy(lambda in_flight: 1.0, spread), workers=400)
    assert pace.window.size == 256
    assert world.now - 1000 < 120


def test_the_ceiling_is_reached_within_ten_round_trips(world: World) -> None:
    pace = pace_of(world, 256)
    ask_all(world, pace, 1500, latency=lambda in_flight: 1.0, workers=400)
    assert pace.window.size == 256
    assert world.now - 1000 < 14  # at best, 256 at once from the start, it takes 6


@pytest.mark.parametrize("spread", [0.0, 0.3, 0.6])
def test_where_more_only_queue_the_window_stays_near_what_the_host_can_do(world: World, spread: float) -> None:
    """A host that answers 40 requests at once: a longer queue gains nothing, a shorter one loses answers."""
    pace = pace_of(world, 256)
    slow = noisy(lambda in_flight: max(1.0, in_flight / 40), spread)
    ask_all(world, pace, 4000, latency=slow, workers=400)
    assert 36 <= pace.window.size <= 128


@pytest.mark.parametrize("spread", [0.0, 1.0])
def test_a_host_that_answers_one_at_a_time_is_not_flooded_and_noise_closes_no_window(
    world: World, spread: float
) -> None:
    pace = pace_of(world, 256)
    ask_all(world, pace, 400, latency=noisy(lambda in_flight: 0.5 * in_flight, spread), workers=400)
    assert FIRST <= pace.window.size <= 64


@pytest.mark.parametrize("most", [1, 20, 100])
@pytest.mark.parametrize("latency", [0.2, 2.0])
def test_a_host_that_says_too_many_at_once_gets_exactly_as_many_as_it_takes(
    world: World, most: int, latency: float
) -> None:
    pace = pace_of(world, 256)
    number = 60 * max(int(most / latency), 1)
    seconds, sent = ask_all(
        world,
        pace,
        number,
        lambda in_flight: "ok" if in_flight <= most else "crowded",
        lambda in_flight: latency,
        workers=300,
    )
    assert pace.window.size in (most, most + 1, int(most * 1.05))
    assert seconds < 1.2 * number * latency / most
    assert sent < 1.2 * number + 30


def test_timeouts_make_the_window_smaller_once_a_round_and_never_close_it(world: World) -> None:
    window = pace_of(world, 256).window
    for _ in range(5):
        window.size, window._since = 256, world.now
        for _ in range(200):
            window.overloaded(world.now - 1)
        assert window.size == 256  # they were sent before the last change
        world.now += 1
    for _ in range(50):
        window.overloaded(world.now)
        world.now += 1
    assert window.size == FIRST
