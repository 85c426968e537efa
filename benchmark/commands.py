"""The commands that say who deceives best and how: fit (the capability model), analyse (every other analysis), report
(both, for readers).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from liescope.benchmark.benchmark_settings import (
    AnalyseSettings,
    FitSettings,
    ReportSettings,
)
from liescope.common.command_options import AsJson, Given, say, with_settings
from liescope.common.console import emit
from liescope.common.text import plain
from liescope.games.mafia.rules import MINI_MAFIA

if TYPE_CHECKING:
    from liescope.benchmark.analysing import AnalysisResult
    from liescope.benchmark.reporting import ReportResult

app = typer.Typer()

Out = Annotated[Path, typer.Option(help="The folder for the report; made where it is missing.")]


@app.command()
@with_settings(FitSettings)
def fit(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Runs, corpora (folders, or USER/NAME on the Hub), or CSV files with the columns "
            f"{', '.join(MINI_MAFIA.composition())}, mafia_wins, games, or deceiver, judge, fooled, contests.",
        ),
    ],
    out: Out,
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Fit the capability model to games or to a table of counts.

    At its core it is logit p = v (m - d); where a deceiver meets a judge and nobody else, m - v. Games with different
    settings (rounds, prompts, seating …) are fitted separately; those that cannot be fitted are left out, with the
    reason. Writes report.html (one page: who leads where that is settled, the scores with their intervals, how well the
    model fits, and the scores against backgrounds), report.md, two figures, the draws, and a CSV file for every table
    to the folder. Stops with an error, and writes nothing, if the sampler is far from converged.

    Example: liescope fit runs/first --out reports/capability
    """
    from liescope.benchmark.capability.fit_report import fit_lines
    from liescope.benchmark.fitting import fit as fit_games

    say(fit_games(sources, out=out, progress=True, **given), as_json, fit_lines)


@app.command()
@with_settings(AnalyseSettings)
def analyse(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...", help="Runs (played, imported or rated) or corpora (folders, or USER/NAME on the Hub)."
        ),
    ],
    out: Out,
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Analyse games: who won, who deceived, who noticed, and why.

    Writes report.html (one page that opens offline: what was found in a few sentences and a figure, then everything),
    report.md (its main tables) and a CSV file for every table to the folder. Analyses that the games do not allow (no
    jester, no ratings, no lessons) are listed.

    Name a run and rated copies of it together to compare the raters with each other and with the players.

    Example: liescope analyse runs/first --out reports/first
    """
    from liescope.benchmark.analysing import analyse as analyse_games

    say(analyse_games(sources, out=out, progress=True, **given), as_json, _analysed)


def _analysed(result: AnalysisResult) -> Iterator[str]:
    yield from _sentences(result)
    yield f"{len(result.tables)} analyses, {len(result.nothing)} with nothing to count"
    yield f"wrote {plain(str(result.report))}"


def _sentences(result: AnalysisResult | ReportResult) -> Iterator[str]:
    from liescope.common.report.contents import wrapped

    return map(wrapped, (*result.findings, *result.notes))


@app.command()
@with_settings(ReportSettings)
def report(
    *,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="Runs, corpora (folders, or USER/NAME on the Hub), or CSV files of counts as for fit.",
        ),
    ],
    out: Out,
    given: Given,
    as_json: AsJson = False,
) -> None:
    """Put everything that games say about their players on one page.

    Several runs that were played alike are counted together, so that their players stand on one board. Writes
    report.html (capabilities and how well they fit, scores against backgrounds, behaviour, settings, and what
    is not shown), counts.csv, tables/NAME.csv for every table, and report.json with all of it for programs.
    What cannot be computed, such as a fit of a single model, is left out with the reason.

    Example: liescope report runs/first --out reports/first-report
    """
    from liescope.benchmark.reporting import report as report_games

    result = report_games(sources, out=out, progress=True, **given)
    if as_json:
        emit(result.data)
        return
    for line in _sentences(result):
        print(line)
    print(f"{len(result.tables)} tables; {len(result.missing)} things are not shown (why: the end of the page)")
    print(f"wrote {plain(str(result.report))}")
