"""`leaderboard`: static pages over many reports."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from liescope.benchmark.benchmark_settings import LeaderboardSettings
from liescope.benchmark.fitting import FitResult
from liescope.common.console import progress as progress_bars
from liescope.common.report.files import check_report_folder
from liescope.common.settings import resolve, takes


@dataclass(frozen=True, slots=True, repr=False)
class LeaderboardResult:
    """What a leaderboard shows.

    scores: m, d and v of each model in each report (`liescope.benchmark.leaderboard.inputs.scores`); only those of one
    report and condition compare. joint: the fit of the counts of all reports, on whose scale all models compare; None
    where there is none, for the reason in apart. detectors: each detector of a transfer or evaluate report with its
    worst cell (`liescope.benchmark.leaderboard.inputs.detectors`). left_out: reports without a board, with the reason.
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


@takes(LeaderboardSettings)
def leaderboard(
    reports: Sequence[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    out: str | os.PathLike[str],
    progress: bool = False,
    **settings: Unpack[LeaderboardSettings],
) -> LeaderboardResult:
    """Static pages over many reports: who deceives, detects and discloses, and which detectors hold up.

    A joint fit of the counts of all reports is the only scale on which their models compare; where that cannot be done,
    the boards stay apart and the page says why. The reports may be a stranger's: report.json is checked, all text is
    escaped, nothing else of them is opened.

    Parameters
    ----------
    reports : path, or several
        Folders of `liescope.report`, `transfer` and `evaluate`.
    out : str or path
        A folder for index.html, a page for each report, and the data to compute all of it again.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    UsageError
        For a folder that is no report, if there is nothing to show, or if `out` holds something else or cannot be
        written.
    BadData
        For a report.json that cannot be one.
    """
    own = resolve(LeaderboardSettings, settings)
    from liescope.benchmark.leaderboard.inputs import detectors, joint_fit, open_reports, scores
    from liescope.benchmark.leaderboard.page import write_site

    named = [reports] if isinstance(reports, str | os.PathLike) else list(reports)
    folder = Path(out)
    check_report_folder(folder, own["overwrite"])
    inputs = open_reports(named)
    fitted, apart = None, "it was not asked for"
    if own["joint"]:
        with progress_bars(progress) as bar:
            bar.add_task("fitting all reports together", total=None, note="")
            fitted, apart = joint_fit(inputs.entries, own["draws"], own["tune"], own["seed"])
    result = LeaderboardResult(
        scores(inputs.entries), fitted, apart, detectors(inputs.entries), inputs.left_out, folder / "index.html"
    )
    write_site(folder, own["title"], inputs, result)
    return result
