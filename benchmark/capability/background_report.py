"""The background method in a report: its scores, and whether they agree with the capability model (Figures 7 to 9 of
the paper) and between conditions (Figure 10).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from liescope.benchmark.analyses.analysis_figures import DRAWN, Colours, Dots, stated_conditions
from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import schema, stated
from liescope.benchmark.capability.results import labelled
from liescope.benchmark.capability.results import scores as capability_scores
from liescope.benchmark.capability.z_scores import DESIGN, DRAWS, SEED, score, win_rates
from liescope.common.figures import style, svg
from liescope.common.report.contents import Column, Report, Section, Table
from liescope.common.statistics import fisher

if TYPE_CHECKING:
    from liescope.benchmark.capability.posterior import Posterior

FEWEST = 3  # the fewest models whose scores can be correlated
CORRELATIONS = schema(
    "text capability one other", "count models", "text measure", "number r lo hi simulated simulated_sd"
)
PARAMETER = {"deceive": "m", "detect": "v", "disclose": "d"}
FITTED, AGAINST = "capability model (m, v or d)", "against backgrounds (z)"

Scored = tuple[Array, Array]
"""Scores and their standard deviations, each of shape (models,)."""


def correlations(
    one: Scored, other: Scored, shape: Callable[[Array], Array]
) -> list[tuple[int | str | float | None, ...]]:
    """Pearson's and Spearman's correlation of two sets of scores: (models, measure, r, lo, hi, simulated,
    simulated_sd), empty for fewer than three models or scores without differences. shape: a transformation of scores
    before correlating, such as np.exp.

    lo to hi: 95% interval by Fisher's transformation, as if these models were drawn from many. simulated and
    simulated_sd: mean and standard deviation over scores drawn around the given ones, each independently and normal, as
    the paper reports them; chance in the draws adds to that in the scores, so the mean lies nearer to 0 than r.
    """
    models = len(one[0])
    if models < FEWEST or not all(np.ptp(score) for score, _ in (one, other)):
        return []
    from scipy.stats import rankdata

    random = np.random.default_rng(SEED)
    drawn = [shape(random.normal(score, sd, size=(DRAWS, models))) for score, sd in (one, other)]
    points = [shape(score[None]) for score, _ in (one, other)]
    found: list[tuple[int | str | float | None, ...]] = []
    for measure in ("Pearson", "Spearman"):
        if measure == "Spearman":
            drawn, points = ([rankdata(part, axis=1) for part in parts] for parts in (drawn, points))
        simulated = _pearson(*drawn)
        bounds = fisher(float(_pearson(*points)[0]), models)
        found.append((models, measure, *bounds, float(simulated.mean()), float(simulated.std(ddof=1))))
    return found


def _pearson(one: Array, other: Array) -> Array:
    """The correlation of each row with the other's."""
    one, other = (part - part.mean(axis=1, keepdims=True) for part in (one, other))
    spread = np.sqrt(np.square(one).sum(axis=1) * np.square(other).sum(axis=1))
    return np.asarray(np.clip((one * other).sum(axis=1) / spread, -1, 1))


def _scored(table: pl.DataFrame, column: str, sd: str) -> Scored:
    return table[column].to_numpy(), table[sd].to_numpy()


def with_capability_model(background: pl.DataFrame, capability: pl.DataFrame) -> pl.DataFrame:
    """The correlation of z-scores with m, v and d of a fit of the same games, over the models with both: a frame
    of CORRELATIONS (`correlations`), where `one` is m, v or d and `other` is z.

    background: scores (`liescope.benchmark.capability.z_scores.score`); capability: a frame with the columns model,
    m, m_sd and the same of d and v (`liescope.benchmark.capability.results.scores`).
    """
    rows = []
    for name, parameter in PARAMETER.items():
        both = background.filter(capability=name).join(capability.drop_nulls(parameter), on="model")
        found = correlations(_scored(both, parameter, f"{parameter}_sd"), _scored(both, "z", "z_sd"), np.asarray)
        rows += [(name, parameter, "z", *numbers) for numbers in found]
    return pl.DataFrame(rows, CORRELATIONS, orient="row")


