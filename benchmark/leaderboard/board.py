"""`leaderboard`: static pages over many reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from liescope.benchmark.fitting import FitResult
from liescope.benchmark.folders import check_report_folder
from liescope.common.console import progress as progress_bars


@dataclass(frozen=True, slots=True, repr=False)
class LeaderboardResult:
    """What a leaderboard shows.

    scores: m, d and v of each model in each report (`liescope.benchmark.leaderboard.boards.scores`); only those of one
    report and condition compare. joint: the fit of the counts of all reports, on whose scale all models compare; None
    where there is none, for the reason in apart. detectors: each detector of a transfer or evaluate report with its
    worst cell (`liescope.benchmark.leaderboard.boards.detectors`). left_out: reports without a board, with the reason.
    index: the page.
    """

    scores: pl.DataFrame
    joint: FitResult | None
    apart: str
    detectors: pl.DataFrame
    left_out: Mapping[str, str]
    index: Path

    def __repr__(self) -> str:
        return f"<LeaderboardResult: {self.scores['report'].n_unique()} reports, {self.detectors.height} detectors>"

    def to_json(self) -> dict[str, Any]:
        """What `liescope leaderboard --json` prints."""
        return {
            "index": str(self.index),
            "scores": self.scores.to_dicts(),
            "joint": None if self.joint is None else self.joint.to_json(),
            "apart": self.apart,
            "detectors": self.detectors.to_dicts(),
            "left_out": dict(self.left_out),
        }


def leaderboard(
    reports: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    title: str = "",
    joint: bool = True,
    draws: int = 1000,
    tune: int = 1000,
    seed: int = 1,
    overwrite: bool = False,
    progress: bool = False,
) -> LeaderboardResult:
    """Static pages over many reports: who deceives, detects and discloses, and which detectors hold up.

    reports: folders of `liescope.report`, `transfer` and `evaluate`. out: a folder for index.html, a page for each
    report, and the data to compute all of it again. joint: fit the counts of all reports together, the only scale on
    which their models compare; where that cannot be done, the boards stay apart and the page says why. draws, tune,
    seed: of that fit. overwrite: replace pages that `out` holds. progress: show bars on standard error.

    The reports may be a stranger's: report.json is checked, all text is escaped, nothing else of them is opened. Raises
    UsageError for a folder that is no report, if there is nothing to show, or if `out` holds something else or cannot
    be written; BadData for a report.json that cannot be one.
    """
    from liescope.benchmark.leaderboard.boards import detectors, scores
    from liescope.benchmark.leaderboard.inputs import open_reports
    from liescope.benchmark.leaderboard.joint import joint_fit
    from liescope.benchmark.leaderboard.write import write_site

    named = [reports] if isinstance(reports, str | os.PathLike) else list(reports)
    folder = Path(out)
    check_report_folder(folder, overwrite)
    inputs = open_reports(named)
    fitted, apart = None, "it was not asked for"
    if joint:
        with progress_bars(progress) as bar:
            bar.add_task("fitting all reports together", total=None, note="")
            fitted, apart = joint_fit(inputs.entries, draws, tune, seed)
    result = LeaderboardResult(
        scores(inputs.entries), fitted, apart, detectors(inputs.entries), inputs.left_out, folder / "index.html"
    )
    write_site(folder, title, inputs, result)
    return result
