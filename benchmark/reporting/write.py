"""Writing a report: the whole folder at once, replacing an earlier one."""

from __future__ import annotations

from pathlib import Path

from liescope.benchmark.csv_text import safe
from liescope.benchmark.folders import refuse_secrets, report_folder
from liescope.benchmark.reporting.data import dumped
from liescope.benchmark.reporting.report import ReportResult
from liescope.common.report_page import Page, page_html

FILES = frozenset({"report.html", "report.json", "counts.csv", "tables"})


def write_report(out: Path, result: ReportResult, page: Page) -> None:
    """Write report.html, report.json, counts.csv and tables/NAME.csv to the folder, which appears when it is complete.

    Raises UsageError, and leaves an earlier report unchanged, if the folder holds anything else or cannot be written,
    or if a text would contain a secret of this machine.
    """
    texts = {f"tables/{name}.csv": safe(table).write_csv() for name, table in result.tables.items()}
    if not result.counts.is_empty():
        texts["counts.csv"] = safe(result.counts).write_csv()
    texts |= {"report.json": dumped(result.data), "report.html": page_html(page)}
    refuse_secrets(texts)
    with report_folder(out, FILES) as folder:
        (folder / "tables").mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
