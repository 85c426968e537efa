"""`analyse`: every analysis of a set of games, as tables and as a report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from liescope.benchmark.benchmark_settings import AnalyseSettings
from liescope.common.console import progress as progress_bars
from liescope.common.report.contents import Report, ToldResult
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import several, takes
from liescope.common.stores import stored

if TYPE_CHECKING:
    from rich.progress import Progress

    from liescope.benchmark.analyses.frames import GameSet


@dataclass(frozen=True, slots=True, repr=False)
class AnalysisResult(ToldResult):
    """What `analyse` found.

    told: what the analyses found, a section and a table for each with a result, by its name, in the order of the
    report; columns are those of its declaration (`liescope.benchmark.analyses`), without condition and rater where all
    games have the same. nothing: the other analyses, each with the reason. winners: games won, by game and team. games:
    finished games; failed: others, which are left out: they failed, or a model was silent in them. sources: what was
    read, as named. report: the page, None if none was requested.
    """

    nothing: Mapping[str, str]
    winners: Mapping[str, Mapping[str, int]]
    games: int
    failed: int
    sources: tuple[str, ...]
    report: Path | None = None

    def __repr__(self) -> str:
        return f"<AnalysisResult: {len(self.tables)} tables of {self.games} games>"

    def to_json(self) -> dict[str, Any]:
        """What `liescope analyse --json` prints; `runs` are the sources."""
        return {
            "report": None if self.report is None else str(self.report),
            "runs": list(self.sources),
            "games": self.games,
            "failed": self.failed,
            "winners": {game: dict(counts) for game, counts in self.winners.items()},
            "findings": list(self.findings),
            "notes": list(self.notes),
            "tables": list(self.tables),
            "nothing": dict(self.nothing),
        }


@takes(AnalyseSettings)
@stored
def analyse(
    sources: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
) -> AnalysisResult:
    """Analyse games: who won, who was voted out and why, who deceived, who noticed, what was learned.

    Parameters
    ----------
    sources : path, or several
        Runs or corpora (folders, or USER/NAME on the Hub); a run and copies of it that others rated may be given
        together, and the raters are compared.
    out : str or path, optional
        A folder for report.html, report.md and a CSV file for every table.
    **settings

    Raises
    ------
    UsageError
        If no game is finished, if a game would count twice or if `out` cannot be written.
    BadData
        For a source that cannot be read.
    """
    own = AnalyseSettings.of(settings)
    from liescope.benchmark.analyses.analysis_registry import ANALYSES
    from liescope.benchmark.analyses.findings import notes, page, winners

    folder = check_report_folder(out, own.overwrite)
    with progress_bars(progress) as bar:
        games_set, told = read_and_analyse(list(several(sources)), own, bar, draw=folder is not None)
    if folder is not None:
        write(page(games_set, told), folder, tables_in="tables")
    return AnalysisResult(
        replace(told, notes=tuple(notes(games_set))),
        nothing={one.name: told.missing[one.title] for one in ANALYSES if one.title in told.missing},
        winners=winners(games_set.frames),
        games=games_set.frames.games.height,
        failed=sum(run.failed.total() for run in games_set.runs),
        sources=tuple(run.name for run in games_set.runs),
        report=None if folder is None else folder / "report.html",
    )


def read_and_analyse(
    sources: Sequence[str | os.PathLike[str]], own: AnalyseSettings, bar: Progress, draw: bool
) -> tuple[GameSet, Report]:
    """The games of these sources, and the findings of every analysis; see `load_games` and `run_analyses`."""
    from liescope.benchmark.analyses.analysis_registry import ANALYSES
    from liescope.benchmark.analyses.findings import run_analyses
    from liescope.benchmark.analyses.frames import load_games

    reading = bar.add_task("reading", total=None, note="games")
    games_set = load_games(
        sources, lambda games: bar.update(reading, completed=games), own.pool_conditions, own.count_silent
    )
    task = bar.add_task("analysing", total=len(ANALYSES), note="")
    return games_set, run_analyses(
        ANALYSES, games_set.frames, lambda title: bar.update(task, advance=1, note=title), draw=draw
    )
