"""What may differ each time a run is resumed: its limits, declared as settings; prices, and a budget.

Prices given by the user, in words or in a file, come before those of a bundled table with dates and sources. A
bundled price holds for one host, since others sell the same names at other prices, and for US dollars. A model without
a price is never taken to be free.
"""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from liescope.common.errors import BudgetSpent, UsageError
from liescope.common.reading import LARGEST_TEXT, Strict, read_toml
from liescope.common.settings import OptionsModel, Several


@dataclass(frozen=True, slots=True)
class Price:
    """Price per million tokens."""

    prompt: float
    completion: float
    cached: float | None = None


CURRENCY = "USD"  # of the bundled prices
_BUNDLED = Path(__file__).with_name("prices.toml")
_DATED = re.compile(r"-(?:\d{4}-\d\d-\d\d|\d{8})$")  # gpt-4.1-mini-2025-04-14, claude-haiku-4-5-20251001

_Amount = Annotated[float, Field(ge=0, lt=1e12, allow_inf_nan=False)]


class _PriceFile(Strict):
    prices: dict[str, Annotated[tuple[_Amount, ...], Field(min_length=2, max_length=3)]]


class _PriceTable(_PriceFile):
    """Prices of one host. as_of: the day that their sources name for them."""

    host: str
    as_of: date
    sources: tuple[str, ...] = Field(min_length=1)


@cache
def bundled_prices() -> Mapping[tuple[str, str], Price]:
    """The table, by host and model."""
    tables = tomllib.loads(_BUNDLED.read_text(encoding="utf-8"))["table"]
    return {
        (table.host, model): Price(*numbers)
        for table in map(_PriceTable.model_validate, tables)
        for model, numbers in table.prices.items()
    }


def bundled_price(host: str, model: str) -> Price | None:
    """The table's price of a model at a host; a date in the name does not matter."""
    found = bundled_prices()
    return found.get((host, model)) or found.get((host, _DATED.sub("", model)))


def price_of(prices: Mapping[str, Price] | None, currency: str, host: str, *names: str) -> Price | None:
    """The price of a model: the given one under the first of its names, else the bundled one; None if neither is known.

    names: as in the table of players, then as the endpoint calls it.
    """
    for name in names:
        if prices and name in prices:
            return prices[name]
    return bundled_price(host, names[-1]) if currency == CURRENCY else None


def read_prices(words: str) -> dict[str, Price]:
    """The prices in MODEL=PROMPT,COMPLETION[,CACHED], or in a TOML file with such numbers under [prices].

    Raises UsageError, and BadData for a file that cannot be read.
    """
    if "=" not in words and words.endswith(".toml"):
        advice = 'write [prices] and lines such as "MODEL" = [PROMPT, COMPLETION]'
        found = read_toml(Path(words), _PriceFile, LARGEST_TEXT, advice)
        return {model: Price(*numbers) for model, numbers in found.prices.items()}
    model, _, numbers = words.rpartition("=")
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if not model or len(values) not in (2, 3) or not all(0 <= value < 1e12 for value in values):
        raise UsageError(
            f"--price {words!r} cannot be read; write MODEL=PROMPT,COMPLETION, MODEL=PROMPT,COMPLETION,CACHED or the "
            "name of a TOML file"
        )
    return {model: Price(*values)}


def check_allowed(allowed: Iterable[str]) -> None:
    """Raises UsageError if an entry is not `VARIABLE@HOST`."""
    for words in allowed:
        variable, at, host = words.partition("@")
        if not (variable and at and host) or "/" in host or any(sign.isspace() for sign in words):
            raise UsageError(f"--allow-key takes VARIABLE@HOST, as in CORP_API_KEY@llm.example.com; got {words!r}")


_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_CURRENCY = re.compile(r"\w{1,8}|[^\w\s]{1,3}")

Prices = Annotated[Several, Field(description="Price of a million tokens: MODEL=IN,OUT[,CACHED], or a TOML file.")]
AllowKey = Annotated[
    Several, Field(exclude=True, description="Let a key go to a host that is not its own: VARIABLE@HOST.")
]


def _currency(name: str) -> str:
    if not _CURRENCY.fullmatch(name):
        raise UsageError(f"--currency must be a short name such as USD or EUR, got {name!r}")
    return name


Currency = Annotated[str, AfterValidator(_currency), Field(description="Currency of the prices.")]


