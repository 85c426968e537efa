"""Limits that hosts report: each provider's headers are read, and what they allow is used and not exceeded."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from liescope.generate.players.openai.rate_limits import BELIEVED, Quotas, read_limits
from tests.generate.players.openai.fake_world import World, pace_of

NOW = datetime(2026, 1, 15, 12, 0, 0, tzinfo=UTC)


# As the providers send them. What is expected: name, counts tokens, limit, remaining, seconds to the reset
HEADERS = {
    "OpenAI": (
        {
            "x-ratelimit-limit-requests": "5000",
            "x-ratelimit-limit-tokens": "160000",
            "x-ratelimit-limit-tokens_usage_based": "160000",
            "x-ratelimit-remaining-requests": "4999",
            "x-ratelimit-remaining-tokens": "159976",
            "x-ratelimit-remaining-tokens_usage_based": "159976",
            "x-ratelimit-reset-requests": "12ms",
            "x-ratelimit-reset-tokens": "6m0s",
            "x-ratelimit-reset-tokens_usage_based": "9ms",
        },
        {
            ("rate-requests", False, 5000, 4999, 0.012),
            ("rate-tokens", True, 160000, 159976, 360),
            ("rate-tokens_usage_based", True, 160000, 159976, 0.009),
        },
    ),
    "Groq": (
        {
            "x-ratelimit-limit-requests": "14400",
            "x-ratelimit-limit-tokens": "18000",
            "x-ratelimit-remaining-requests": "14370",
            "x-ratelimit-remaining-tokens": "17997",
            "x-ratelimit-reset-requests": "2m59.56s",
            "x-ratelimit-reset-tokens": "7.66s",
        },
        {("rate-requests", False, 14400, 14370, 179.56), ("rate-tokens", True, 18000, 17997, 7.66)},
    ),
    "Anthropic": (
        {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "49",
            "anthropic-ratelimit-requests-reset": "2026-01-15T12:00:30Z",
            "anthropic-ratelimit-output-tokens-limit": "8000",
            "anthropic-ratelimit-output-tokens-remaining": "7000",
            "anthropic-ratelimit-output-tokens-reset": "2026-01-15T12:01:00Z",
        },
        {("rate-requests", False, 50, 49, 30), ("rate-output-tokens", True, 8000, 7000, 60)},
    ),
    "Together": (
        {
            "x-ratelimit-limit": "10",
            "x-ratelimit-remaining": "9",
            "x-ratelimit-reset": "1",
            "x-tokenlimit-limit": "3000",
            "x-tokenlimit-remaining": "2500",
        },
        {("rate", False, 10, 9, 1), ("token", True, 3000, 2500, 60)},
    ),
    "OpenRouter": (
        {"x-ratelimit-limit": "20", "x-ratelimit-remaining": "3", "x-ratelimit-reset": "1768478430000"},
        {("rate", False, 20, 3, 30)},
    ),
    "Mistral": (
        {
            "x-ratelimit-limit-tokens-minute": "5000000",
            "x-ratelimit-remaining-tokens-minute": "4999911",
            "x-ratelimit-tokens-query-cost": "52",
            "x-ratelimit-limit-req-minute": "720",
            "x-ratelimit-remaining-req-minute": "717",
        },
        {("rate-tokens-minute", True, 5000000, 4999911, 60), ("rate-req-minute", False, 720, 717, 60)},
    ),
    "Cerebras": (
        {
            "x-ratelimit-limit-requests-day": "14400",
            "x-ratelimit-remaining-requests-day": "14399",
            "x-ratelimit-reset-requests-day": "33011.382867",
        },
        {("rate-requests-day", False, 14400, 14399, 33011.382867)},
    ),
    "Azure without a limit": (
        {
            "x-ratelimit-limit-tokens": "-1",
            "x-ratelimit-remaining-tokens": "-1",
            "x-ratelimit-reset-tokens": "0",
        },
        set(),
    ),
    "nonsense": ({"x-ratelimit-remaining-tokens": "nan", "x-ratelimit-remaining-requests": "1e99", "date": "x"}, set()),
}


@pytest.mark.parametrize("provider", HEADERS)
def test_the_limits_of_each_provider_are_read(provider: str) -> None:
    headers, expected = HEADERS[provider]
    found = {(one.name, one.tokens, one.limit, one.remaining, round(one.reset, 6)) for one in read_limits(headers, NOW)}
    assert found == expected


class Provider:
    """A host with a limit of tokens a minute that it reports: a bucket that refills, or windows of a minute."""

    def __init__(self, world: World, most: float, windows: bool) -> None:
        self.world, self.most, self.windows = world, most, windows
        self.left, self.at, self.refused = most, world.now, 0

    def ask(self, tokens: float) -> tuple[bool, dict[str, str]]:
        now = self.world.now
        if self.windows:
            if now // 60 != self.at // 60:
                self.left = self.most
            reset = 60 - now % 60
        else:
            self.left = min(self.most, self.left + (now - self.at) * self.most / 60)
            reset = (self.most - self.left) / self.most * 60
        self.at = now
        taken = self.left >= tokens
        self.left -= tokens if taken else 0
        self.refused += not taken
        return taken, {
            "x-ratelimit-limit-tokens": f"{self.most:.0f}",
            "x-ratelimit-remaining-tokens": f"{self.left:.0f}",
            "x-ratelimit-reset-tokens": f"{reset:.3f}s",
        }


@pytest.mark.parametrize("windows", [False, True])
@pytest.mark.parametrize("latency", [0.05, 3.0])
def test_a_limit_of_tokens_that_is_reported_is_used_and_hardly_ever_broken(windows: bool, latency: float) -> None:
    """Requests of different sizes, whose tokens are estimated a tenth too low or too high."""
    world = World()
    provider, pace = Provider(world, 60_000, windows), pace_of(world, 256)
    sizes = [200 + 37 * (number % 40) for number in range(700)]
    waiting = iter(sizes)

    async def worker() -> None:
        for size in waiting:
            for _ in range(100):
                async with pace.turn(size * (0.9 if size % 2 else 1.1)) as turn:
                    taken, headers = provider.ask(size)
                    await world.sleep(latency if taken else 0.01)
                pace.reported(turn, headers, refused=not taken)
                if taken:
                    pace.answered(turn, "kind", latency)
                    break
                pace.limited(turn, None, "429")

    asyncio.run(world.run(*(worker() for _ in range(200))))
    at_best = (sum(sizes) - 60_000) / 1000  # the first minute's tokens are there at once
    assert world.now - 1000 < at_best / 0.9 + (60 if windows else 5)
    assert provider.refused < 50  # of 700 answered


def test_what_the_host_has_not_counted_yet_is_taken_off_its_report() -> None:
    quotas = Quotas()
    first = quotas.sent(10)
    for _ in range(4):
        quotas.sent(10)
    headers = {"x-ratelimit-limit-requests": "10", "x-ratelimit-remaining-requests": "5"}
    quotas.reported(read_limits(headers, NOW), first, now=0.0)
    assert quotas.wait(1, 0.0) <= 0
    quotas.sent(10)
    assert quotas.wait(1, 0.0) > 0  # 5 left as of the first, and 5 more were sent since


def test_a_report_that_is_older_than_another_changes_nothing_and_no_report_stops_for_a_day() -> None:
    quotas = Quotas()
    first, second = quotas.sent(10), quotas.sent(10)
    day = {"x-ratelimit-limit-requests-day": "1000", "x-ratelimit-reset-requests-day": "80000"}
    quotas.reported(read_limits(day | {"x-ratelimit-remaining-requests-day": "0"}, NOW), second, now=0.0)
    quotas.reported(read_limits(day | {"x-ratelimit-remaining-requests-day": "500"}, NOW), first, now=0.0)
    assert quotas.wait(1, 0.0) == BELIEVED
