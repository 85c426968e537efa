"""The page of a fit: who leads, the scores of all with their intervals, and how far the fit can be trusted."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.capability.backend import versions
from liescope.benchmark.capability.plots import forest, predictive
from liescope.benchmark.capability.text import (
    APART,
    HEADS,
    INCOMPARABLE,
    LOG_SCORE,
    NOTHING_SHARED,
    TITLE,
    counted,
    fits_well,
    furthest,
    goodness_sentences,
    reading,
    shown_parameters,
    told,
)
from liescope.benchmark.counting.counts import stated
from liescope.benchmark.parts import interval_text
from liescope.common.figures import svg
from liescope.common.report_page import Page, Section

if TYPE_CHECKING:
    from liescope.benchmark.fitting import FitResult


def fit_page(result: FitResult) -> Page:
    """The page."""
    sections = [
        _scores(result),
        *_compared(result),
        _fit(result),
        *_drawn(result),
        *_conditions(result),
        *(section for part in result.parts for section in part.sections),
        *_missing(result),
        _sampler(result),
    ]
    return Page(
        TITLE,
        result.findings,
        svg(forest(result.scores), "forest"),
        "Scores with 95% intervals by model: m of the mafioso, d of the detective, v of the villager.",
        result.notes,
        f"{counted(result.cells, result.scores)} Fitted with Liescope {version('liescope')}.",
        tuple(sections),
    )


def _scores(result: FitResult) -> Section:
    keys = [name for name in ("condition", "model") if name in result.scores.columns]
    columns = [interval_text(name).alias(HEADS[name]) for name in shown_parameters(result.scores)]
    return Section(
        "scores",
        "Scores of the models",
        (*told(result.fits), *reading(result.scores)),
        "Posterior means with central 95% intervals; a dash where a model never held the role. Highest m first.",
        table=result.scores.select(*keys, *columns),
        file="capability.csv",
    )


def _fit(result: FitResult) -> Section:
    columns = ["condition", "mafioso", "detective", "villager", "games", "observed", "predicted", "lo", "hi"]
    return Section(
        "goodness",
        "Goodness of fit",
        (*goodness_sentences(result.fits), fits_well(result.cells)),
        "lo to hi: the central 95% interval that the fit predicts for as many new games.",
        svg(predictive(result.cells), "predictive"),
        "Observed against predicted win rate of the mafia, a point for each combination of players.",
        furthest(result.cells).select([name for name in columns if name in result.cells.columns]),
        file="counts.csv",
    )


def _compared(result: FitResult) -> list[Section]:
    if result.compared.is_empty():
        return []
    keys = [name for name in ("condition", "method") if name in result.compared.columns]
    columns = ["log_score", "log_probability", "loo", "unsure", "rmse", "slope", "inside"]
    from_best = interval_text("difference", digits=4).alias("from the highest")
    return [
        Section(
            "held-out",
            "The family of models on combinations not seen",
            (LOG_SCORE,),
            table=result.compared.select(*keys, columns[0], from_best, *columns[1:]),
            file="compared.csv",
        )
    ]


def _drawn(result: FitResult) -> list[Section]:
    if result.drawn.is_empty():
        return []
    sides = [interval_text(name).alias(f"games {name}") for name in ("kept", "left_out")]
    keys = [name for name in ("condition", "model", "parameter") if name in result.drawn.columns]
    title = "With and without games that contain a drawn vote"
    return [Section("drawn-votes", title, table=result.drawn.select(*keys, *sides), file="drawn_votes.csv")]


def _conditions(result: FitResult) -> list[Section]:
    if len(result.fits) < 2:
        return []
    rates = "Win rates of the mafia, for the combinations played in both conditions (Newcombe's 95% intervals)."
    return [
        Section(
            "conditions",
            "One condition against another: scores",
            (INCOMPARABLE if result.differences.is_empty() else APART,),
            table=result.differences,
            file="differences.csv",
        ),
        Section(
            "win-rates",
            "One condition against another: win rates",
            (NOTHING_SHARED if result.win_rates.is_empty() else rates,),
            table=result.win_rates,
            file="win_rates.csv",
        ),
    ]


def _missing(result: FitResult) -> list[Section]:
    missing = [(stated(name), reason) for name, reason in result.unfit.items()]
    missing += [pair for part in result.parts for pair in part.missing.items()]
    words = tuple(f"{title}: {reason}." for title, reason in missing)
    return [Section("missing", "What these games cannot show", words)] if words else []


def _sampler(result: FitResult) -> Section:
    rows = [
        {
            "condition": fit.condition,
            "model": fit.posterior.variant.name,
            "sampler": f"NUTS by {fit.posterior.sampler}",
            "chains": found.chains,
            "draws": found.draws,
            "tuning draws": fit.posterior.settings.tune,
            "seed": fit.posterior.settings.seed,
            "largest r-hat": found.r_hat_max,
            "smallest bulk ESS": round(found.ess_bulk_min),
            "smallest tail ESS": round(found.ess_tail_min),
            "smallest BFMI": found.bfmi_min,
            "divergences": found.divergences,
            "seconds": found.seconds,
        }
        for fit in result.fits
        for found in (fit.posterior.diagnostics,)
    ]
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    table = pl.DataFrame(rows) if len(rows) > 1 else pl.DataFrame(rows).drop("condition")
    return Section("sampler", "The sampler", (f"Made with {used}.",), table=table)
