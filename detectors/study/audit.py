"""The audit of a corpus: a study whose scorers each know one thing, and checks that are not about scores; and its
report: the worst findings, what each cheap scorer reaches, everything else folded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from liescope.common.report.contents import Column, Report, ReportTable, Section, with_interval
from liescope.common.report.files import check_report_folder
from liescope.common.settings import takes
from liescope.common.stores import stored
from liescope.common.text import Units, number_of
from liescope.detectors.detector import shown
from liescope.detectors.detector_settings import AuditSettings
from liescope.detectors.examples import usual_target
from liescope.detectors.material import corpus_of, source_name
from liescope.detectors.study.audit_checks import SHORTCUTS, copies, division, missing, reasoning, scorers, shuffled
from liescope.detectors.study.audited import TEST, Audited, read_audited
from liescope.detectors.study.controls import CONTROLS, short_name
from liescope.detectors.study.figures import PLAIN, SEVERITIES, Figure, Finding, StudyResult, as_estimate
from liescope.detectors.study.metrics import words_of
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD, scripted_warning
from liescope.generate.corpus.read import check, silent_note

_TOLD = 3
_PLACES = {OUT_OF_FOLD: "out of fold", TEST: "train to test"}
_HOW = (
    "Out of fold: folds by game over the whole corpus; train to test: the corpus's own split. 95% intervals are over "
    "whole games. A figure is an alarm only if it passes a limit by three standard errors."
)
_NOT_SHOWN = (
    "Only what stands here was looked for: no alarm is no proof that a detector would read for lies. A word may tell "
    "because of what it means: read where it stands. Figures over all games say little about one game where games "
    "differ in how many deceive."
)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class AuditResult(StudyResult):
    """What an audit found. found: the worst first; if none is an alarm, the finding that says so; called: what the
    corpus calls its statements and games; sources: where the words come from.
    """

    corpus: str
    target: str
    split: str
    seed: int
    statements: int
    games: int
    prevalence: float
    sources: tuple[str, ...]
    found: tuple[Finding, ...]
    called: Units

    @property
    def findings(self) -> tuple[Finding, ...]:
        return self.found

    @property
    def alarms(self) -> tuple[Finding, ...]:
        """The findings with a severity."""
        return tuple(found for found in self.findings if found.severity != PLAIN)

    @property
    def facts(self) -> dict[str, Any]:
        asked = ("corpus", "target", "split", "seed", "statements", "games", "prevalence")
        return {**{name: getattr(self, name) for name in asked}, "sources": list(self.sources)}

    def __str__(self) -> str:
        """The findings in words, the worst first."""
        return "\n".join(f"{found.severity}: {found.words}" for found in self.findings)

    __repr__ = __str__


def report(result: AuditResult) -> Report:
    """The worst findings, what each cheap scorer reaches, everything else folded."""
    say, counted = result.called.say, result.called.counted(result.statements, result.games, "labelled")
    return Report(
        f"What a detector could exploit in {result.corpus}",
        tuple(
            f"{found.severity.capitalize()}: {found.words}" if found.severity != PLAIN else found.words
            for found in result.findings[:_TOLD]
        ),
        notes=result.notes,
        meta=f"label_{result.target}: {counted}, {result.prevalence:.1%} deceptive. {say(_HOW)}",
        sections=tuple(section for section in _sections(result) if section.table is None or section.table.rows()),
        tables={"report": result.metrics},
        files={"report.json": result.to_json()},
    )


def _sections(result: AuditResult) -> list[Section]:
    say, scored = result.called.say, {(row.scorer, row.where): row for row in result.rows if _is_scorer(row)}
    places = [where for where in _PLACES if any(at == where for _, at in scored)]
    values = [
        (short_name(scorer), *(as_estimate(scored[scorer, where]) for where in places))
        for scorer in dict.fromkeys(scorer for scorer, _ in scored)
    ]
    others = [
        (
            short_name(row.scorer),
            row.where if "=" in row.where else say(row.where),
            as_estimate(row),
            words_of(row.metric, ""),
            row.statements,
            row.games,
        )
        for row in result.rows
        if not _is_scorer(row)
    ]
    rest = ReportTable(("", "finding"), [(found.severity, found.words) for found in result.findings[_TOLD:]])
    best = ReportTable(("it knows only", *(Column(_PLACES[where], format=".3f") for where in places)), values)
    columns = ("what", "where", Column("value (95%)", format=".3f"), "figure", "rows", result.called.games)
    grades = " ".join(f"{severity.capitalize()}: {meaning}." for severity, meaning in SEVERITIES.items())
    chance = "AUROC; 0.5 is chance. A detector that does no better may know no more."
    file = "report.csv"
    return [
        Section("findings", "What else was found", caption=grades, table=rest, printed=True),
        Section("scorers", "What cheap scorers reach", caption=chance, table=best, file=file, printed=True),
        Section("figures", "Every other figure", table=ReportTable(columns, others), folded=True, file=file),
        Section("not-shown", "What this does not show", (say(_NOT_SHOWN),)),
    ]


def _is_scorer(row: Figure) -> bool:
    return row.where in _PLACES and row.scorer.removeprefix(CONTROL) in CONTROLS and not row.against


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
        notes=(*data.notes, *filter(None, [scripted_warning(sources)]), *silent_note(data.games)),
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
        reached = with_interval(best.value, best.lo, best.hi, ".3f")
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
    **settings

    Raises UnknownName for a target or split; BadData for a damaged corpus; UsageError for a corpus that lacks labels of
    both classes, or an `out` that contains something else.

    Examples
    --------
    >>> for found in liescope.audit("corpus/mini").findings:
    ...     print(found.severity, found.words)
    """
    own = AuditSettings.of(settings)
    check_report_folder(out)
    with shown(progress) as show:
        found = corpus_of(corpus, labels, groups)
        check(found)
        name, target = source_name(corpus), own.target or usual_target(found)
        said, fits = partial(show, f"audit of {name}"), count(1)
        data = read_audited(found, target, own.split, own.seed, lambda: said(min(next(fits), _FITS), _FITS), own.most)
        result = replace(checked(data, name), receipt=getattr(found, "receipt", None))
        said(_FITS, _FITS)
    return result if out is None else result.with_report(report(result), Path(out))
