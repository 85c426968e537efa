"""The audit of a corpus: a study whose scorers know one thing each, and checks that are no scores."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from liescope.common.errors import UnknownName
from liescope.common.report.contents import Report, with_interval
from liescope.common.report.files import check_report_folder, write
from liescope.common.settings import resolve, takes
from liescope.common.text import Units, number_of
from liescope.detectors.detector_settings import AuditSettings
from liescope.detectors.examples import target_column, usual_target
from liescope.detectors.own_rows import corpus_of, source_name
from liescope.detectors.progress import shown
from liescope.detectors.study.alarms import PLAIN, SEVERITIES, Checked
from liescope.detectors.study.associations import associations, missing
from liescope.detectors.study.audited import SCHEMES, Audited, AuditPlan, read_audited
from liescope.detectors.study.controls import scorer_words
from liescope.detectors.study.figures import Figure, Finding, figure_table, study_json
from liescope.detectors.study.leaks import COPIES, SHUFFLES, copies, division, shuffled
from liescope.detectors.study.reasoning import reasoning
from liescope.detectors.study.scores import scripted_warning
from liescope.detectors.study.shortcuts import SCORERS, SHORTCUTS, scorers
from liescope.detectors.study.telling import telling
from liescope.generate.corpus import check

CHECKS = (scorers, telling, reasoning, copies, division, missing, associations, shuffled)
FEW = 30
"""Below so many games little can be found."""
_FITS = 110  # of an audit, about, beside the shuffles


@dataclass(frozen=True, repr=False)
class AuditResult:
    """What an audit found. units: what the corpus calls its statements and games; parts: what each check found;
    sources: where the words come from; told, files: the report, and its files, if one was written.
    """

    corpus: str
    plan: AuditPlan
    units: Units
    statements: int
    games: int
    prevalence: float
    parts: tuple[Checked, ...]
    sources: tuple[str, ...]
    told: Report | None = None
    files: tuple[Path, ...] = ()

    @property
    def rows(self) -> tuple[Figure, ...]:
        return tuple(figure for part in self.parts for figure in part.figures)

    @property
    def table(self) -> pl.DataFrame:
        """Every figure: scorer, target, where, metric, value, lo, hi, statements, games, prevalence, against, why."""
        return figure_table(self.rows)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The worst first; where none is an alarm, that first. What makes all figures doubtful leads its like."""
        order, doubtful = list(SEVERITIES), (SHUFFLES, COPIES)
        found = sorted(
            ((found.severity, part.name not in doubtful, found) for part in self.parts for found in part.findings),
            key=lambda one: (order.index(one[0]), one[0] == PLAIN or one[1]),
        )
        alarm = bool(found) and found[0][0] != PLAIN
        return (*(() if alarm else (self._no_alarm(),)), *(one for *_, one in found))

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings that are not plain."""
        return tuple(found for found in self.findings if found.severity != PLAIN)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(filter(None, [scripted_warning(self.sources)]))

    def _no_alarm(self) -> Finding:
        scored = next((part.figures for part in self.parts if part.name == SCORERS), ())
        blind = [one for one in scored if one.value is not None and one.scorer.partition(":")[2] in SHORTCUTS]
        words, best = "No alarm: no figure passes its limit", max(blind, key=lambda one: one.value or 0.0, default=None)
        if best is not None:
            knows = scorer_words(best.scorer).removeprefix("control: ")
            reached = with_interval(best.value, best.lo, best.hi, 3)
            words += f", and what does not read the statement reaches AUROC {reached} at most ({knows})"
        few = f" With {number_of(self.games, self.units.games[:-1])}, only large effects can be found."
        return Finding(f"{words}.{few if self.games < FEW else ''}", (best,) if best else (), PLAIN)

    def to_json(self) -> dict[str, Any]:
        """What `liescope audit --json` prints."""
        counted = {"statements": self.statements, "games": self.games, "prevalence": self.prevalence}
        facts = {"corpus": self.corpus, **asdict(self.plan), **counted, "sources": list(self.sources)}
        return study_json(self.findings, self.rows, self.notes, **facts)

    def __str__(self) -> str:
        """The findings in words, the worst first."""
        return "\n".join(f"{found.severity}: {found.words}" for found in self.findings)

    def __repr__(self) -> str:
        counted = [sum(found.severity == severity for found in self.findings) for severity in SEVERITIES]
        kinds = ", ".join(f"{n} {severity}" for n, severity in zip(counted, SEVERITIES, strict=True))
        return f"<AuditResult {self.corpus}, {self.plan.target}: {kinds}>"


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
        plan = AuditPlan(target, own["split"], own["shuffles"], own["draws"], own["seed"])
        fits, done = _FITS + plan.shuffles, count(1)
        data = read_audited(folder, plan, lambda: show(f"audit of {name}", min(next(done), fits), fits))
        result = checked(data, name)
        show(f"audit of {name}", fits, fits)
    if out is None:
        return result
    from liescope.detectors.study.audit_report import report

    told = report(result)
    return replace(result, told=told, files=tuple(write(told, Path(out))))
