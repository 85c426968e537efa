"""Writing the report of a fit."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl

from liescope.benchmark.background.part import part_of_conditions
from liescope.benchmark.capability.markdown import report
from liescope.benchmark.capability.page import fit_page
from liescope.benchmark.capability.plots import forest, predictive
from liescope.benchmark.capability.results import stacked, tidy_draws
from liescope.benchmark.csv_text import safe
from liescope.benchmark.fitting import FitResult
from liescope.benchmark.folders import report_folder
from liescope.benchmark.parts import Part, by_condition
from liescope.benchmark.ratings.part import TABLES as RATINGS
from liescope.benchmark.ratings.part import part as rated
from liescope.common.report_page import write_page

FILES = frozenset(
    {
        "background.csv",
        "background_agreement.csv",
        "background_conditions.csv",
        "background_rates.csv",
        "capability.csv",
        "capability.json",
        "compared.csv",
        "counts.csv",
        "differences.csv",
        "draws.parquet",
        "effects.csv",
        "drawn_votes.csv",
        "extended.csv",
        "forest.png",
        "held_out.csv",
        "predictive.png",
        "report.html",
        "report.md",
        "slips.csv",
        "suggest.csv",
        "win_rates.csv",
        *(f"{name}.csv" for name in RATINGS),
    }
)


def write_fit(out: Path, result: FitResult) -> FitResult:
    """Write the report to the folder, which appears when it is complete; returns the result with its report's path.

    report.html is the page, report.md the same in short. capability.csv and .json hold the scores, counts.csv each cell
    with its prediction, draws.parquet the sample, drawn_votes.csv the scores with and without games that contain a
    drawn vote, differences.csv and win_rates.csv the comparison of conditions, compared.csv and held_out.csv that of
    the family, effects.csv and slips.csv what names, last speakers, seats and slips do where the model has such terms,
    the files of background what does not assume the model (`liescope.benchmark.background.part`), where the
    games allow it; suggest.csv the games to play next, extended.csv the scores of an older report beside the new ones,
    where they were asked for. The tables of `liescope.benchmark.ratings.part` hold ratings of the same games, and where
    they disagree with the scores.
    """
    ratings = by_condition({part.condition: rated(part.posterior.cells, part.posterior) for part in result.fits})
    parts = (*result.parts, _background(result), ratings)
    shown = replace(result, parts=parts, notes=(*result.notes, *ratings.notes))
    with report_folder(out, FILES) as folder:
        for name, table in tables(shown).items():
            if not table.is_empty():
                safe(table).write_csv(folder / f"{name}.csv")
        draws = stacked({part.condition: tidy_draws(part.posterior) for part in result.fits}, len(result.fits) > 1)
        draws.write_parquet(folder / "draws.parquet", compression="zstd")
        data = json.dumps(result.to_json(), ensure_ascii=False, indent=1)
        (folder / "capability.json").write_text(data + "\n", encoding="utf-8")
        forest(result.scores).savefig(folder / "forest.png", dpi=150)
        predictive(result.cells).savefig(folder / "predictive.png", dpi=150)
        (folder / "report.md").write_text(report(result), encoding="utf-8")
        write_page(folder / "report.html", fit_page(shown))
    return replace(result, report=out / "report.html")


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


def _background(result: FitResult) -> Part:
    posteriors = {part.condition: part.posterior for part in result.fits}
    return part_of_conditions({name: posterior.cells for name, posterior in posteriors.items()}, posteriors)
