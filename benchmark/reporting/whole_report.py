"""`report`: the whole benchmark of a set of games on one page, with every table and the data to compute them again."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from liescope.benchmark.benchmark_settings import DrawnVotes, ReportSettings
from liescope.benchmark.counting.count_sources import is_file, load_conditions
from liescope.benchmark.counting.counts import Counts
from liescope.benchmark.fitting import FitResult
from liescope.benchmark.fitting import fit as fit_games
from liescope.common.console import progress as progress_bars
from liescope.common.errors import LiescopeError, UsageError
from liescope.common.report.contents import ToldResult
from liescope.common.report.files import check_report_folder, csv_text, write
from liescope.common.settings import resolve, takes


@dataclass(frozen=True, slots=True, repr=False)
class ReportResult(ToldResult):
    """What a report holds.

    told: the page, with every table by its name: the fit's, the other methods' and the analyses'. counts: the games by
    (condition and) roles. fit: the capability model, None where it could not be fitted. data: what report.json holds.
    report: the page's file, None if none was requested.
    """

    counts: pl.DataFrame
    fit: FitResult | None
    data: Mapping[str, Any]
    report: Path | None = None

    @property
    def missing(self) -> Mapping[str, str]:
        """What these games cannot show, with the reason."""
        return self.told.missing

    def __repr__(self) -> str:
        return f"<ReportResult: {len(self.tables)} tables, {len(self.missing)} things cannot be shown>"


@takes(ReportSettings)
def report(
    sources: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[ReportSettings],
) -> ReportResult:
    """Everything that games say about their players: capabilities, other methods, behaviour, settings, what is missing.

    Games left out (`without`, `drawn_votes`) are left out of the fit and of the other methods on counts; the analyses
    have all games. A part that cannot be computed (PyMC is not installed, the sampler has not converged, too few games
    or models, another game than Mini-Mafia) is left out, and its place says why.

    Parameters
    ----------
    sources : path, or several
        Runs, corpora (folders, or USER/NAME on the Hub) and CSV files of counts; of files there are only counts, so
        nothing is said about behaviour.
    out : str or path, optional
        A folder for report.html, report.json, counts.csv and a CSV file for every table.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    UsageError
        If no game is finished, if one would count twice or if `out` cannot be written.
    BadData
        For a source that cannot be read.
    """
    own = resolve(ReportSettings, settings)
    without, drawn_votes, pool_conditions = own["without"], own["drawn_votes"], own["pool_conditions"]
    from liescope.benchmark.analyses.analysed_games import load_games
    from liescope.benchmark.analyses.analysis_registry import ANALYSES
    from liescope.benchmark.analyses.findings import run_analyses
    from liescope.benchmark.reporting.data import to_json
    from liescope.benchmark.reporting.gathering import Gathered, page, parts

    named = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    folder = None if out is None else Path(out)
    if folder is not None:
        check_report_folder(folder, own["overwrite"])
    games, found = None, None
    with progress_bars(progress) as bar:
        if of_games := [source for source in named if not is_file(Path(source))]:
            task = bar.add_task("reading", total=None, note="games")
            games = load_games(of_games, lambda read: bar.update(task, completed=read), pool_conditions)
            task = bar.add_task("analysing", total=len(ANALYSES), note="")
            found = run_analyses(
                ANALYSES,
                games.frames,
                lambda name: bar.update(task, advance=1, note=name),
                draw=folder is not None,
            )
    chosen = {"without": list(without), "drawn_votes": drawn_votes}
    sampling = {name: own[name] for name in ("model", "compare", "draws", "tune", "seed")}
    conditions, unfit = _counted(named, pool_conditions, without, drawn_votes, own["independent"], must=games is None)
    fitted = None
    if conditions:
        fitted, unfit = _fitted(
            named, pool_conditions, {**chosen, **sampling, "independent": own["independent"], "progress": progress}
        )
    gathered = Gathered(conditions, fitted, unfit, games, found)
    told = parts(gathered)
    names = [str(source) for source in named]
    shown = page(own["title"], gathered, told, names)
    data = to_json(shown, gathered, names, {**chosen, "pool_conditions": pool_conditions, **sampling})
    if folder is not None:
        counts = {} if gathered.counts.is_empty() else {"counts.csv": csv_text(gathered.counts)}
        write(replace(shown, files={"report.json": data, **counts}), folder, tables_in="tables", short=False)
    return ReportResult(shown, gathered.counts, fitted, data, None if folder is None else folder / "report.html")


def _counted(
    sources: Sequence[str | os.PathLike[str]],
    pool: bool,
    without: Sequence[str],
    drawn_votes: DrawnVotes,
    independent: bool,
    must: bool,
) -> tuple[Mapping[str, Counts], str]:
    """The counts of each condition, of the games that the fit takes; where no game can be counted, none and the reason.
    must: raise the reason.
    """
    try:
        found = load_conditions(sources, without, pool, independent=independent)
    except UsageError as error:
        if must:
            raise
        return {}, str(error)
    if drawn_votes == "keep":
        return found, ""
    kept = {name: replace(counts, cells=counts.undrawn) for name, counts in found.items() if counts.undrawn.height}
    return kept, "" if kept else "every game contains a drawn vote"


def _fitted(
    sources: Sequence[str | os.PathLike[str]], pool: bool, options: Mapping[str, Any]
) -> tuple[FitResult | None, str]:
    """The fit, or None and why there is none."""
    try:
        return fit_games(sources, pool_conditions=pool, **options), ""
    except LiescopeError as error:
        return None, str(error)
