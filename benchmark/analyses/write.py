"""Writing a report: the whole folder at once, replacing an earlier report."""

from __future__ import annotations

from pathlib import Path

from liescope.benchmark.analyses.report import Findings, markdown_report, page
from liescope.benchmark.analyses.sources import GameSet, settings
from liescope.benchmark.csv_text import safe
from liescope.benchmark.folders import refuse_secrets, report_folder
from liescope.common.report_page import page_html

FILES = frozenset({"report.html", "report.md", "tables"})


def write_report(out: Path, games_set: GameSet, findings: Findings) -> None:
    """Write report.html, report.md and tables/NAME.csv to the folder, which appears when it is complete.

    Raises UsageError, and leaves an earlier report unchanged, if the folder holds anything else or cannot be written,
    or if a text would contain a secret of this machine.
    """
    tables = {section.analysis.name: safe(section.table) for section in findings.sections}
    texts = {f"tables/{name}.csv": table.write_csv() for name, table in tables.items()}
    texts["tables/settings.csv"] = safe(settings(games_set.runs)).write_csv()
    texts["report.md"] = markdown_report(games_set, findings)
    texts["report.html"] = page_html(page(games_set, findings))
    refuse_secrets(texts)
    with report_folder(out, FILES) as folder:
        (folder / "tables").mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
