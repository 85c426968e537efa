"""An audit as a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from liescope.common.colours import INK, MODELS
from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Report, Section, Table, with_interval
from liescope.detectors.examples import REASONING
from liescope.detectors.study.alarms import CHANCE, PLAIN, SEVERITIES
from liescope.detectors.study.associations import ASSOCIATIONS, MISSING
from liescope.detectors.study.audit_result import AuditResult
from liescope.detectors.study.audited import TEST
from liescope.detectors.study.controls import scorer_words
from liescope.detectors.study.figures import Figure, Finding
from liescope.detectors.study.leaks import COPIES, DIVISION, SHUFFLES
from liescope.detectors.study.metrics import words_of
from liescope.detectors.study.scores import CONTROL, OUT_OF_FOLD
from liescope.detectors.study.shortcuts import SCORERS, SHORTCUTS
from liescope.detectors.study.telling import TELLING

_PARTS = {
    SCORERS: ("What cheap scorers reach", "AUROC; 0.5 is chance. A detector that does no better may know no more."),
    TELLING: ("Single words and characters", "AUROC of having it, or of lacking it; chosen as the most telling."),
    REASONING: ("What speakers thought", "Of the statements that keep reasoning; and how often it names the own role."),
    COPIES: ("Copies across splits", "Of statements of five words or more, names masked."),
    DIVISION: ("How statements are divided", "TF-IDF of words, with whole batches held out, and with statements."),
    MISSING: ("Who is missing", "Shares; Cramér's V says how unevenly they are spread, from 0 to 1."),
    ASSOCIATIONS: ("What is associated", "Cramér's V, from 0 (independent) to 1, less what chance adds."),
    SHUFFLES: ("Shuffled labels", "Labels dealt to other games; the interval is from the lowest to the highest."),
}
"""The title of each part of an audit, and how to read its table."""
_TOLD = 3
_PLACES = {OUT_OF_FOLD: "out of fold", TEST: "train to test"}


def report(audit: AuditResult) -> Report:
    """The worst findings, what cheap scorers reach, every other finding by how serious it is, a table of each check."""
    say, scored = audit.units.say, next(part.figures for part in audit.parts if part.name == SCORERS)
    places = list(dict.fromkeys(row.where for row in scored))
    series = {where: _PLACES[where] if len(places) > 1 else "" for where in places}
    facets = {True: say("Without reading the statement"), False: "Its words"}
    dots = [
        Dot(_name(row), row.value, row.lo, row.hi, series[row.where], facets[blind])
        for blind in facets
        for row in scored
        if (row.scorer.removeprefix(CONTROL) in SHORTCUTS) == blind
    ]
    colours = {series[OUT_OF_FOLD]: INK, series[TEST]: MODELS[1]} if len(places) > 1 else None
    lowest = min([0.4, *(dot.lo for dot in dots if dot.lo is not None)])
    drawn = dots_with_intervals(dots, "AUROC (95%; 0.5 is chance)", colours, CHANCE, (lowest, 1.01))
    counted = audit.units.counted(audit.statements, audit.games, "labelled")
    return Report(
        f"What a detector could exploit in {audit.corpus}",
        tuple(_graded(found) for found in audit.findings[:_TOLD]),
        svg(drawn, "probes"),
        "A row for each cheap scorer: the AUROC that it reaches, with its 95% interval.",
        audit.notes,
        f"label_{audit.plan.target}: {counted}, {audit.prevalence:.1%} deceptive. "
        + say(
            "Out of fold: folds by game over the whole corpus; train to test: the corpus's own split. 95% intervals "
            f"are over whole games; seed {audit.plan.seed}. A figure is an alarm only if it passes a limit by three "
            "standard errors."
        ),
        tuple(_sections(audit)),
        tables={"report": audit.table},
        files={"report.json": audit.to_json()},
    )


def _sections(audit: AuditResult) -> Iterator[Section]:
    if rest := audit.findings[_TOLD:]:
        what = " ".join(f"{severity.capitalize()}: {meaning}." for severity, meaning in SEVERITIES.items())
        table = Table(("", "finding"), [(found.severity, found.words) for found in rest])
        yield Section("findings", "What else was found", caption=what, table=table, printed=True)
    for part in audit.parts:
        title, caption = map(audit.units.say, _PARTS[part.name])
        if part.name == SCORERS:
            table = _scorers(part.figures)
            yield Section(part.name, title, caption=caption, table=table, file="report.csv", printed=True)
        elif part.figures:
            values = [
                (_name(row), _where(row), _value(row), words_of(row.metric, ""), row.statements, row.games)
                for row in part.figures
            ]
            table = Table(("what", "where", "value (95%)", "figure", "rows", audit.units.games), values)
            folded = part.name == MISSING
            yield Section(part.name, title, caption=caption, table=table, folded=folded, file="report.csv")


def _scorers(figures: Sequence[Figure]) -> Table:
    """A row for each scorer, a column for each place."""
    places = [where for where in _PLACES if any(row.where == where for row in figures)]
    cells = {(_name(row), row.where): _value(row) for row in figures}
    rows = [(name, *(cells[name, where] for where in places)) for name in dict.fromkeys(name for name, _ in cells)]
    return Table(("it knows only", *(_PLACES[where] for where in places)), rows)


def _value(row: Figure) -> str:
    return with_interval(row.value, row.lo, row.hi, 3)


def _where(row: Figure) -> str:
    """Where it was measured; the names of models stay as they are."""
    return row.where if "=" in row.where else row.where.replace(":", ", ")


def _name(row: Figure) -> str:
    return scorer_words(row.scorer).removeprefix("control: ")


def _graded(found: Finding) -> str:
    return found.words if found.severity == PLAIN else f"{found.severity.capitalize()}: {found.words}"
