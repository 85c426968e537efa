"""The limits of a run, read from options: budgets with their prices, and time spans."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from liescope.common.errors import UsageError
from liescope.generate.players.openai.key_rules import check_allowed
from liescope.generate.players.prices import read_prices
from liescope.generate.players.protocol import MOST_REQUESTS, PlayerContext, Price

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h)?")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
MOST_AT_ONCE = 10_000
_CURRENCY = re.compile(r"\w{1,8}|[^\w\s]{1,3}")


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that may differ each time a run is resumed.

    concurrency: how many requests may be in flight at one host, and how many games at once for each host; timeout:
    seconds for one request; hedge: whether a request that stalls is sent a second time beside the first; give_up_after:
    seconds without an answer from an endpoint after which the run pauses; budgets cover everything the run has ever
    spent, max_cost in `currency`, that of the prices; prices: by model name; prompts: where the plan's templates are:
    "full", "minimal" or a folder; allowed_keys: keys that may go to hosts not known as theirs, as `VARIABLE@HOST`;
    preflight: whether each model is asked one small question before the first game; cache: the folder of the reply
    cache, None for none; log: a file that gets a line for everything that happens; batch: whether requests go in
    batches, with as many games at once as there may be.
    """

    concurrency: int = MOST_REQUESTS
    timeout: float = 120.0
    hedge: bool = True
    max_tokens: int | None = None
    max_cost: float | None = None
    prices: Mapping[str, Price] | None = None
    prompts: str = "full"
    give_up_after: float = 1800.0
    currency: str = "USD"
    allowed_keys: tuple[str, ...] = ()
    preflight: bool = True
    cache: Path | None = None
    log: Path | None = None
    batch: bool = False

    def context(self, **more: Any) -> PlayerContext:
        """What players need to know of these limits. more: the other fields of `PlayerContext`."""
        return PlayerContext(
            concurrency=self.concurrency,
            timeout=self.timeout,
            hedge=self.hedge,
            give_up_after=self.give_up_after,
            prices=dict(self.prices or {}),
            max_tokens=self.max_tokens,
            max_cost=self.max_cost,
            allowed_keys=self.allowed_keys,
            currency=self.currency,
            **more,
        )


class LimitOptions(TypedDict, total=False):
    """The limits as `play` and `label` take them; they are explained at `play`."""

    concurrency: int
    timeout: float
    hedge: bool
    give_up_after: str | float
    max_tokens: int | None
    max_cost: float | None
    price: Sequence[str]
    currency: str
    allow_key: Sequence[str]
    preflight: bool
    cache: str | os.PathLike[str] | None
    log: str | os.PathLike[str] | None
    batch: bool


_DEFAULTS: LimitOptions = {
    "concurrency": MOST_REQUESTS,
    "timeout": 120.0,
    "hedge": True,
    "give_up_after": "30m",
    "max_tokens": None,
    "max_cost": None,
    "price": (),
    "currency": "USD",
    "allow_key": (),
    "preflight": True,
    "cache": None,
    "log": None,
    "batch": False,
}


def limits_of(*, prompts: str, **options: Unpack[LimitOptions]) -> Limits:
    """The limits that the options set. Raises UsageError for values that cannot be read."""
    given = _DEFAULTS | options
    concurrency, timeout = given["concurrency"], given["timeout"]
    max_cost, currency = given["max_cost"], given["currency"]
    prices = {model: price for words in given["price"] for model, price in read_prices(words).items()}
    if max_cost is not None and not (math.isfinite(max_cost) and max_cost >= 0):
        raise UsageError(f"--max-cost is an amount of money; {max_cost:g} is none")
    if not 1 <= concurrency <= MOST_AT_ONCE:
        raise UsageError(f"--concurrency is a number from 1 to {MOST_AT_ONCE:,}; {concurrency} is none")
    if not (math.isfinite(timeout) and timeout > 0):
        raise UsageError(f"--timeout is a number of seconds; {timeout:g} is none")
    if not _CURRENCY.fullmatch(currency):
        raise UsageError(f"--currency is a short name such as USD or EUR; {currency!r} is none")
    check_allowed(given["allow_key"])
    return Limits(
        concurrency=MOST_AT_ONCE if given["batch"] else concurrency,
        timeout=timeout,
        hedge=given["hedge"],
        max_tokens=given["max_tokens"],
        max_cost=max_cost,
        prices=prices,
        prompts=prompts,
        give_up_after=read_span(given["give_up_after"], "--give-up-after"),
        currency=currency,
        allowed_keys=tuple(given["allow_key"]),
        preflight=given["preflight"],
        cache=_path(given["cache"]),
        log=_path(given["log"]),
        batch=given["batch"],
    )


def _path(given: str | os.PathLike[str] | None) -> Path | None:
    return None if given is None else Path(given)


def read_span(words: str | float, option: str) -> float:
    """Seconds in a span such as 90s, 10m or 2h, or in a plain number of seconds. Raises UsageError."""
    found = _SPAN.fullmatch(str(words).strip())
    seconds = float(found[1]) * _SECONDS[found[2] or "s"] if found else 0.0
    if not 0 < seconds <= 1e9:
        raise UsageError(f"{option} is a span of time such as 90s, 10m or 2h; {words!r} is none")
    return seconds
