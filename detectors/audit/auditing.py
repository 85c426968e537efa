"""The audit of a corpus: what a detector could exploit in it without detecting deception."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from rich.console import Console
from rich.table import Table
from rich.text import Text

from liescope.common.console import hang
from liescope.common.errors import UnknownName
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import resolve, takes
from liescope.common.text import plain
from liescope.detectors.audit.audit_findings import NOTABLE, PLAIN, SERIOUS, AuditPlan, AuditResult
from liescope.detectors.audit.bench import SCHEMES, read_audited
from liescope.detectors.detector_settings import AuditSettings
from liescope.detectors.examples import target_column, usual_target
from liescope.detectors.own_rows import corpus_of, source_name
from liescope.detectors.progress import shown
from liescope.detectors.study.scores import scripted_warning
from liescope.generate.corpus import check


@takes(AuditSettings)
def audit(
    corpus: Any,
    labels: Iterable[Any] | None = None,
    *,
    groups: Iterable[Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Unpack[AuditSettings],
) -> AuditResult:
    """What a detector could exploit in a corpus without detecting deception: shortcuts, leaks between splits, gaps.

    Parameters
    ----------
    corpus : str, path or data
        A corpus folder, a corpus on the Hub ("USER/NAME"), or a run's folder. Or data at hand, with `labels` and
        `groups`, as `train` takes it.
    out : str or path, optional
        A folder for the report.
    progress : bool
        Show bars on standard error.
    **settings

    Raises
    ------
    UnknownName
        For a target or split.
    BadData
        For a damaged corpus.
    UsageError
        For a corpus that lacks labels of both classes, or an `out` that contains something else.

    Examples
    --------
    >>> for found in liescope.audit("corpus/mini").findings:
    ...     print(found.severity, found.sentence)
    """
    own = resolve(AuditSettings, settings)
    target, split = own["target"], own["split"]
    if target:
        target_column(target)
    if split not in SCHEMES:
        raise UnknownName("split", split, SCHEMES)
    if out is not None:
        check_report_folder(Path(out))
    from liescope.detectors.audit.audit_checks import check_all

    with shown(progress) as show, corpus_of(corpus, labels, groups) as folder:
        check(folder)
        target = target or usual_target(folder)
        plan = AuditPlan(target, split, own["shuffles"], own["draws"], own["seed"])
        result = check_all(read_audited(folder, target), source_name(corpus), plan, show)
    if out is None:
        return result
    from liescope.detectors.audit.audit_report import report

    return replace(result, files=tuple(write(report(result), Path(out))))


_WIDTH = 80
_STYLES = {SERIOUS: "bold red", NOTABLE: "yellow", PLAIN: ""}


def show_audit(audit: AuditResult) -> None:
    """Print an audit in 80 columns: probes, every sentence with its severity, the files; the report has the rest."""
    from liescope.detectors.audit.audit_report import counted, probe_table

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
