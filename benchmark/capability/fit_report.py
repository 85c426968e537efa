"""The report of a fit: who leads, the scores of all with their intervals, and how far the fit can be trusted; as a page
with its pictures, and as the lines that `fit` prints.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.benchmark.analyses.analysis_figures import Colours, Dots, stated_conditions
from liescope.benchmark.capability.backend import versions
from liescope.benchmark.capability.background_report import part_of_conditions
from liescope.benchmark.capability.counts import DECEIVER, DISCLOSER, PLAYERS, VOTER, stated
from liescope.benchmark.capability.effects import effects, slip_rates
from liescope.benchmark.capability.model import PARAMETERS
from liescope.benchmark.capability.posterior import Posterior
from liescope.benchmark.capability.results import labelled, left_sentence, tidy_draws
from liescope.benchmark.capability.sentences import (
    APART,
    HEADS,
    INCOMPARABLE,
    NOTHING_SHARED,
    TITLE,
    goodness_sentences,
    reading,
    shown_parameters,
    told,
)
from liescope.common.colours import COLOURS, MUTED
from liescope.common.figures import legend, name_axis, stacked, style, svg
from liescope.common.report.contents import Column, Content, Report, Section, Table
from liescope.common.text import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from liescope.benchmark.fitting import FitResult

WORST = 5  # combinations shown, those furthest from their predictions
TITLES = {
    "m": f"m: deceives as the {DECEIVER}",
    "d": f"d: discloses as the {DISCLOSER}",
    "v": f"v: responds as the {VOTER}",
    "b": f"b: leans to the mafia as the {VOTER}",
}


def forest(table: pl.DataFrame) -> Figure:
    """Scores with their intervals, a panel each for m, d and v, models in the order of the table; a dot for each
    condition.

    table: `liescope.benchmark.capability.results.scores`, with the column condition where there are several.
    """
    parts = pl.concat(
        table.with_columns(rate=name, lo=f"{name}_lo", hi=f"{name}_hi", panel=pl.lit(TITLES[name]))
        for name in TITLES
        if name in table.columns
    )
    colours: Colours = None if "condition" in table.columns else "model"
    axis = "posterior mean with its 95% interval"
    return Dots(axis, "model", "panel", stated_conditions, colours, reference=0)(parts)


@style()
def predictive(cells: pl.DataFrame) -> Figure:
    """Observed against predicted win rate of the mafia, one point per cell; orange if outside the interval.

    cells: as `liescope.benchmark.capability.results.predictions` gives it.
    """
    figure, (panel,) = stacked([4.6])
    panel.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=":")
    entries = {}
    for inside, colour, words in (
        (True, COLOURS["blue"], "inside its interval"),
        (False, COLOURS["vermillion"], "outside its interval"),
    ):
        part = cells.filter(pl.col("inside") == inside)
        if part.height:
            panel.vlines(part["predicted"], part["lo"], part["hi"], color=colour, linewidth=1, alpha=0.35)
            panel.plot(part["predicted"], part["observed"], "o", color=colour, markersize=4)
            entries[f"{words}: {part.height}"] = colour
    panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", ylabel="observed win rate of the mafia")
    name_axis(figure, "predicted win rate of the mafia; lines: 95% intervals")
    legend(figure, entries)
    return figure


def fit_report(result: FitResult) -> Report:
    """The report: its page, tables, figures and draws, and the scores against backgrounds beside those of the fit."""
    posteriors = {part.condition: part.posterior for part in result.fits}
    converged = {name: one for name, one in posteriors.items() if not one.faults}
    background = part_of_conditions({name: one.cells for name, one in posteriors.items()}, converged)
    told = fit_page(replace(result, parts=(*result.parts, background)))
    draws = labelled({name: tidy_draws(one) for name, one in posteriors.items()}, len(posteriors) > 1)
    files: dict[str, Content] = {
        "capability.json": result.to_json(),
        "draws.parquet": draws,
        "forest.png": forest(result.scores),
        "predictive.png": predictive(result.cells),
    }
    return replace(told, files=files, picture="forest.png")


def fit_page(result: FitResult) -> Report:
    """The page of a fit and its parts, without the files."""
    sections = [
        _scores(result),
        _fit(result),
        *_drawn(result),
        *_conditions(result),
        *(section for part in result.parts for section in part.sections),
        _sampler(result),
    ]
    missing = {stated(name): reason for name, reason in result.unfit.items()}
    games, wins = (int(result.cells[name].sum()) for name in ("games", "mafia_wins"))
    return Report(
        TITLE,
        result.findings,
        svg(forest(result.scores), "forest"),
        f"Scores with 95% intervals by model: m of the {DECEIVER}, d of the {DISCLOSER}, v of the {VOTER}.",
        result.notes,
        f"{games} games in {result.cells.height} combinations of {result.scores['model'].n_unique()} players; the "
        f"mafia won {wins / games:.1%}. Fitted with Liescope {version('liescope')}.",
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
    columns = ["condition", *PLAYERS, "games", "observed", "predicted", "lo", "hi"]
    furthest = result.cells.sort((pl.col("observed") - pl.col("predicted")).abs(), descending=True).head(WORST)
    inside = (
        f"{_covered(result):.1%} of the combinations lie in the 95% interval that the fit predicts for them. The ones "
        "furthest from their prediction:"
    )
    return Section(
        "goodness",
        "Goodness of fit",
        (*goodness_sentences(result.fits), inside),
        "lo to hi: the central 95% interval that the fit predicts for as many new games.",
        svg(predictive(result.cells), "predictive"),
        "Observed against predicted win rate of the mafia, a point for each combination of players.",
        furthest.select([name for name in columns if name in furthest.columns]),
        file="counts.csv",
        picture="predictive.png",
    )


def _covered(result: FitResult) -> float:
    return int(result.cells["inside"].sum()) / result.cells.height


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


WIDTH = 79
_NAME, _FIGURE = 17, 20


def wrapped(text: str) -> str:
    """Outside text in lines that fit; long words such as paths are not split, and a command to install something stands
    on a line of its own.
    """
    words, install, what = plain(text).partition("pip install ")
    lines = textwrap.fill(words, WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{lines}\n{install}{what}" if install else lines


def fit_lines(result: FitResult) -> Iterator[str]:
    """The summary of a fit: findings, notes, a table of scores for each condition, diagnostics, where the report is."""
    yield from (wrapped(sentence) for sentence in (*result.findings, *result.notes))
    for part in result.fits:
        several = len(result.fits) > 1
        table = result.scores.filter(pl.col("condition") == part.condition) if several else result.scores
        yield ""
        if several:
            yield wrapped(stated(part.condition))
        heads = ("m deceives", "d discloses", "v responds")
        yield " ".join([f"{'model':{_NAME}}", *(f"{head:>{_FIGURE}}" for head in heads)])
        for row in table.iter_rows(named=True):
            yield " ".join([_short(row["model"]), *(f"{_figure(row, name):>{_FIGURE}}" for name in PARAMETERS)])
        if left := left_sentence(part.posterior):
            yield wrapped(left)
        yield from _effects(part.posterior)
    yield ""
    for part in result.fits:
        found = part.posterior.diagnostics
        divergent = f"{found.divergences} divergences" if found.divergences else "no divergences"
        least = min(found.ess_bulk_min, found.ess_tail_min)
        yield wrapped(
            f"r-hat at most {found.r_hat_max:.4f}, ESS at least {least:.0f}, {divergent}"
            + (f" ({stated(part.condition)})" if len(result.fits) > 1 else "")
        )
    yield from (wrapped(sentence) for sentence in goodness_sentences(result.fits))
    yield f"{_covered(result):.0%} of {result.cells.height} combinations in their 95% interval"
    if result.report is not None:
        yield f"wrote {plain(str(result.report))}"


def _effects(posterior: Posterior) -> Iterator[str]:
    """The effects of names, last speakers, seats and slips, where the model has such terms."""
    if (shifts := effects(posterior)).height:
        yield f"{'':{_NAME}} {'adds to the logit':>{_FIGURE}}"
        for row in shifts.to_dicts():
            yield f"{_short(row['term'] + ' ' + row['level'])} {_figure(row, 'effect'):>{_FIGURE}}"
    if (slips := slip_rates(posterior)).height:
        yield f"{'share of votes':{_NAME}} {'role':9} {'slips':>{_FIGURE}} {'drawn':>{_FIGURE}}"
        for row in slips.to_dicts():
            figures = (f"{_figure(row, name):>{_FIGURE}}" for name in ("slip", "drawn"))
            yield " ".join([_short(row["model"]), f"{row['role']:9}", *figures])


def _short(name: str) -> str:
    shown = " ".join(plain(name).split())
    return f"{shown if len(shown) <= _NAME else shown[: _NAME - 1] + '…':{_NAME}}"


def _figure(row: dict[str, Any], name: str) -> str:
    if row[name] is None:
        return "–"
    return f"{row[name]:z.2f} ({row[f'{name}_lo']:z.2f}, {row[f'{name}_hi']:z.2f})"
