"""Writing a report: the tables first and the page last, so that a page that is there has everything it names."""

from __future__ import annotations

import os
from pathlib import Path

from liescope.benchmark.analyses.registry import MAIN
from liescope.benchmark.analyses.report import Findings, flat, html, markdown_report
from liescope.benchmark.analyses.sources import GameSet, settings
from liescope.common.errors import UsageError
from liescope.generate.corpus.leaks import secrets_of
from liescope.generate.runs.folder import write_whole


def write_report(out: Path, games_set: GameSet, findings: Findings) -> None:
    """Writes report.html, report.md and tables/NAME.csv to the folder, in the place of an earlier report.

    Raises UsageError, and writes nothing, where a text would hold the value of a secret of this machine.
    """
    tables = {section.analysis.name: flat(section.table) for section in findings.sections}
    texts = {f"tables/{name}.csv": table.write_csv() for name, table in tables.items()}
    texts["tables/settings.csv"] = settings(games_set.runs).write_csv()
    texts["report.md"] = markdown_report(games_set, findings, MAIN)
    texts["report.html"] = html(games_set, findings)
    for variable, value in secrets_of(os.environ).items():
        for name, text in texts.items():
            if value in text:
                raise UsageError(f"{name} would hold the value of {variable}; remove it from the runs' plans and texts")
    (out / "tables").mkdir(parents=True, exist_ok=True)
    (out / "report.html").unlink(missing_ok=True)
    for analysis, _ in findings.nothing:
        (out / "tables" / f"{analysis.name}.csv").unlink(missing_ok=True)
    for name, text in texts.items():
        write_whole(out / name, text)
