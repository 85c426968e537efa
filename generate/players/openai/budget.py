"""What a run's requests have cost, and the limits on that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from liescope.common.errors import BudgetSpent
from liescope.generate.players.protocol import PlayerContext, Price

CHARACTERS_A_TOKEN = 4  # for an endpoint that reports no counts


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer as counted by the endpoint; None if it reports none."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None

    def cost(self, price: Price | None) -> float | None:
        """What the answer cost; None without a price or counts. Cached tokens are included in the prompt tokens."""
        if price is None or self.prompt is None or self.completion is None:
            return None
        cached = min(self.cached or 0, self.prompt)
        cached_price = price.prompt if price.cached is None else price.cached
        fresh = (self.prompt - cached) * price.prompt
        return (fresh + cached * cached_price + self.completion * price.completion) / 1e6

    def saved(self, price: Price | None) -> float:
        """What the tokens from the endpoint's cache would have cost more; 0 without a price for them."""
        if price is None or price.cached is None:
            return 0.0
        return min(self.cached or 0, self.prompt or 0) * (price.prompt - price.cached) / 1e6


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and money."""

    tokens: float
    cost: float

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.tokens - other.tokens, self.cost - other.cost)


def expected(prompt: float, completion: float, price: Price | None) -> Spent:
    """What a request of so many tokens will cost."""
    money = 0.0 if price is None else (prompt * price.prompt + completion * price.completion) / 1e6
    return Spent(prompt + completion, money)


class Budget:
    """Counts what is spent, and what requests under way will probably cost: near a limit they wait for each other, so
    that it is exceeded by a wrong estimate at most. Those under way when it is reached still complete, and count.
    """

    def __init__(self, context: PlayerContext) -> None:
        self.tokens = context.spent_tokens
        self.cost = context.spent_cost
        self._max_tokens: float | None = context.max_tokens
        self._max_cost = context.max_cost
        self._under_way = 0
        self._held = Spent(0.0, 0.0)
        self._ended = asyncio.Event()  # a request under way has ended

    def check(self) -> None:
        """Raises BudgetSpent if nothing more may be spent."""
        for spent, limit, what in ((self.tokens, self._max_tokens, "tokens"), (self.cost, self._max_cost, "money")):
            if limit is not None and spent >= limit:
                raise used_up(what, limit, spent)

    @asynccontextmanager
    async def request(self, expected: Spent) -> AsyncIterator[None]:
        """Wait until there is room for a request beside those under way; inside the context, it is under way.

        Raises BudgetSpent if nothing more may be spent.
        """
        self.check()
        while self._under_way and not self._has_room(expected):
            self._ended.clear()
            await self._ended.wait()
            self.check()
        self._under_way += 1
        self._held += expected
        try:
            yield
        finally:
            self._under_way -= 1
            self._held -= expected
            self._ended.set()

    def _has_room(self, expected: Spent) -> bool:
        limits = (
            (self.tokens, self._held.tokens + expected.tokens, self._max_tokens),
            (self.cost, self._held.cost + expected.cost, self._max_cost),
        )
        return all(limit is None or spent + more <= limit for spent, more, limit in limits)

    def spend(self, usage: Usage, price: Price | None, characters: tuple[int, int]) -> None:
        """Count one answer. characters: lengths of prompt and answer, used to estimate missing counts."""
        sent, came = characters
        prompt = sent // CHARACTERS_A_TOKEN if usage.prompt is None else usage.prompt
        completion = came // CHARACTERS_A_TOKEN if usage.completion is None else usage.completion
        self.tokens += prompt + completion
        self.cost += Usage(prompt, usage.cached, completion).cost(price) or 0.0


def used_up(what: str, limit: float, spent: float) -> BudgetSpent:
    """The error for a budget of which nothing is left. what: "tokens" or "money"."""
    return BudgetSpent(
        f"the run's budget of {limit:,.10g} in {what} is used up ({spent:,.10g} spent); finished games are kept, and "
        "the same command with a larger budget goes on"
    )
