"""The pace of a host against clocks and limits that a test controls: no wall time passes here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

import pytest

from liescope.common.errors import BudgetSpent
from liescope.generate.players.openai import pace
from liescope.generate.players.openai.pace import CREDIBLE, EARLY, FIRST, LONGEST_ASKED, OUTAGE, Pace
from liescope.generate.players.player_protocol import Activity, Halt
from tests.generate.players.openai.fake_world import World, ask, ask_all, noisy, pace_of

Host = Callable[[int], str]


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(autouse=True)
def _real_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.5)
    monkeypatch.setattr(pace, "FIRST_PROBE", 0.5)
    monkeypatch.setattr(pace, "LONGEST_PROBE", 10.0)


def windows(world: World, allowed: int, length: float) -> Host:
    """A host that takes so many requests in each window of time."""
    counts: dict[int, int] = {}

    def answer(in_flight: int) -> str:
        window = int(world.now // length)
        counts[window] = counts.get(window, 0) + 1
        return "ok" if counts[window] <= allowed else "limited"

    return answer


def bucket(world: World, rate: float, burst: float) -> Host:
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
    ("make", "allowed", "number"),
    [
        (lambda w: bucket(w, 20, 20), 20.0, 1200),
        (lambda w: bucket(w, 8, 500), 8.0, 1500),
        (lambda w: windows(w, 500, 60), 500 / 60, 3000),
        (lambda w: windows(w, 60, 60), 1.0, 400),
        (lambda w: windows(w, 5, 1), 5.0, 650),
        (lambda w: windows(w, 200, 1), 200.0, 26_000),
    ],
)
@pytest.mark.parametrize("latency", [0.01, 0.5])
def test_a_limit_of_the_rate_is_found_and_kept_near(
    world: World, make: Callable[[World], Host], allowed: float, number: int, latency: float
) -> None:
    """The time taken against the time that the limit would allow at best; and what is sent in vain."""
    found = noisy(lambda in_flight: latency, 0.3)
    seconds, sent = ask_all(world, pace_of(world, 256), number, make(world), found, workers=300)
    assert seconds / (number / allowed) < 1.4
    assert sent < 2 * number


def test_a_host_that_refuses_a_few_requests_at_any_rate_is_not_slowed_down_for(world: World) -> None:
    chance = Random(3)
    shedding = lambda in_flight: "limited" if chance.random() < 0.01 else "ok"  # noqa: E731
    seconds, sent = ask_all(world, pace_of(world), 5000, shedding, lambda in_flight: 0.1)
    assert seconds < 1.2 * 5000 * 0.1 / FIRST  # what the first window takes without a refusal
    assert sent < 1.05 * 5000


def at_once(world: World, most: int, latency: float, spread: float) -> tuple[Host, Callable[[int], float]]:
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


@pytest.mark.parametrize("most", [1, 5, 12, 30, 100])
@pytest.mark.parametrize(("latency", "spread"), [(0.2, 0.0), (0.2, 0.5), (2.0, 0.5)])
def test_a_host_that_takes_so_many_at_once_is_kept_busy_and_seldom_asked_for_more(
    world: World, most: int, latency: float, spread: float
) -> None:
    pace, number = pace_of(world, 256), 60 * most
    seconds, sent = ask_all(world, pace, number, *at_once(world, most, latency, spread), workers=300)
    assert seconds < number * latency / most / 0.75
    assert sent < 1.07 * number + 40
    assert 0.7 * most - 1 <= pace.window.size <= most + 2


def test_a_host_that_is_down_is_tried_by_one_request_at_a_time_and_then_all_go_on(world: World) -> None:
    until, during = world.now + 600, list[float]()

    def host(in_flight: int) -> str:
        if world.now < until:
            during.append(world.now)
        return "down" if world.now < until else "ok"

    pace = pace_of(world)
    asyncio.run(world.run(*(ask(world, pace, host, lambda in_flight: 0.1) for _ in range(64))))
    assert len(during) < 64 + OUTAGE + 600 / 10 + 20
    assert world.now - until < 15
    assert pace.window.size >= FIRST


def test_a_complaint_stops_everybody_for_as_long_as_it_asks_and_old_ones_change_nothing(world: World) -> None:
    pace, sent = pace_of(world), list[float]()

    async def one(asked: float) -> None:
        async with pace.turn() as turn:
            sent.append(turn.at)
            await world.sleep(0.1)
        pace.limited(turn, asked, "slow down")

    async def late() -> None:
        await world.sleep(0.2)
        assert pace._activity.wait[1] == "slow down"
        async with pace.turn() as turn:
            sent.append(turn.at)
        pace.answered(turn, "kind", 0.1)
        assert pace._activity.wait is None

    asyncio.run(world.run(one(7.0), one(3.0), one(5.0), late()))
    assert sent[:3] == [1000.0] * 3
    assert sent[3] == pytest.approx(1007.1)
    assert pace.window.size >= int(0.7 * 3)


def test_complaints_in_a_row_without_a_wish_pause_all_for_longer_each_time(world: World) -> None:
    pace, waits = pace_of(world), list[float]()

    async def go() -> None:
        for _ in range(20):
            before = world.now
            async with pace.turn() as turn:
                waits.append(turn.at - before)
                await world.sleep(0.01)
            pace.limited(turn, 0.0, "429")
            world.now += 0.001

    asyncio.run(world.run(go()))
    assert waits[:4] == pytest.approx([0, 0, 0.5, 0.75], abs=0.01)
    assert waits[-1] == pytest.approx(30.0, abs=0.01)


def test_a_host_that_asks_for_a_day_is_asked_again_earlier_by_one_request(world: World) -> None:
    pace = pace_of(world)

    async def go() -> None:
        async with pace.turn() as turn:
            pass
        for wait in (EARLY, 2 * EARLY, 4 * EARLY, LONGEST_ASKED, LONGEST_ASKED):
            before = world.now
            pace.limited(turn, 86400.0, "429")
            assert "asks for 86,400 s, and is tried earlier" in pace._activity.wait[1]
            async with pace.turn() as turn:
                assert turn.at - before == pytest.approx(wait)
                waiting = asyncio.create_task(ask(world, pace, lambda in_flight: "ok", lambda in_flight: 0.0))
                await world.sleep(0.1)
                assert pace._activity.under_way == 1, "nobody else is sent"
                waiting.cancel()
        pace.answered(turn, "kind", 0.1)
        pace.limited(turn, CREDIBLE, "429")
        before = world.now
        async with pace.turn() as turn:
            assert turn.at - before == pytest.approx(CREDIBLE)

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
    assert pace.window.size >= FIRST


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

    asyncio.run(asyncio.wait_for(go(), 5))


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
def test_a_host_with_room_is_filled_to_the_ceiling_whatever_the_noise(world: World, spread: float) -> None:
    pace = pace_of(world, 256)
    ask_all(world, pace, 4000, latency=noisy(lambda in_flight: 1.0, spread), workers=400)
    assert pace.window.size > 250
    assert world.now - 1000 < (25 if spread < 1 else 80)  # at best, 256 at once from the start, it takes 16


@pytest.mark.parametrize(("slots", "number"), [(40, 4000), (1, 400)])
@pytest.mark.parametrize("spread", [0.0, 0.6])
def test_where_more_only_queue_the_window_stops_growing(world: World, slots: int, number: int, spread: float) -> None:
    """A host that answers so many requests at once: a longer queue gains nothing, and may end in timeouts."""
    pace = pace_of(world, 256)
    ask_all(world, pace, number, latency=noisy(lambda in_flight: max(1.0, in_flight / slots), spread), workers=400)
    assert min(slots, FIRST) <= pace.window.size <= max(5 * slots, 3 * FIRST)


def test_timeouts_make_the_window_smaller_once_a_round(world: World) -> None:
    pace, sizes = pace_of(world, 256), list[int]()

    async def timing_out() -> None:
        async with pace.turn() as turn:
            await world.sleep(1.0)
        pace.failed(turn, None, "nothing came within 1 s", overloaded=True)

    async def rounds() -> None:
        for _ in range(3):
            sizes.append(pace.window.size)
            await asyncio.gather(*(timing_out() for _ in range(FIRST if len(sizes) == 1 else 2)))
            async with pace.turn() as turn:
                pass
            pace.answered(turn, "kind", 1.0)

    asyncio.run(world.run(rounds()))
    assert sizes == [FIRST, 11, 1]
