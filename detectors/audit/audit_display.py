"""An audit on an 80-column terminal: the table of probes, then the sentences; the report has the rest."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from liescope.common.console import hang
from liescope.common.text import plain
from liescope.detectors.audit.audit_findings import NOTABLE, PLAIN, SERIOUS, AuditResult
from liescope.detectors.audit.audit_report import counted, probe_table
from liescope.detectors.evaluation.score_rows import scripted_warning

_WIDTH = 80
_STYLES = {SERIOUS: "bold red", NOTABLE: "yellow", PLAIN: ""}


def show_audit(audit: AuditResult) -> None:
    """The probes, every sentence with its severity, and the files."""
    console = Console(highlight=False)
    console = console if console.is_terminal else Console(width=_WIDTH, highlight=False)
    console.print(Text(plain(f"{audit.corpus}, {counted(audit)}")), soft_wrap=False)
    table = Table(box=None, header_style="none", pad_edge=False)
    table.add_column("AUROC (95%)", overflow="fold")
    for column in ("out of fold", "train to test"):
        table.add_column(column, no_wrap=True)
    for name, *cells in probe_table(audit):
        table.add_row(Text(plain(name)), *cells)
    console.print(table)
    for found in audit.findings:
        line = Text(f"{found.severity:8} ", style=_STYLES[found.severity]) + Text(plain(found.sentence), style="none")
        for part in hang(line, console):
            console.print(part, soft_wrap=True)
    if warning := scripted_warning(audit.sources):
        console.print(Text(warning, style="yellow"))
    for path in audit.files:
        console.print(Text(plain(str(path))), soft_wrap=True)
