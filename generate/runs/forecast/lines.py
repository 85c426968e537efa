"""A forecast as text in at most 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import typer

from liescope.common.console import emit
from liescope.common.text import plain
from liescope.generate.runs.forecast.result import Forecast, ModelForecast, Range
from liescope.generate.runs.forecast.tokens import CHARACTERS_A_TOKEN
from liescope.generate.runs.options import LIMIT_OPTIONS

_NAME = 26


def of_forecast(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a command that a forecast takes: all but the limits that change nothing in it."""
    limits = {option.name for option in LIMIT_OPTIONS} - {"concurrency", "price", "currency", "batch"}
    return {name: value for name, value in given.items() if name not in limits}


def say_forecast(found: Forecast, prompts: bool, as_json: bool) -> None:
    """Print a forecast. prompts: also a whole prompt of each kind."""
    if as_json:
        emit(found.to_json())
        return
    for line in [*forecast_lines(found), *(prompt_lines(found) if prompts else ())]:
        typer.echo(line)


def forecast_lines(found: Forecast) -> Iterator[str]:
    """The summary: one screen."""
    already = f", {found.planned - found.left:,} of {found.planned:,} played" if found.left < found.planned else ""
    games = "game" if found.left == 1 else "games"
    yield f"{found.about['game']}: {found.left:,} {games} left to play{already}; {found.calls:,.0f} calls to models."
    yield f"From {found.sample} of the games, played by scripts. Nothing was asked or written."
    if not found.models:
        yield "No player of this run costs anything."
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
        yield "* counted in the answers that this run has had so far."
    days = sorted({model.priced for model in found.models if model.priced is not None})
    if days:
        when = f"{days[0]}" if len(days) == 1 else f"{days[0]} to {days[-1]}"
        yield f"Bundled prices, as of {when}, with nothing cached; --price says other ones."
    if found.unpriced:
        yield "Where no price is known: --price MODEL=PROMPT,COMPLETION, or a file of prices."
    for model in found.models:
        yield from _too_long(model)
    if found.batch:
        yield f"Time: {found.chain:,.0f} batches one after the other, each of minutes to a day."
        yield "Costs are those of batches, where the host is known to give a discount."
    elif found.seconds is None:
        yield f"Time: {found.chain:,.0f} calls wait for each other; how long one takes is not known yet."
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