def beside(background: pl.DataFrame, capability: pl.DataFrame) -> pl.DataFrame:
    """Both methods in one unit, over the models that have both: capability, model, method, value, lo, hi, each in
    standard deviations from the mean of that method over the models; best z first. Takes what `with_capability_model`
    does, with m_lo, m_hi and the same of d and v.
    """
    parts = []
    for name, parameter in PARAMETER.items():
        both = background.filter(capability=name).join(
            capability.drop_nulls(parameter), on="model", maintain_order="left"
        )
        for method, column in ((FITTED, parameter), (AGAINST, "z")):
            mean, unit = pl.col(column).mean(), pl.col(column).std()
            ends = {"value": column, "lo": f"{column}_lo", "hi": f"{column}_hi"}
            values = {end: (pl.col(source) - mean) / unit for end, source in ends.items()}
            parts.append(both.select("capability", "model", method=pl.lit(method), **values))
    return pl.concat(parts)


def between_conditions(scores: pl.DataFrame) -> pl.DataFrame:
    """The correlation of exponential scores between every two conditions, over the models that both have: a frame of
    CORRELATIONS, where `one` and `other` are conditions of different games.

    scores: those of `liescope.benchmark.capability.z_scores.score`, with the column condition.
    """
    rows = []
    for capability in DESIGN:
        part = scores.filter(capability=capability)
        for one, other in combinations(part["condition"].unique(maintain_order=True), 2):
            both = part.filter(condition=one).join(part.filter(condition=other), on="model", suffix="_other")
            found = correlations(_scored(both, "z", "z_sd"), _scored(both, "z_other", "z_sd_other"), np.exp)
            rows += [(capability, one, other, *numbers) for numbers in found]
    return pl.DataFrame(rows, CORRELATIONS, orient="row")


_PAPER = "of the Mini-Mafia paper"
_RATES = {"deceive": "Figure 11", "detect": "Figure 12", "disclose": "Figure 13"}
_ROWS = 150  # the most of one figure
_MEANING = (
    "A background is one model in the two other roles. In each, the win rate of a model's side is compared with those "
    "of the other models, in units of their standard deviation; z is the mean over backgrounds. No model of how the "
    "roles work together is assumed. Only models that met every background are compared, and z compares only with them."
)
_UNCERTAINTY = (
    "± is the uncertainty of the model's own games, with mean and standard deviation over models taken as known, as "
    "published. The intervals take neither as known. Chance makes models differ more than they do, which draws z "
    "towards 0; the intervals allow for that and reach further outwards."
)
_CORRELATED = (
    "lo to hi: 95%, Fisher's, as if these models were drawn from many; with few models it is wide. simulated and its "
    "sd: mean and standard deviation over scores drawn anew within their uncertainty, as the paper reports them, which "
    "lie nearer to 0 than r."
)
_SCORES = (
    Column("condition"),
    Column("capability"),
    Column("model"),
    Column("z", interval=True),
    Column("z_sd", "± of z"),
    Column("score", "score exp(z)", interval=True),
    Column("score_sd", "± of score"),
    Column("backgrounds"),
    Column("games"),
)


def part_of_conditions(cells: Mapping[str, pl.DataFrame], posteriors: Mapping[str, Posterior]) -> Report:
    """Win rates and scores against backgrounds, their agreement with the capability model, and their agreement between
    conditions.

    cells: the counts of each condition (`liescope.benchmark.capability.counts.Counts`), "" for the only one.
    posteriors: fits of the same counts, where there are any.

    Tables: background (the scores), background_rates, background_agreement, background_conditions, if not empty.
    """
    several = len(cells) > 1
    scored = {name: score(frame) for name, frame in cells.items()}
    fits = {name: (scored[name].scores, capability_scores(posterior)) for name, posterior in posteriors.items()}
    rates = labelled({name: win_rates(frame) for name, frame in cells.items()}, several)
    scores = labelled({name: found.scores for name, found in scored.items()}, several)
    agreement = labelled({name: with_capability_model(*pair) for name, pair in fits.items()}, several)
    between = between_conditions(scores) if several else pl.DataFrame()
    sections = []
    if not scores.is_empty():
        sections.append(_scores(scores, [f"{_of(name)}{note}" for name, one in scored.items() for note in one.notes]))
    if not agreement.is_empty():
        sections.append(_agreement(agreement, labelled({name: beside(*pair) for name, pair in fits.items()}, several)))
    if not between.is_empty():
        sections.append(_conditions(scores, between))
    tables = {
        "background": scores,
        "background_rates": rates,
        "background_agreement": agreement,
        "background_conditions": between,
    }
    return Report(
        sections=(*sections, *_rates(rates)),
        tables={name: table for name, table in tables.items() if not table.is_empty()},
        missing={
            f"Scores against backgrounds, {_of(name)}to {capability}": why
            for name, found in scored.items()
            for capability, why in found.missing.items()
        },
    )


