"""The audit of a corpus: a study whose scorers know one thing each, and checks that are no scores."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, Unpack

from liescope.common.errors import UnknownName
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import resolve, takes
from liescope.detectors.detector_settings import AuditSettings
from liescope.detectors.examples import target_column, usual_target
from liescope.detectors.own_rows import corpus_of, source_name
from liescope.detectors.progress import shown
from liescope.detectors.study.associations import associations, missing
from liescope.detectors.study.audit_result import AuditResult
from liescope.detectors.study.audited import SCHEMES, Audited, AuditPlan, read_audited
from liescope.detectors.study.leaks import copies, division, shuffled
from liescope.detectors.study.reasoning import reasoning
from liescope.detectors.study.shortcuts import scorers
from liescope.detectors.study.telling import telling
from liescope.generate.corpus import check

CHECKS = (scorers, telling, reasoning, copies, division, missing, associations, shuffled)
_FITS = 110  # of an audit, about, beside the shuffles


def checked(data: Audited, name: str) -> AuditResult:
    """What every check finds. name: of the corpus, as shown."""
    known, sources = data.known, tuple(sorted(data.spoken["source"].unique()))
    counted = int(known.sum()), data.labelled["game_id"].n_unique(), float(data.y[known].mean())
    return AuditResult(name, data.plan, data.units, *counted, tuple(part(data) for part in CHECKS), sources)


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
    ...     print(found.severity, found.words)
    """
    own = resolve(AuditSettings, settings)
    if own["target"]:
        target_column(own["target"])
    if own["split"] not in SCHEMES:
        raise UnknownName("split", own["split"], SCHEMES)
    if out is not None:
        check_report_folder(Path(out))
    with shown(progress) as show, corpus_of(corpus, labels, groups) as folder:
        check(folder)
        name, target = source_name(corpus), own["target"] or usual_target(folder)
        plan = AuditPlan(target, own["split"], own["shuffles"], own["seed"])
        fits, done = _FITS + plan.shuffles, count(1)
        data = read_audited(folder, plan, lambda: show(f"audit of {name}", min(next(done), fits), fits))
        result = checked(data, name)
        show(f"audit of {name}", fits, fits)
    if out is None:
        return result
    from liescope.detectors.study.audit_report import report

    told = report(result)
    return replace(result, told=told, files=tuple(write(told, Path(out))))
