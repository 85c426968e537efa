"""The parts of a host's pace by themselves: its breaker, the rate that refusals teach, what limits that are reported
leave, each at times that a test chooses.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from liescope.generate.players.openai import pace
from liescope.generate.players.openai.pace import OUTAGE, Breaker
from liescope.generate.players.openai.rate_limits import DEEPEST, FALL, SHORT, Quotas, SendRate, read_limits

NOW = datetime(2026, 1, 15, 12, 0, 0, tzinfo=UTC)


def test_a_host_is_down_from_the_last_failure_of_a_row_on_and_up_with_the_first_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pace, "FIRST_PROBE", 0.5)
    monkeypatch.setattr(pace, "LONGEST_PROBE", 10.0)
    breaker = Breaker()
    for _ in range(OUTAGE - 1):
        assert breaker.failed(probe=True) is None
        assert not breaker.open
    assert breaker.failed(probe=False) is None, "it was sent before anybody knew"
    assert breaker.open
    breaker.answered()
    assert not breaker.open
    for _ in range(OUTAGE - 1):
        assert breaker.failed(probe=True) is None
    assert [breaker.failed(probe=True) for _ in range(7)] == [0.5, 1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def learned(pause: float, sent: int, refused: int) -> tuple[float, float]:
    """The rate after a first complaint, and after a second that ends a pause and so many requests."""
    rate, now = SendRate(), 1000.0
    for number in range(40):
        cycle = rate.sent(now + number / 40, held=False)
    rate.refused(cycle)
    rate.complained()
    rate.paused(now + 1, now + 1 + pause)
    cycle = rate.sent(now + 1 + pause, held=False)
    first = rate.per_second
    for _ in range(sent - 1):
        cycle = rate.sent(now + 1 + pause, held=False)
    for _ in range(refused):
        rate.refused(cycle)
    rate.complained()
    rate.sent(now + 2 + pause, held=False)
    assert first is not None
    assert rate.per_second is not None
    return first, rate.per_second


@pytest.mark.parametrize(("sent", "refused"), [(100, 0), (100, 30), (150, 1)])
def test_after_a_long_pause_the_limit_is_the_share_that_the_host_took(sent: int, refused: int) -> None:
    pause = 4.0
    first, second = learned(pause, sent, refused)
    without_a_pause = sent + pause * first
    assert second == pytest.approx(FALL * first * (sent - refused) / without_a_pause)


def test_a_short_pause_says_that_the_rate_was_about_right_and_none_says_less_than_a_quarter() -> None:
    for pause in (0.1, SHORT):
        first, second = learned(pause, 100, 60)
        assert second == pytest.approx(FALL * first)
    first, second = learned(60.0, 100, 60)
    assert second == pytest.approx(FALL * first * DEEPEST)


def report(remaining: int, reset: float) -> dict[str, str]:
    return {
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": str(remaining),
        "x-ratelimit-reset-requests": f"{reset}s",
    }


def test_what_refills_is_there_at_one_moment_whenever_it_is_asked_for() -> None:
    """60 requests a minute, 30 of them used: one comes back each second."""
    quotas = Quotas()
    quotas.reported(read_limits(report(30, 30.0), NOW), quotas.sent(1), now=100.0)
    for _ in range(34):
        quotas.sent(1)
    assert [now + quotas.wait(1, now) for now in (100.0, 101.5, 104.0)] == pytest.approx([105.0] * 3)
    assert quotas.wait(1, 106.0) <= 0


def test_a_window_is_there_again_at_its_reset_whenever_it_is_asked_for() -> None:
    quotas = Quotas()
    for now in (100.0, 105.0):  # nothing came back in five seconds, so that it is no bucket
        quotas.reported(read_limits(report(0, 130 - now), NOW), quotas.sent(1), now=now, refused=True)
    assert [now + quotas.wait(1, now) for now in (105.0, 110.0, 129.0)] == pytest.approx([130.0] * 3)
    assert quotas.wait(1, 131.0) <= 0