def _svg(name: str, table: pl.DataFrame, axis: str, panels: list[str], value: str, **more: Any) -> str:
    """A figure with a row for each model and a dot for each condition or method, "" if there are too many."""
    if table["model"].n_unique() > DRAWN or table.height > _ROWS:
        return ""
    more.setdefault("series", stated_conditions)
    colours: Colours = None if {"condition", "method"} & set(table.columns) else "model"
    with style():
        return svg(Dots(axis, "model", panels, colours=colours, value=value, **more)(table), name)


def _of(condition: str) -> str:
    """The condition as a prefix; a single one has no name."""
    return f"{condition}: " if condition else ""


def _scores(scores: pl.DataFrame, notes: list[str]) -> Section:
    panels = [f"To {name}" for name in scores["capability"]]
    return Section(
        "background",
        "Scores against backgrounds",
        (_MEANING, _UNCERTAINTY, *notes),
        "z and exp(z) with 95% intervals, highest z first.",
        _svg("background", scores, "z-score with its 95% interval", panels, "z", reference=0),
        "z-scores with 95% intervals by model: to deceive, to detect, to disclose.",
        Table.of(scores, _SCORES),
        folded=True,
        source=f"Eq. 10 to 14 {_PAPER}",
        file="background.csv",
    )


def _agreement(agreement: pl.DataFrame, both: pl.DataFrame) -> Section:
    panels = [
        f"To {row['capability']}: {PARAMETER[row['capability']]} and z"
        + (f", {stated(row['condition'])}" if "condition" in row else "")
        for row in both.to_dicts()
    ]
    axis = "standard deviations from the mean over models, with 95% intervals"
    return Section(
        "background-agreement",
        "Scores against backgrounds beside the capability model",
        ("Both methods score the same games, so agreement says nothing about what other games would give.",),
        _CORRELATED,
        _svg("background-agreement", both, axis, panels, "value", series="method", reference=0),
        "Scores of both methods by model, in standard deviations from their mean.",
        agreement,
        folded=True,
        source=f"Figures 7 to 9 {_PAPER}",
        file="background_agreement.csv",
    )


def _conditions(scores: pl.DataFrame, between: pl.DataFrame) -> Section:
    score, sd = pl.col("score"), pl.col("score_sd")
    shown = scores.with_columns(score_lo=score - sd, score_hi=score + sd)
    axis = "exp(z), with a standard deviation to either side"
    panels = [f"To {name}" for name in scores["capability"]]
    return Section(
        "background-conditions",
        "Scores against backgrounds, one condition against another",
        (),
        _CORRELATED,
        _svg("background-conditions", shown, axis, panels, "score", reference=1),
        "Exponential scores by model and condition.",
        between,
        folded=True,
        source=f"Figure 10 and Appendix C {_PAPER}",
        file="background_conditions.csv",
    )


def _rates(rates: pl.DataFrame) -> list[Section]:
    """Win rates of each capability."""
    sections = []
    for capability, source in _RATES.items():
        found = rates.filter(capability=capability)
        if found.is_empty():
            continue
        name, panels = f"background-rates-{capability}", [f"against {one}" for one in found["background"]]
        sections.append(
            Section(
                name,
                f"Win rates in each background: to {capability}",
                (),
                "Laplace's rule: mean (rate) and standard deviation (sd) of a win rate under a uniform prior, with its "
                "central 95% (lo to hi).",
                _svg(name, found, "win rate with its 95% interval", panels, "rate", limits=(0, 1)),
                "Win rates with 95% intervals by model, a panel for each background.",
                found.drop("capability"),
                folded=True,
                source=f"{source} {_PAPER}",
                file="background_rates.csv",
            )
        )
    return sections