class Limits(OptionsModel):
    """What may differ each time a run is resumed."""

    heading: ClassVar[str] = "Limits (may differ each time a run is resumed)"

    concurrency: int = Field(default=256, ge=1, le=10_000, description="Most requests under way at one endpoint.")
    timeout: str | float = Field(default="120s", description="Time that a request may take: 90s, 10m.")
    give_up_after: str | float = Field(
        default="30m",
        description="Pause the run when an endpoint has not answered for so long: 90s, 10m, 2h.",
    )
    max_tokens: int | None = Field(default=None, ge=1, description="Stop when the run has used so many tokens.")
    max_cost: float | None = Field(default=None, ge=0, description="Stop when the run has cost so much.")
    max_fallbacks: float = Field(
        default=0.9, ge=0, le=1, description="Pause when more than this share of a model's replies cannot be used."
    )
    price: Prices = ()
    currency: Currency = CURRENCY
    allow_key: AllowKey = ()
    preflight: bool = Field(default=True, description="Ask each model one small question before the first game.")
    cache: Path | None = Field(
        default=None,
        description="A folder that keeps every reply: what was paid for once is found again by any run with the same "
        "games.",
    )
    retry_failed: bool = Field(default=False, exclude=True, description="Play games again that are recorded as failed.")

    @cached_property
    def patience(self) -> float:
        """The seconds of `give_up_after`."""
        return read_span(self.give_up_after, "--give-up-after")

    @cached_property
    def seconds(self) -> float:
        """The seconds of `timeout`."""
        return read_span(self.timeout, "--timeout")

    @cached_property
    def prices(self) -> Mapping[str, Price]:
        """The prices that were given, by model name."""
        return {model: price for words in self.price for model, price in read_prices(words).items()}

    @model_validator(mode="after")
    def _readable(self) -> Self:
        """Parse what is given in words, so that mistakes show before anything is done."""
        check_allowed(self.allow_key)
        _ = self.patience, self.seconds, self.prices
        return self


def read_span(words: str | float, option: str) -> float:
    """Seconds in a span such as 90s, 10m or 2h, or in a plain number of seconds. Raises UsageError."""
    found = _SPAN.fullmatch(str(words).strip())
    seconds = float(found[1]) * _SECONDS[found[2] or "s"] if found else 0.0
    if not 0 < seconds <= 1e9:
        raise UsageError(f"{option} must be a span of time such as 90s, 10m or 2h, got {words!r}")
    return seconds


CHARACTERS_A_TOKEN = 4  # characters a token, for endpoints that report no counts


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one answer as counted by the endpoint; None if it reports none."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None

    @property
    def counted(self) -> bool:
        """Whether any token was counted."""
        return bool(self.prompt or self.completion)

    def cost(self, price: Price | None) -> float | None:
        """What the answer cost; None without a price or counts. Cached tokens are included in the prompt tokens."""
        if price is None or self.prompt is None or self.completion is None:
            return None
        cached = min(self.cached or 0, self.prompt)
        cached_price = price.prompt if price.cached is None else price.cached
        fresh = (self.prompt - cached) * price.prompt
        return (fresh + cached * cached_price + self.completion * price.completion) / 1e6

    def saved(self, price: Price | None) -> float:
        """How much more the cached tokens would have cost uncached; 0 without a price for them."""
        if price is None or price.cached is None:
            return 0.0
        return min(self.cached or 0, self.prompt or 0) * (price.prompt - price.cached) / 1e6


class Budget:
    """Counts what is spent and what requests under way will probably cost: near a limit they wait for each other, so
    that only a wrong estimate can exceed it. Requests under way when it is reached still complete, and count. tokens,
    cost: spent before.
    """

    def __init__(self, limits: Limits, tokens: int, cost: float) -> None:
        self.tokens, self.cost = tokens, cost
        self._most = limits
        self._held: list[tuple[float, float]] = []  # tokens and money expected of each request under way
        self._ended = asyncio.Event()  # a request under way has ended

    def check(self) -> None:
        """Raises BudgetSpent if nothing more may be spent."""
        limits = (self.tokens, self._most.max_tokens, "tokens"), (self.cost, self._most.max_cost, "money")
        for spent, limit, what in limits:
            if limit is not None and spent >= limit:
                raise BudgetSpent(
                    f"the run's budget of {limit:,.10g} in {what} is used up ({spent:,.10g} spent); finished games are "
                    "kept, and the same command with a larger budget goes on"
                )

    @asynccontextmanager
    async def request(self, prompt: float, completion: float, price: Price | None) -> AsyncIterator[None]:
        """Wait until there is room for a request of so many tokens beside those under way; inside the context, it is
        under way.

        Raises BudgetSpent if nothing more may be spent.
        """
        money = 0.0 if price is None else (prompt * price.prompt + completion * price.completion) / 1e6
        expected = prompt + completion, money
        self.check()
        while self._held and not self._has_room(*expected):
            self._ended.clear()
            await self._ended.wait()
            self.check()
        self._held.append(expected)
        try:
            yield
        finally:
            self._held.remove(expected)
            self._ended.set()

    def _has_room(self, tokens: float, money: float) -> bool:
        if self._most.max_tokens is None and self._most.max_cost is None:
            return True
        tokens += self.tokens + sum(tokens for tokens, _ in self._held)
        money += self.cost + sum(money for _, money in self._held)
        limits = (tokens, self._most.max_tokens), (money, self._most.max_cost)
        return all(limit is None or expected <= limit for expected, limit in limits)

    def spend(self, usage: TokenUsage, price: Price | None, characters: tuple[int, int]) -> None:
        """Count one answer. characters: lengths of prompt and answer, used to estimate missing counts."""
        sent, came = characters
        prompt = sent // CHARACTERS_A_TOKEN if usage.prompt is None else usage.prompt
        completion = came // CHARACTERS_A_TOKEN if usage.completion is None else usage.completion
        self.tokens += prompt + completion
        self.cost += TokenUsage(prompt, usage.cached, completion).cost(price) or 0.0
