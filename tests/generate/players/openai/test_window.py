"""The window against hosts of known capacity, on a clock of the test's own."""

from __future__ import annotations

import pytest

from liescope.generate.players.openai.window import FIRST
from tests.generate.players.openai.fake_world import World, ask_all, noisy, pace_of


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
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


@pytest.mark.parametrize("most", [1, 4, 20, 100])
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
