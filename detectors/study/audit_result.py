"""A finished audit, and its report: the worst findings, what each cheap scorer reaches, everything else folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from liescope.common.report.contents import Column, Report, Section, Table
from liescope.common.text import Units
from liescope.detectors.study.audited import TEST
from liescope.detectors.study.controls import CONTROLS, short_name
from liescope.detectors.study.figures import PLAIN, SEVERITIES, Figure, Finding, StudyResult, as_estimate
from liescope.detectors.study.metrics import words_of
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD

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
    rest = Table(("", "finding"), [(found.severity, found.words) for found in result.findings[_TOLD:]])
    best = Table(("it knows only", *(Column(_PLACES[where], format=".3f") for where in places)), values)
    columns = ("what", "where", Column("value (95%)", format=".3f"), "figure", "rows", result.called.games)
    grades = " ".join(f"{severity.capitalize()}: {meaning}." for severity, meaning in SEVERITIES.items())
    chance = "AUROC; 0.5 is chance. A detector that does no better may know no more."
    file = "report.csv"
    return [
        Section("findings", "What else was found", caption=grades, table=rest, printed=True),
        Section("scorers", "What cheap scorers reach", caption=chance, table=best, file=file, printed=True),
        Section("figures", "Every other figure", table=Table(columns, others), folded=True, file=file),
        Section("not-shown", "What this does not show", (say(_NOT_SHOWN),)),
    ]


def _is_scorer(row: Figure) -> bool:
    return row.where in _PLACES and row.scorer.removeprefix(CONTROL) in CONTROLS and not row.against
