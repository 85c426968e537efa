"""The background method in a report: its scores, and whether they agree with the capability model (Figures 7 to 9 of
the paper) and between conditions (Figure 10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from liescope.benchmark.analyses.analysis_figures import DRAWN, Colours, Dots, Names, stated_conditions
from liescope.benchmark.background.z_scores import DESIGN, DRAWS, SEED, score, win_rates
from liescope.benchmark.capability.backend import Array
from liescope.benchmark.capability.counts import schema
from liescope.benchmark.capability.results import labelled
from liescope.benchmark.capability.results import scores as capability_scores
from liescope.common.figures import style, svg
from liescope.common.report.contents import Column, Report, ReportTable, Section, Tabular
from liescope.common.statistics import fisher

if TYPE_CHECKING:
    from liescope.benchmark.capability.posterior import Posterior

FEWEST = 3  # the fewest models whose scores can be correlated
CORRELATIONS = schema("text capability one other", "count models", "number r lo hi simulated simulated_sd")
PARAMETER = {"deceive": "m", "detect": "v", "disclose": "d"}
FITTED, AGAINST = "capability model (m, v or d)", "against backgrounds (z)"

Pair = tuple[str, str, str, pl.DataFrame]
"""A capability, the names of two kinds of scores, and a frame of the models that have both: one, one_sd, other,
other_sd."""


def correlations(pairs: Iterator[Pair], shape: Callable[[Array], Any] = np.asarray) -> pl.DataFrame:
    """Pearson's correlation of two sets of scores, a frame of CORRELATIONS without those of fewer than three models or
    of scores without differences. shape: a transformation of scores before correlating, such as np.exp.

    lo to hi: 95% interval by Fisher's transformation, as if these models were drawn from many. simulated and
    simulated_sd: mean and standard deviation over scores drawn around the given ones, each independently and normal, as
    the paper reports them; chance in the draws adds to that in the scores, so the mean lies nearer to 0 than r.
    """
    found = []
    for *names, both in pairs:
        sides = [both.select(name, f"{name}_sd").to_numpy().T for name in ("one", "other")]
        if both.height < FEWEST or not all(np.ptp(scores) for scores, _ in sides):
            continue
        random = np.random.default_rng(SEED)
        drawn = [shape(random.normal(scores, sd, size=(DRAWS, both.height))) for scores, sd in sides]
        simulated = _pearson(*drawn)
        r = float(_pearson(*(shape(scores[None]) for scores, _ in sides))[0])
        found.append((*names, both.height, *fisher(r, both.height), simulated.mean(), simulated.std(ddof=1)))
    return pl.DataFrame(found, CORRELATIONS, orient="row")


def _pearson(one: Array, other: Array) -> Array:
    """The correlation of each row with the other's."""
    one, other = (part - part.mean(axis=1, keepdims=True) for part in (one, other))
    spread = np.sqrt(np.square(one).sum(axis=1) * np.square(other).sum(axis=1))
    return np.asarray(np.clip((one * other).sum(axis=1) / spread, -1, 1))


def of_both(background: pl.DataFrame, capability: pl.DataFrame) -> Iterator[Pair]:
    """The pairs of z-scores (`other`) and m, v and d of a fit of the same games (`one`), over the models with both.

    background: scores (`liescope.benchmark.background.z_scores.score`); capability: a frame with the columns model,
    m, m_sd and the same of d and v (`liescope.benchmark.capability.results.scores`).
    """
    ends = ("", "_sd", "_lo", "_hi")
    for name, parameter in PARAMETER.items():
        ours = background.filter(capability=name).rename({f"z{end}": f"other{end}" for end in ends})
        fitted = capability.drop_nulls(parameter).rename(
            {f"{parameter}{end}": f"one{end}" for end in ends}, strict=False
        )
        yield name, parameter, "z", ours.join(fitted, on="model", maintain_order="left")


def beside(background: pl.DataFrame, capability: pl.DataFrame) -> pl.DataFrame:
    """Both methods in one unit, over the models that have both: capability, model, method, value, lo, hi, each in
    standard deviations from the mean of that method over the models; best z first. Takes what `of_both` does, with
    m_lo, m_hi and the same of d and v.
    """
    return pl.concat(
        both.select(
            "capability",
            "model",
            method=pl.lit(method),
            **{
                name: (pl.col(f"{side}{end}") - pl.col(side).mean()) / pl.col(side).std()
                for name, end in (("value", ""), ("lo", "_lo"), ("hi", "_hi"))
            },
        )
        for *_, both in of_both(background, capability)
        for method, side in ((FITTED, "one"), (AGAINST, "other"))
    )


