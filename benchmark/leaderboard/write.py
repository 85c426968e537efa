"""Writing the pages of a leaderboard with their data: the whole folder at once, replacing an earlier one."""

from __future__ import annotations

import shlex
from pathlib import Path

from liescope.benchmark.csv_text import safe
from liescope.benchmark.folders import refuse_secrets, report_folder
from liescope.benchmark.leaderboard.board import LeaderboardResult
from liescope.benchmark.leaderboard.inputs import Inputs
from liescope.benchmark.leaderboard.joint import counted, union
from liescope.benchmark.leaderboard.page import index, report_page
from liescope.benchmark.reporting.data import ReportData
from liescope.common.report_page import page_html

FILES = frozenset({"index.html", "README.md", "reports", "data"})


def write_site(out: Path, title: str, inputs: Inputs, result: LeaderboardResult) -> None:
    """Write index.html, reports/NAME.html, README.md and data/ to the folder, which appears when it is complete.

    Raises UsageError, and leaves an earlier one unchanged, if the folder holds anything else or cannot be written, or
    if a text would contain a secret of this machine.
    """
    page = index(title, inputs, result.scores, result.joint, result.apart, result.detectors)
    texts = {"index.html": page_html(page), "README.md": _readme(inputs, result)}
    for entry in inputs.entries:
        texts[f"data/{entry.name}/report.json"] = entry.text
        if isinstance(entry.data, ReportData):
            texts[f"reports/{entry.name}.html"] = page_html(report_page(entry))
    counts = counted(inputs.entries)
    for name, cells in counts.items():
        texts[f"data/{name}/counts.csv"] = safe(cells).write_csv()
    if counts:
        texts["data/counts.csv"] = safe(union(list(counts.values()))).write_csv()
    tables = {"scores": result.scores, "detectors": result.detectors}
    if result.joint:
        tables["joint"] = result.joint.scores
    texts |= {f"data/{name}.csv": safe(table).write_csv() for name, table in tables.items() if table.height}
    refuse_secrets(texts)
    with report_folder(out, FILES) as folder:
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")


def _readme(inputs: Inputs, result: LeaderboardResult) -> str:
    """How to compute the boards again, as Markdown."""
    reports = " ".join(shlex.quote(f"data/{entry.name}") for entry in inputs.entries)
    lines = [
        "# The data of this leaderboard",
        "",
        "`data/NAME/report.json` holds everything that a report found, `data/NAME/counts.csv` the games that it",
        "counts: who was mafioso, detective and villager, how many games, how many the mafia won.",
        "`data/scores.csv` and `data/detectors.csv` are the boards.",
        "",
        "All pages again, from these files:",
        "",
        f"    liescope leaderboard {reports} --out site",
    ]
    if result.joint:
        settings = result.joint.fits[0].posterior.settings
        lines += [
            "",
            "The board of all reports together alone:",
            "",
            f"    liescope fit data/counts.csv --draws {settings.draws} --tune {settings.tune} --seed {settings.seed} "
            "--out joint",
        ]
    return "\n".join(lines) + "\n"
