"""What models cost: prices that the user gives, in words or in a file, and a bundled table with dates and sources.

A bundled price holds for one host, since others sell the same names at other prices, and for US dollars. What the user
gives comes first. A model without a price has none; nothing takes it for free.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import read_text
from liescope.generate.players.player_protocol import Price

CURRENCY = "USD"  # of the bundled prices
_BUNDLED = Path(__file__).with_name("prices.toml")
_DATED = re.compile(r"-(?:\d{4}-\d\d-\d\d|\d{8})$")  # gpt-4.1-mini-2025-04-14, claude-haiku-4-5-20251001

_Amount = Annotated[float, Field(ge=0, lt=1e12, allow_inf_nan=False)]


class _PriceTable(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    as_of: date
    sources: tuple[str, ...] = Field(min_length=1)
    prices: dict[str, Annotated[tuple[_Amount, ...], Field(min_length=2, max_length=3)]]


class _PriceFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    prices: dict[str, Annotated[tuple[_Amount, ...], Field(min_length=2, max_length=3)]]


@dataclass(frozen=True, slots=True)
class BundledPrice:
    """A price of the table. as_of: the day that its sources name for it."""

    price: Price
    as_of: date
    sources: tuple[str, ...]


@cache
def bundled_prices() -> Mapping[tuple[str, str], BundledPrice]:
    """The table, by host and model."""
    tables = tomllib.loads(_BUNDLED.read_text(encoding="utf-8"))["table"]
    return {
        (table.host, model): BundledPrice(Price(*numbers), table.as_of, table.sources)
        for table in map(_PriceTable.model_validate, tables)
        for model, numbers in table.prices.items()
    }


def bundled_price(host: str, model: str) -> BundledPrice | None:
    """The table's price of a model at a host, whether its name carries a date or not."""
    found = bundled_prices()
    return found.get((host, model)) or found.get((host, _DATED.sub("", model)))


def price_of(prices: Mapping[str, Price] | None, currency: str, host: str, *names: str) -> Price | None:
    """The price of a model: the given one under the first of its names, else the bundled one; None if neither is known.

    names: as in the table of players, then as the endpoint calls it.
    """
    for name in names:
        if prices and name in prices:
            return prices[name]
    known = bundled_price(host, names[-1]) if currency == CURRENCY else None
    return None if known is None else known.price


def read_prices(words: str) -> dict[str, Price]:
    """The prices in MODEL=PROMPT,COMPLETION[,CACHED], or in a TOML file with such numbers under [prices].

    Raises UsageError, and BadData for a file that cannot be read.
    """
    if "=" not in words and words.endswith(".toml"):
        return _read_file(Path(words))
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


def _read_file(file: Path) -> dict[str, Price]:
    try:
        found = _PriceFile.model_validate(tomllib.loads(read_text(file, given=True)))
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"])) or "its table"
        raise BadData(
            f'{file} is no file of prices ({place}); write [prices] and lines such as "MODEL" = [PROMPT, COMPLETION]'
        ) from None
    except (OSError, ValueError) as error:
        raise BadData(f"{file} cannot be read as a file of prices: {error}") from None
    return {model: Price(*numbers) for model, numbers in found.prices.items()}