def between_conditions(scores: pl.DataFrame) -> pl.DataFrame:
    """The correlation of exponential scores between every two conditions, over the models that both have
    (`correlations`), where `one` and `other` are conditions of different games.

    scores: those of `liescope.benchmark.background.z_scores.score`, with the column condition.
    """

    def pairs() -> Iterator[Pair]:
        for name in DESIGN:
            parts = scores.filter(capability=name).partition_by("condition", maintain_order=True)
            for one, other in combinations(parts, 2):
                ours, theirs = (
                    part.rename({"z": side, "z_sd": f"{side}_sd"}) for part, side in ((one, "one"), (other, "other"))
                )
                yield name, one["condition"][0], other["condition"][0], ours.join(theirs, on="model")

    return correlations(pairs(), np.exp)


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
    scores = labelled({name: found.scores for name, found in scored.items()}, several)
    tables = {
        "background": scores,
        "background_rates": labelled({name: win_rates(frame) for name, frame in cells.items()}, several),
        "background_agreement": labelled({name: correlations(of_both(*pair)) for name, pair in fits.items()}, several),
        "background_conditions": between_conditions(scores) if several else pl.DataFrame(),
    }
    tables = {name: table for name, table in tables.items() if not table.is_empty()}
    both = labelled({name: beside(*pair) for name, pair in fits.items()}, several)
    notes = [f"{_of(name)}{note}" for name, one in scored.items() for note in one.notes]
    return Report(
        sections=tuple(_sections(tables, both, notes)),
        tables=tables,
        missing={
            f"Scores against backgrounds, {_of(name)}to {capability}": why
            for name, found in scored.items()
            for capability, why in found.missing.items()
        },
    )


def _of(condition: str) -> str:
    """The condition as a prefix; a single one has no name."""
    return f"{condition}: " if condition else ""


def _sections(tables: Mapping[str, pl.DataFrame], both: pl.DataFrame, notes: list[str]) -> Iterator[Section]:
    """The sections of the tables that there are. both: as `beside` gives it; notes: what the scores leave out."""
    if "background" in tables:
        scores = tables["background"]
        panels = [f"To {name}" for name in scores["capability"]]
        yield _section(
            "background",
            "Scores against backgrounds",
            (_MEANING, _UNCERTAINTY, *notes),
            "z and exp(z) with 95% intervals, highest z first.",
            _svg(scores, "z-score with its 95% interval", panels, "z", 0),
            "z-scores with 95% intervals by model: to deceive, to detect, to disclose.",
            ReportTable.of(scores, _SCORES),
            "Eq. 10 to 14",
        )
    if "background_agreement" in tables:
        where = [f", {name}" if name else "" for name in stated_conditions(both)]
        named = zip(both["capability"], where, strict=True)
        yield _section(
            "background_agreement",
            "Scores against backgrounds beside the capability model",
            ("Both methods score the same games, so agreement says nothing about what other games would give.",),
            _CORRELATED,
            _svg(
                both,
                "standard deviations from the mean over models, with 95% intervals",
                [f"To {name}: {PARAMETER[name]} and z{more}" for name, more in named],
                "value",
                0,
                "method",
            ),
            "Scores of both methods by model, in standard deviations from their mean.",
            tables["background_agreement"],
            "Figures 7 to 9",
        )
    if "background_conditions" in tables:
        around = {f"score_{end}": pl.col("score") + sign * pl.col("score_sd") for end, sign in (("lo", -1), ("hi", 1))}
        axis = "exp(z), with a standard deviation to either side"
        yield _section(
            "background_conditions",
            "Scores against backgrounds, one condition against another",
            (),
            _CORRELATED,
            _svg(scores.with_columns(**around), axis, panels, "score", 1),
            "Exponential scores by model and condition.",
            tables["background_conditions"],
            "Figure 10 and Appendix C",
        )
    if "background_rates" in tables:
        rates = tables["background_rates"]
        panels = [f"To {name} against {one}" for name, one in rates.select("capability", "background").iter_rows()]
        yield _section(
            "background_rates",
            "Win rates in each background",
            (),
            "Laplace's rule: mean (rate) and standard deviation (sd) of a win rate under a uniform prior, with its "
            "central 95% (lo to hi).",
            _svg(rates, "win rate with its 95% interval", panels, "rate"),
            "Win rates with 95% intervals by model, a panel for each background.",
            rates,
            "Figures 11 to 13",
        )


def _section(
    of: str, title: str, told: tuple[str, ...], caption: str, figure: str, alt: str, table: Tabular, source: str
) -> Section:
    """A section on the table `of`, folded. told: paragraphs; source: its place in the paper."""
    source, name = f"{source} of the Mini-Mafia paper", of.replace("_", "-")
    return Section(name, title, told, caption, figure, alt, table, folded=True, source=source, file=f"{of}.csv")


def _svg(
    table: pl.DataFrame,
    axis: str,
    panels: list[str],
    value: str,
    reference: float | None = None,
    series: Names = stated_conditions,
) -> str:
    """A figure with a row for each model and a dot for each condition or method, "" if there are too many."""
    if table["model"].n_unique() > DRAWN or table.height > _ROWS:
        return ""
    colours: Colours = None if {"condition", "method"} & set(table.columns) else "model"
    with style():
        return svg(Dots(axis, "model", panels, series, colours, reference, value=value)(table), "backgrounds")
