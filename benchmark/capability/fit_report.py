"""The report of a fit: who leads, the scores of all with their intervals, and how far the fit can be trusted; as a page
with its pictures, and as the lines that `fit` prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import polars as pl

from liescope.benchmark.analyses.analysis_figures import Colours, Dots, stated_conditions
from liescope.benchmark.background.background_report import part_of_conditions
from liescope.benchmark.benchmark_settings import SamplerOptions
from liescope.benchmark.capability import effects
from liescope.benchmark.capability.backend import versions
from liescope.benchmark.capability.counts import stated
from liescope.benchmark.capability.forms import CONTESTS, THREE_ROLES, form_of
from liescope.benchmark.capability.priors import MOVES, moves
from liescope.benchmark.capability.results import SPREAD, labelled, tidy_draws
from liescope.benchmark.capability.sentences import of_each, separated
from liescope.common.colours import COLOURS, MUTED
from liescope.common.figures import legend, name_axis, stacked, style, svg
from liescope.common.report.contents import Column, Content, Report, ReportTable, Section, terminal, with_interval
from liescope.common.text import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from liescope.benchmark.fitting import ConditionFit, FitResult

WORST = 5  # combinations shown, those furthest from their predictions


def forest(table: pl.DataFrame) -> Figure:
    """Scores with their intervals, a panel for each, models in the order of the table; a dot for each condition.

    table: `liescope.benchmark.capability.results.scores`, with the column condition where there are several.
    """
    form = THREE_ROLES if "d" in table.columns else CONTESTS
    parts = pl.concat(
        table.with_columns(rate=name, lo=f"{name}_lo", hi=f"{name}_hi", panel=pl.lit(f"{head} {form.as_role(name)}"))
        for name, head in form.heads.items()
        if name in table.columns
    )
    colours: Colours = None if "condition" in table.columns else "model"
    return Dots("posterior mean with its 95% interval", "model", "panel", stated_conditions, colours, reference=0)(
        parts
    )


@style()
def predictive(cells: pl.DataFrame) -> Figure:
    """Observed against predicted rate of successes, one point per cell; orange if outside the interval.

    cells: as `liescope.benchmark.capability.results.predictions` gives it.
    """
    figure, (panel,) = stacked([4.6])
    rate = form_of(cells).rate
    panel.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=":")
    entries = {}
    for where, colour in (("inside", COLOURS["blue"]), ("outside", COLOURS["vermillion"])):
        if (part := cells.filter(pl.col("inside") == (where == "inside"))).height:
            panel.vlines(part["predicted"], part["lo"], part["hi"], color=colour, linewidth=1, alpha=0.35)
            panel.plot(part["predicted"], part["observed"], "o", color=colour, markersize=4)
            entries[f"{where} its interval: {part.height}"] = colour
    panel.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", ylabel=f"observed {rate}")
    name_axis(figure, f"predicted {rate}; lines: 95% intervals")
    legend(figure, entries)
    return figure


def fit_report(result: FitResult) -> Report:
    """The report: its page, tables, figures and draws, and the scores against backgrounds beside those of the fit."""
    posteriors = result.posteriors
    of_roles = {name: one for name, one in posteriors.items() if one.form is THREE_ROLES}
    converged = {name: one for name, one in of_roles.items() if not one.faults}
    background = part_of_conditions({name: one.cells for name, one in of_roles.items()}, converged)
    files: dict[str, Content] = {
        "capability.json": result.to_json(),
        "draws.parquet": labelled({name: tidy_draws(one) for name, one in posteriors.items()}, len(posteriors) > 1),
        "forest.png": forest(result.scores),
        "predictive.png": predictive(result.cells),
    }
    return replace(fit_page(result, background), files=files, picture="forest.png")


def fit_page(result: FitResult, more: Report | None = None) -> Report:
    """The page of a fit, without the files. more: sections before the last."""
    beside = [effects.part(result.posteriors), more or Report()]
    form = result.form
    games, wins = (int(result.cells[name].sum()) for name in (form.of, form.won))
    several = len(result.fits) > 1
    checks = {fit.condition: pl.DataFrame(fit.goodness.checks) for fit in result.fits}
    tables = {
        "capability": result.scores,
        "counts": result.cells,
        "priors": labelled({fit.condition: moves(fit.posterior) for fit in result.fits}, several),
        "checks": labelled(checks, several),
    }
    missing = {stated(name): reason for name, reason in result.unfit.items()}
    for part in beside:
        tables |= part.tables
        missing |= part.missing
    return Report(
        form.title,
        result.findings,
        svg(forest(result.scores), "forest"),
        f"Scores with 95% intervals by model: {', '.join(f'{name} of the {form.roles[name]}' for name in form.leads)}.",
        result.notes,
        f"{games} {form.of} in {result.cells.height} combinations of {result.scores['model'].n_unique()} players; "
        f"{form.total} {wins / games:.1%}. Fitted with Liescope {version('liescope')}.",
        (
            _scores(result),
            Section("reading", "How to read the scores", form.reading[: 2 + ("b" in result.scores.columns)]),
            _fit(result),
            _priors(result, tables["priors"], tables["checks"]),
            *(section for part in beside for section in part.sections),
            _sampler(result),
        ),
        missing,
        tables,
    )


def fit_lines(result: FitResult) -> Iterator[str]:
    """What `fit` prints: findings, notes, the scores, effects and slips, the sampler, where the report is."""
    yield from terminal(fit_page(result))
    if result.report is not None:
        yield f"wrote {plain(str(result.report))}"


def _scores(result: FitResult) -> Section:
    columns = [Column(name, head, interval=True) for name, head in result.form.heads.items()]
    return Section(
        "scores",
        "Scores of the models",
        (),
        "Posterior means with central 95% intervals; a dash where a model never held the role. Highest m first.",
        table=ReportTable.of(result.scores, (Column("condition"), Column("model"), *columns)),
        file="capability.csv",
        printed=True,
    )


def _fit(result: FitResult) -> Section:
    def told(part: ConditionFit) -> Iterator[str]:
        yield part.goodness.sentence()
        yield from separated(part.posterior.cells, part.posterior.variant.offset)

    columns = ["condition", *result.form.players, result.form.of, "observed", "predicted", "lo", "hi"]
    furthest = result.cells.sort((pl.col("observed") - pl.col("predicted")).abs(), descending=True).head(WORST)
    inside = (
        f"{int(result.cells['inside'].sum()) / result.cells.height:.1%} of the combinations lie in the 95% interval "
        "that the fit predicts for them. The ones furthest from their prediction:"
    )
    return Section(
        "goodness",
        "Goodness of fit",
        (*of_each(result.fits, told), inside),
        "lo to hi: the central 95% interval that the fit predicts for as many new games.",
        svg(predictive(result.cells), "predictive"),
        f"Observed against predicted {result.form.rate}, a point for each combination of players.",
        furthest.select([name for name in columns if name in furthest.columns]),
        file="counts.csv",
        picture="predictive.png",
    )


def _priors(result: FitResult, moved: pl.DataFrame, checks: pl.DataFrame) -> Section:
    def told(part: ConditionFit) -> Iterator[str]:
        for figure in (result.form.rate, SPREAD):
            rows = (list(row.values())[1:] for row in part.goodness.checks if row["figure"] == figure)
            said = (f"{of} {with_interval(*each) if each[1] < each[2] else f'{each[0]:.2f}'}" for of, *each in rows)
            yield f"{figure[0].upper()}{figure[1:]}: {', '.join(said)}."

    axis = "mean and 95% interval of as many games; the spread is a standard deviation"
    return Section(
        "priors",
        "What the priors did",
        tuple(of_each(result.fits, told)),
        "In the table the priors have half or twice their widths. shift: of the mean score that moves most, in its "
        "posterior standard deviations; spread: how many times as far apart the scores lie. The draws are reweighted, "
        "not sampled again: k says how far that can be trusted; where it is above 0.7, both figures go on in a "
        "straight line.",
        svg(Dots(axis, "source", "figure", stated_conditions, value="value")(checks), "checks"),
        "The rate and its spread: as observed, by the fitted model, by the priors alone.",
        ReportTable.of(moved, [Column("condition"), *(Column(name, format="z.2f") for name in MOVES)]),
        file="priors.csv",
    )


def _sampler(result: FitResult) -> Section:
    rows = [
        {"condition": fit.condition, "model": fit.posterior.variant.name}
        | fit.posterior.settings.model_dump(include=set(SamplerOptions.model_fields))
        | asdict(fit.posterior.diagnostics)
        for fit in result.fits
    ]
    used = ", ".join(f"{name} {number}" for name, number in versions().items())
    table = pl.DataFrame(rows) if len(rows) > 1 else pl.DataFrame(rows).drop("condition")
    return Section("sampler", "The sampler", (f"Made with {used}.",), table=table)
