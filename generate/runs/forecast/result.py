"""What a forecast says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, NamedTuple, Self

from liescope.generate.players.protocol import Price


class Range(NamedTuple):
    """An estimate with the bounds that its assumptions leave open."""

    low: float
    likely: float
    high: float

    def __add__(self, other: tuple[float, ...]) -> Self:  # type: ignore[override]
        return type(self)(*(one + two for one, two in zip(self, other, strict=True)))

    def times(self, factor: float) -> Self:
        return type(self)(*(one * factor for one in self))


NOTHING = Range(0, 0, 0)


@dataclass(frozen=True, slots=True)
class KindForecast:
    """The asks of one kind to models. prompt: a whole prompt, as one of them would be sent; measured: whether the
    length of the answers was counted in the run so far.
    """

    kind: str
    calls: float
    prompt_tokens: Range
    completion_tokens: Range
    prompt: str
    measured: bool = False


@dataclass(frozen=True, slots=True)
class ModelForecast:
    """What one player will be asked. host: "" for a model in this process; longest: tokens of its longest prompt;
    price: None if none is known; priced: the day of a bundled price, None for a given one; cost: None without a price;
    context: tokens that fit into it, None if that is not known.
    """

    model: str
    host: str
    calls: float
    prompt_tokens: Range
    completion_tokens: Range
    longest: Range
    price: Price | None = None
    priced: date | None = None
    cost: Range | None = None
    context: int | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """A run before it is played, or what is left of one.

    about: what was asked for; planned, left: games; sample: how many of them were played by scripts for this; chain:
    requests to models that wait for each other, in the longest case of the run; latency: seconds of a request, None if
    nothing is known; spent: what the run has cost so far; batch: whether requests go in batches.
    """

    about: Mapping[str, Any]
    planned: int
    left: int
    sample: int
    chain: float
    kinds: tuple[KindForecast, ...]
    models: tuple[ModelForecast, ...]
    concurrency: int
    latency: float | None = None
    currency: str = "USD"
    spent: float = 0.0
    batch: bool = False

    @property
    def calls(self) -> float:
        return sum(model.calls for model in self.models)

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models behind endpoints without a known price."""
        return tuple(model.model for model in self.models if model.host and model.cost is None)

    @property
    def cost(self) -> Range | None:
        """Of the models with a price; None if none has one."""
        known = [model.cost for model in self.models if model.cost is not None]
        return sum(known, NOTHING) if known else None

    @property
    def seconds(self) -> float | None:
        """The least time at the known latency: one request after another in the longest chain, or all requests as many
        at once as allowed.
        """
        if self.latency is None or self.batch:
            return None
        return self.latency * max(self.chain, self.calls / self.concurrency)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data, prompts in full."""
        return dict(self.about) | {
            "games": {"planned": self.planned, "left": self.left, "sampled": self.sample},
            "calls": round(self.calls),
            "kinds": [_plain(asdict(kind)) for kind in self.kinds],
            "models": [_plain(asdict(model)) for model in self.models],
            "unpriced": list(self.unpriced),
            "cost": _plain(self.cost),
            "currency": self.currency,
            "spent": self.spent,
            "chain": round(self.chain),
            "latency_seconds": self.latency,
            "seconds": self.seconds,
            "batch": self.batch,
        }

    def __repr__(self) -> str:
        return f"<Forecast {self.about['game']}: {self.left:,} games, {self.calls:,.0f} calls>"


def _plain(value: Any) -> Any:
    if isinstance(value, Range):
        return value._asdict()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return value
