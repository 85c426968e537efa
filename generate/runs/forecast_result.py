"""What a forecast says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, NamedTuple, Self

from liescope.common.console import emit, put
from liescope.common.text import plain
from liescope.generate.players.run_limits import Price


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


# Characters a token: 3.8 to 4.3 by kind of ask, for the built-in prompts of three games, by the tokenizers of Qwen and
# of Mistral (Tekken). Messages: 3,000 of the games that the authors of Mini-Mafia published have 15 to 50 tokens (5% to
# 95%) by either, 29 in the median. The other answers are as long as their formats ask for; no number allows for any
# reasoning. All 39,160 messages have 139 characters in the mean; those of scripts 94 to 115, so they are lengthened.
CHARACTERS_A_TOKEN = Range(3.6, 4.0, 4.5)


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
    nothing is known; spent: what the run has cost so far.
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
        if self.latency is None:
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


_NAME = 26


def say_forecast(found: Forecast, prompts: bool, as_json: bool) -> None:
    """Print a forecast. prompts: also a whole prompt of each kind."""
    if as_json:
        emit(found.to_json())
        return
    for line in [*forecast_lines(found), *(prompt_lines(found) if prompts else ())]:
        put(line)


def forecast_lines(found: Forecast) -> Iterator[str]:
    """The summary: one screen."""
    already = f", {found.planned - found.left:,} of {found.planned:,} played" if found.left < found.planned else ""
    games = "game" if found.left == 1 else "games"
    yield f"{found.about['game']}: {found.left:,} {games} left to play{already}; {found.calls:,.0f} calls to models."
    yield f"From {found.sample} of the games, played by scripts. No model was called, nothing written."
    if not found.models:
        yield "No player in this run costs anything."
        return
    yield ""
    yield f"{'by kind':{_NAME}}{'calls':>9}{'prompt tokens':>16}{'answer tokens (from, to)':>29}"
    for kind in found.kinds:
        counted = " *" if kind.measured else ""
        yield (
            f"{kind.kind + counted:{_NAME}}{kind.calls:>9,.0f}{kind.prompt_tokens.likely:>16,.0f}"
            f"{_range(kind.completion_tokens):>29}"
        )
    yield ""
    yield f"{'by model':{_NAME}}{'calls':>9}{'tokens in all':>16}{f'{found.currency} (from, to)':>29}"
    for model in found.models:
        whole = model.prompt_tokens.likely + model.completion_tokens.likely
        cost = "no price known" if model.host else "runs here"
        cost = cost if model.cost is None else _range(model.cost, ".2f")
        yield f"{_cut(plain(model.model)):{_NAME}}{model.calls:>9,.0f}{whole:>16,.0f}{cost:>29}"
    if found.cost is not None and len(found.models) > 1:
        yield f"{'all with a price':{_NAME}}{'':25}{_range(found.cost, '.2f'):>29}"
    yield ""
    yield from _notes(found)


def _notes(found: Forecast) -> Iterator[str]:
    ratio = CHARACTERS_A_TOKEN
    yield f"Tokens are estimated: {ratio.likely:g} characters each ({ratio.low:g} to {ratio.high:g}); answers have"
    yield "their usual length, without reasoning, which may cost many times as much."
    if any(kind.measured for kind in found.kinds):
        yield "* measured on the answers so far in this run."
    days = sorted({model.priced for model in found.models if model.priced is not None})
    if days:
        when = f"{days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}"
        yield f"Bundled prices, as of {when}, with nothing cached; --price sets others."
    if found.unpriced:
        yield "Where no price is known: --price MODEL=PROMPT,COMPLETION, or a file of prices."
    for model in found.models:
        yield from _too_long(model)
    if found.seconds is None:
        yield f"Time: {found.chain:,.0f} calls one after the other; how long one takes is not known yet."
        yield f"At 2 s each that is at least {_span(2.0 * found.chain)}."
    else:
        pace = f"at {found.latency:.1f} s a call and {found.concurrency:,} at once"
        yield f"Time: at least {_span(found.seconds)}, {pace}."


def _too_long(model: ModelForecast) -> Iterator[str]:
    if model.context is not None and model.longest.likely > model.context:
        yield f"{_cut(plain(model.model))}: prompts reach {model.longest.likely:,.0f} tokens; its context holds"
        yield f"{model.context:,}."


def prompt_lines(found: Forecast) -> Iterator[str]:
    """One whole prompt of each kind."""
    for kind in found.kinds:
        yield ""
        yield f"--- {kind.kind}: a whole prompt ---"
        yield plain(kind.prompt)


def _range(value: Range, form: str = ".0f") -> str:
    low, likely, high = (f"{part:,{form}}" for part in value)
    return f"{likely} ({low}, {high})"


def _cut(words: str, most: int = _NAME - 2) -> str:
    return words if len(words) <= most else words[: most - 1] + "…"


def _span(seconds: float) -> str:
    for size, name in ((86400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {name}"
    return f"{seconds:,.0f} s"
