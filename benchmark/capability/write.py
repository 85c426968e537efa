"""Writing the report of a fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl

from liescope.benchmark.background.scores import background_scores
from liescope.benchmark.capability.page import fit_page
from liescope.benchmark.capability.plots import forest, predictive
from liescope.benchmark.capability.results import stacked, tidy_draws
from liescope.benchmark.capability.text import report
from liescope.benchmark.csv_text import safe
from liescope.benchmark.fitting import FitResult
from liescope.benchmark.folders import report_folder
from liescope.common.errors import UsageError
from liescope.common.report_page import write_page

FILES = frozenset(
    {
        "background.csv",
        "capability.csv",
        "capability.json",
        "compared.csv",
        "counts.csv",
        "differences.csv",
        "draws.parquet",
        "drawn_votes.csv",
        "extended.csv",
        "forest.png",
        "held_out.csv",
        "predictive.png",
        "report.html",
        "report.md",
        "suggest.csv",
        "win_rates.csv",
    }
)


def write_fit(out: Path, result: FitResult) -> FitResult:
    """Write the report to the folder, which appears when it is complete; returns the result with its report's path.

    report.html is the page, report.md the same in short. capability.csv and .json hold the scores, counts.csv each cell
    with its prediction, draws.parquet the sample, drawn_votes.csv the scores with and without games that contain a
    drawn vote, differences.csv and win_rates.csv the comparison of conditions, compared.csv and held_out.csv that of
    the family, background.csv z-scores that do not assume the model, where the games allow them; suggest.csv the games
    to play next, extended.csv the scores of an older report beside the new ones, where they were asked for.
    """
    with report_folder(out, FILES) as folder:
        tables = {
            "capability.csv": result.scores,
            "counts.csv": result.cells,
            "drawn_votes.csv": result.drawn,
            "differences.csv": result.differences,
            "win_rates.csv": result.win_rates,
            "compared.csv": result.compared,
            "held_out.csv": result.held_out,
            "background.csv": _background(result),
            **{f"{name}.csv": table for part in result.parts for name, table in part.tables.items()},
        }
        for name, table in tables.items():
            if not table.is_empty():
                safe(table).write_csv(folder / name)
        draws = stacked({part.condition: tidy_draws(part.posterior) for part in result.fits}, len(result.fits) > 1)
        draws.write_parquet(folder / "draws.parquet", compression="zstd")
        data = json.dumps(result.to_json(), ensure_ascii=False, indent=1)
        (folder / "capability.json").write_text(data + "\n", encoding="utf-8")
        forest(result.scores).savefig(folder / "forest.png", dpi=150)
        predictive(result.cells).savefig(folder / "predictive.png", dpi=150)
        (folder / "report.md").write_text(report(result), encoding="utf-8")
        write_page(folder / "report.html", fit_page(result))
    return replace(result, report=out / "report.html")


def _background(result: FitResult) -> pl.DataFrame:
    """The scores against backgrounds of each condition whose games allow them."""
    found = {}
    for part in result.fits:
        try:
            found[part.condition] = background_scores(part.posterior.cells)
        except UsageError:  # the games do not allow them; the report omits them
            continue
    return stacked(found, len(result.fits) > 1)
