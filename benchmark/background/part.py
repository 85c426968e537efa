"""The background method as a part of a report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.headline import DRAWN
from liescope.benchmark.background.agreement import (
    FEWEST,
    agreement_figure,
    beside,
    between_conditions,
    exponential_figure,
    rates_figure,
    scores_figure,
    with_capability_model,
)
from liescope.benchmark.background.scores import score, win_rates
from liescope.benchmark.capability.results import scores as capability_scores
from liescope.benchmark.capability.results import stacked
from liescope.benchmark.counting.counts import stated
from liescope.common.figures import style, svg
from liescope.common.report.contents import Column, Report, Section, Table, with_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from liescope.benchmark.capability.posterior import Posterior

AGREEMENT = "Scores against backgrounds beside the capability model"
CONDITIONS = "Scores against backgrounds, one condition against another"
_PAPER = "of the Mini-Mafia paper"
_RATES = {"deceive": "Figure 11", "detect": "Figure 12", "disclose": "Figure 13"}
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
_SAME_GAMES = "Both methods score the same games, so agreement says nothing about what other games would give."
_FREE = "free lo to free hi: 95%, what endless games of these models would give, with chance taken off."


def part(cells: pl.DataFrame, posterior: Posterior | None = None) -> Report:
    """The background method on the games of one condition; see `part_of_conditions`."""
    return part_of_conditions({"": cells}, {"": posterior} if posterior else {})


def part_of_conditions(cells: Mapping[str, pl.DataFrame], posteriors: Mapping[str, Posterior]) -> Report:
    """Win rates and scores against backgrounds, their agreement with the capability model, and with each other between
    conditions.

    cells: the counts of each condition (`liescope.benchmark.counting.counts.Counts`), "" for the only one. posteriors:
    fits of the same counts, where there are any.

    Tables: background (the scores), background_rates, background_agreement, background_conditions, if not empty.
    """
    several = len(cells) > 1
    scored = {name: score(frame) for name, frame in cells.items()}
    fits = {name: (scored[name].scores, capability_scores(posterior)) for name, posterior in posteriors.items()}
    rates = stacked({name: win_rates(frame) for name, frame in cells.items()}, several)
    scores = stacked({name: found.scores for name, found in scored.items()}, several)
    agreement = stacked({name: with_capability_model(*pair) for name, pair in fits.items()}, several)
    between = between_conditions(scores) if several else pl.DataFrame()
    notes = [f"{_of(name)}{note}" for name, found in scored.items() for note in found.notes]
    missing = {
        f"Scores against backgrounds, {_of(name)}to {capability}": why
        for name, found in scored.items()
        for capability, why in found.missing.items()
    }
    sections = []
    if not scores.is_empty():
        sections.append(_scores(scores, notes))
        if not agreement.is_empty():
            both = stacked({name: beside(*pair) for name, pair in fits.items()}, several)
            sections.append(_agreement(agreement, both))
        elif fits:
            missing[AGREEMENT] = f"fewer than {FEWEST} models have scores of both methods"
        if not between.is_empty():
            sections.append(_conditions(scores, between))
        elif several:
            missing[CONDITIONS] = f"no two conditions have scores of the same {FEWEST} models or more"
    tables = {
        "background": scores,
        "background_rates": rates,
        "background_agreement": agreement,
        "background_conditions": between,
    }
    return Report(
        sections=(*sections, *_rates(rates, scores)),
        tables={name: table for name, table in tables.items() if not table.is_empty()},
        missing=missing,
    )


def _svg(name: str, table: pl.DataFrame, draw: Callable[[pl.DataFrame], Figure]) -> str:
    """The figure, "" if there are too many models for one."""
    if table["model"].n_unique() > DRAWN:
        return ""
    with style():
        return svg(draw(table), name)


def _sentences(table: pl.DataFrame) -> tuple[str, ...]:
    """What correlates how strongly, a sentence for each capability and pair."""
    pairs = table.filter(measure="Pearson").join(
        table.filter(measure="Spearman"),
        on=[name for name in ("condition", "capability", "one", "other") if name in table.columns],
        suffix="_rank",
    )
    return tuple(
        f"To {row['capability']}{_where(row)}, {stated(row['one'])} and {stated(row['other'])} correlate by "
        f"{with_interval(row['r'], row['lo'], row['hi'])}, their ranks by "
        f"{with_interval(row['r_rank'], row['lo_rank'], row['hi_rank'])}, over {row['models']} models."
        for row in pairs.iter_rows(named=True)
    )


def _where(row: Mapping[str, Any]) -> str:
    return f" ({stated(row['condition'])})" if "condition" in row else ""


def _of(condition: str) -> str:
    """The condition before what is said of it; the only one has no name."""
    return f"{condition}: " if condition else ""


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


def _scores(scores: pl.DataFrame, notes: list[str]) -> Section:
    return Section(
        "background",
        "Scores against backgrounds",
        (_MEANING, _UNCERTAINTY, *notes),
        "z and exp(z) with 95% intervals, highest z first.",
        _svg("background", scores, scores_figure),
        "z-scores with 95% intervals by model: to deceive, to detect, to disclose.",
        Table.of(scores, _SCORES),
        folded=True,
        source=f"Eq. 10 to 14 {_PAPER}",
        file="background.csv",
    )


def _agreement(agreement: pl.DataFrame, both: pl.DataFrame) -> Section:
    return Section(
        "background-agreement",
        AGREEMENT,
        (*_sentences(agreement), _SAME_GAMES),
        _CORRELATED,
        _svg("background-agreement", both, agreement_figure),
        "Scores of both methods by model, in standard deviations from their mean.",
        agreement.drop("free_lo", "free_hi"),
        folded=True,
        source=f"Figures 7 to 9 {_PAPER}",
        file="background_agreement.csv",
    )


def _conditions(scores: pl.DataFrame, between: pl.DataFrame) -> Section:
    return Section(
        "background-conditions",
        CONDITIONS,
        _sentences(between),
        f"{_CORRELATED} {_FREE}",
        _svg("background-conditions", scores, exponential_figure),
        "Exponential scores by model and condition.",
        between,
        folded=True,
        source=f"Figure 10 and Appendix C {_PAPER}",
        file="background_conditions.csv",
    )


def _rates(rates: pl.DataFrame, scores: pl.DataFrame) -> list[Section]:
    """Win rates of each capability; models in the order of their scores, those without one at the end."""
    sections = []
    for capability, source in _RATES.items():
        found = rates.filter(capability=capability)
        if found.is_empty():
            continue
        ranked = scores.filter(capability=capability)["model"] if not scores.is_empty() else pl.Series(dtype=pl.String)
        models = pl.concat([ranked, found["model"].sort()]).unique(maintain_order=True).to_list()
        name = f"background-rates-{capability}"
        sections.append(
            Section(
                name,
                f"Win rates in each background: to {capability}",
                (),
                "Laplace's rule: mean (rate) and standard deviation (sd) of a win rate under a uniform prior, with its "
                "central 95% (lo to hi).",
                _svg(name, found, partial(rates_figure, models=models)),
                "Win rates with 95% intervals by model, a panel for each background.",
                found.drop("capability"),
                folded=True,
                source=f"{source} {_PAPER}",
                file="background_rates.csv",
            )
        )
    return sections
