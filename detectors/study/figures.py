"""Figures: one row for whatever was measured, of whom and where, with its interval; and the table that they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import polars as pl
from pydantic import ConfigDict, Field

from liescope.common.statistics import REAL, Estimate, Floats, codes, estimate, game_weights, share
from liescope.detectors.study.metrics import DIFFERENCE, METRICS
from liescope.detectors.study.scores import in_pairs, log_odds, resampled_as

FIGURES = {
    **dict.fromkeys(("scorer", "target", "where", "metric"), pl.String),
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    **dict.fromkeys(("statements", "games"), pl.Int64),
    "prevalence": pl.Float64,
    **dict.fromkeys(("against", "why"), pl.String),
}
"""The columns of a table of figures."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure.

    scorer: whose scores they are; target: what they are about; where: what was measured, parts of it behind colons, as
    in "test:held-out"; metric: its name in `METRICS`, or for a difference that and `DIFFERENCE`; value: None where it
    is not defined; lo, hi: its 95% interval, None where there is none; statements, games, prevalence: what it rests on,
    and the share of it that is deceptive; against: whose figure was subtracted, or who the rates are those of; why: why
    there is no value.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid", allow_inf_nan=False)  # of strangers' files

    scorer: str
    target: str
    where: str
    metric: str
    value: float | None
    lo: float | None
    hi: float | None
    statements: Annotated[int, Field(ge=0)]
    games: Annotated[int, Field(ge=0)]
    prevalence: float | None = None
    against: str | None = None
    why: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence, and the figures that it rests on. severity: how much it matters, where findings are graded."""

    words: str
    rests_on: tuple[Figure, ...] = ()
    severity: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def study_json(
    findings: Iterable[Finding], figures: Iterable[Figure], notes: Iterable[str], **facts: Any
) -> dict[str, Any]:
    """What `--json` of every command that measures prints, and what its report.json holds."""
    return {
        **facts,
        "findings": [one.to_json() for one in findings],
        "figures": [one.to_json() for one in figures],
        "notes": list(notes),
    }


def figure_table(figures: Sequence[Figure]) -> pl.DataFrame:
    """The figures as a frame with the columns `FIGURES`."""
    return pl.DataFrame([one.to_json() for one in figures], schema=FIGURES)


def figures_of(
    scorer: str,
    target: str,
    where: str,
    found: Iterable[tuple[str, Estimate]],
    shared: tuple[int, int, float | None],
    against: str | None = None,
) -> list[Figure]:
    """Figures of several metrics on the same statements. shared: what `describe` says of them. Weighted of one game
    are all alike, so that figures of one game have no interval.
    """
    several = shared[1] > 1
    return [
        Figure(scorer, target, where, metric, value, lo if several else None, hi if several else None, *shared, against)
        for metric, (value, lo, hi) in found
    ]


def measured(
    scorer: str,
    target: str,
    where: str,
    values: Mapping[str, Floats],
    table: pl.DataFrame,
    against: str | None = None,
) -> list[Figure]:
    """A figure for each metric, in the order of their declaration; for a difference, for those that scorers are
    compared by. values: by metric, over the rows of `game_weights`; table: what they are of, with y and game_id.
    Figures of pairs count the games that have both classes alone.
    """
    paired = in_pairs(table)
    figures: list[Figure] = []
    for metric in METRICS:
        if metric.name in values and (against is None or metric.compared):
            mine = paired if metric.paired else table
            name, span = (metric.name + DIFFERENCE, metric.difference()) if against else (metric.name, metric.span)
            found = [(name, estimate(values[metric.name], mine[resampled_as(mine)].n_unique(), span))]
            figures += figures_of(scorer, target, where, found, describe(mine), against)
    return figures


def describe(table: pl.DataFrame) -> tuple[int, int, float | None]:
    """(statements, games, prevalence) of a table with y."""
    prevalence = table["y"].mean()
    return table.height, table["game_id"].n_unique(), float(prevalence) if isinstance(prevalence, float) else None


def offset(table: pl.DataFrame, model: str, seed: int) -> Estimate:
    """The mean log-odds of a model's honest statements, less that of everybody's; with its interval over games.

    table: game_id, speaker_model, y and score.
    """
    honest = table.filter(~pl.col("y")).with_columns(score=log_odds())
    if honest.is_empty():
        return None, None, None
    game, games = codes(honest["siblings" if "siblings" in honest.columns else "game_id"].to_numpy())
    weights = game_weights(games, seed)
    score, own = honest["score"].to_numpy(), (honest["speaker_model"] == model).to_numpy().astype(float)
    shift = share(score * own, own, game, weights) - share(score, np.ones(len(own)), game, weights)
    return estimate(shift, len(np.unique(game[own > 0])), REAL)
