"""The report of a fit: who leads, the scores of all with their intervals, and how far the fit can be trusted."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.background.background_report import part_of_conditions
from liescope.benchmark.capability.backend import versions
from liescope.benchmark.capability.plots import forest, predictive
from liescope.benchmark.capability.results import stacked, tidy_draws
from liescope.benchmark.capability.sentences import (
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
from liescope.benchmark.ratings.ratings_report import part as rated
from liescope.common.figures import svg
from liescope.common.report.contents import Column, Content, Report, Section, Table, by_condition

if TYPE_CHECKING:
    from liescope.benchmark.fitting import FitResult


def fit_report(result: FitResult) -> Report:
    """The report: its page, tables, figures and draws, and the scores of other methods beside those of the fit."""
    ratings = by_condition({part.condition: rated(part.posterior.cells, part.posterior) for part in result.fits})
    posteriors = {part.condition: part.posterior for part in result.fits}
    background = part_of_conditions({name: one.cells for name, one in posteriors.items()}, posteriors)
    told = fit_page(replace(result, parts=(*result.parts, background, ratings)))
    draws = stacked({name: tidy_draws(one) for name, one in posteriors.items()}, len(posteriors) > 1)
    files: dict[str, Content] = {
        "capability.json": result.to_json(),
        "draws.parquet": draws,
        "forest.png": forest(result.scores),
        "predictive.png": predictive(result.cells),
    }
    return replace(told, notes=(*told.notes, *ratings.notes), files=files, picture="forest.png")


def fit_page(result: FitResult) -> Report:
    """What the fit and its parts say, without the files."""
    sections = [
        _scores(result),
        *_compared(result),
        _fit(result),
        *_drawn(result),
        *_conditions(result),
        *(section for part in result.parts for section in part.sections),
        _sampler(result),
    ]
    missing = {stated(name): reason for name, reason in result.unfit.items()}
    return Report(
        TITLE,
        result.findings,
        svg(forest(result.scores), "forest"),
        "Scores with 95% intervals by model: m of the mafioso, d of the detective, v of the villager.",
        result.notes,
        f"{counted(result.cells, result.scores)} Fitted with Liescope {version('liescope')}.",
        tuple(sections),
        missing | {title: why for part in result.parts for title, why in part.missing.items()},
        {name: table for name, table in tables(result).items() if not table.is_empty()},
    )


def tables(result: FitResult) -> dict[str, pl.DataFrame]:
    """The tables of a fit by the names of their files, without the ending; some may be empty."""
    return {
        "capability": result.scores,
        "counts": result.cells,
        "drawn_votes": result.drawn,
        "differences": result.differences,
        "win_rates": result.win_rates,
        "compared": result.compared,
        "held_out": result.held_out,
        **{name: table for part in result.parts for name, table in part.tables.items()},
    }


def _scores(result: FitResult) -> Section:
    columns = [Column(name, HEADS[name], interval=True) for name in shown_parameters(result.scores)]
    return Section(
        "scores",
        "Scores of the models",
        (*told(result.fits), *reading(result.scores)),
        "Posterior means with central 95% intervals; a dash where a model never held the role. Highest m first.",
        table=Table.of(result.scores, (Column("condition"), Column("model"), *columns)),
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
        picture="predictive.png",
    )


_COMPARED = (
    *(Column("condition"), Column("method"), Column("log_score")),
    Column("difference", "from the highest", "z.4f", interval=True),
    *(Column(name) for name in ("log_probability", "loo", "unsure", "rmse", "slope", "inside")),
)


def _compared(result: FitResult) -> list[Section]:
    if result.compared.is_empty():
        return []
    title = "The family of models on combinations not seen"
    return [Section("held-out", title, (LOG_SCORE,), table=Table.of(result.compared, _COMPARED), file="compared.csv")]


_DRAWN = (
    *(Column("condition"), Column("model"), Column("parameter")),
    *(Column(name, f"games {name.replace('_', ' ')}", interval=True) for name in ("kept", "left_out")),
)


def _drawn(result: FitResult) -> list[Section]:
    if result.drawn.is_empty():
        return []
    title = "With and without games that contain a drawn vote"
    return [Section("drawn-votes", title, table=Table.of(result.drawn, _DRAWN), file="drawn_votes.csv")]


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
