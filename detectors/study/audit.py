"""The audit of a corpus: a study whose scorers each know one thing, and checks that are not about scores."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from liescope.common.errors import UnknownName
from liescope.common.report.contents import with_interval
from liescope.common.report.files import check_report_folder
from liescope.common.settings import takes
from liescope.common.stores import stored
from liescope.common.text import number_of
from liescope.detectors.detector import shown
from liescope.detectors.detector_settings import AuditSettings
from liescope.detectors.examples import target_column, usual_target
from liescope.detectors.own_rows import corpus_of, source_name
from liescope.detectors.study.audit_checks import SHORTCUTS, copies, division, missing, reasoning, scorers, shuffled
from liescope.detectors.study.audit_result import AuditResult, report
from liescope.detectors.study.audited import SCHEMES, Audited, read_audited
from liescope.detectors.study.controls import CONTROLS
from liescope.detectors.study.figures import PLAIN, SEVERITIES, Figure, Finding
from liescope.detectors.study.scores import CONTROL, scripted_warning
from liescope.generate.corpus.read import check, silent_note

CHECKS = (shuffled, copies, scorers, reasoning, division, missing)
"""What makes all figures doubtful comes first among its like."""
FEW = 30
"""Below so many games little can be found."""
_FITS = 130  # of an audit, about


def checked(data: Audited, name: str) -> AuditResult:
    """What every check finds. name: of the corpus, as shown."""
    parts = [part(data) for part in CHECKS]
    rows, order = tuple(figure for part in parts for figure in part.figures), list(SEVERITIES)
    found = sorted((one for part in parts for one in part.findings), key=lambda one: order.index(one.severity))
    games = data.labelled["game_id"].n_unique()
    if not found or found[0].severity == PLAIN:
        found.insert(0, _no_alarm(data, rows, games))
    sources = tuple(sorted(data.spoken["source"].unique()))
    result = AuditResult(
        rows=rows,
        notes=(*filter(None, [scripted_warning(sources)]), *silent_note(data.games)),
        corpus=name,
        target=data.target,
        split=data.split,
        seed=data.seed,
        statements=int(data.known.sum()),
        games=games,
        prevalence=float(data.y[data.known].mean()),
        sources=sources,
        found=tuple(found),
        called=data.units,
    )
    return replace(result, told=report(result))


def _no_alarm(data: Audited, rows: Iterable[Figure], games: int) -> Finding:
    """What a scorer reaches without reading the statement, for audits without an alarm."""
    blind = [row for row in rows if row.where == data.first and row.scorer.removeprefix(CONTROL) in SHORTCUTS]
    words, best = "No alarm: no figure passes its limit", max(blind, key=lambda one: one.value or 0.0, default=None)
    if best:
        knows = CONTROLS[best.scorer.removeprefix(CONTROL)].words
        reached = with_interval(best.value, best.lo, best.hi, 3)
        words += f", and what does not read the statement reaches AUROC {reached} at most ({knows})"
    few = f" With {number_of(games, data.units.games[:-1])}, only large effects can be found." if games < FEW else ""
    return Finding(f"{data.units.say(words)}.{few}", (best,) if best else (), PLAIN)


@takes(AuditSettings)
@stored
def audit(
    corpus: Any,
    labels: Iterable[Any] | None = None,
    *,
    groups: Iterable[Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    **settings: Any,
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
    own = AuditSettings.of(settings)
    if own.target:
        target_column(own.target)
    if own.split not in SCHEMES:
        raise UnknownName("split", own.split, SCHEMES)
    if out is not None:
        check_report_folder(Path(out))
    with shown(progress) as show:
        found = corpus_of(corpus, labels, groups)
        check(found)
        name, target = source_name(corpus), own.target or usual_target(found)
        said, fits = partial(show, f"audit of {name}"), count(1)
        data = read_audited(found, target, own.split, own.seed, lambda: said(min(next(fits), _FITS), _FITS))
        result = replace(checked(data, name), receipt=getattr(found, "receipt", None))
        said(_FITS, _FITS)
    return result if out is None else result.with_report(report(result), Path(out))
