"""The report of a bench: what words alone do, who is best on each data set, and what else is known of each scorer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Estimate, Report, Section, Table
from liescope.detectors.study.bench_result import SOLVED, TASK, WORDS_ALONE, Benched, BenchResult, hub_files
from liescope.detectors.study.controls import scorer_words
from liescope.detectors.study.evaluation_report import pivot
from liescope.detectors.study.figures import Figure, figure_table
from liescope.detectors.study.findings import findings
from liescope.detectors.study.metrics import LEVELS, MATCHED, POOLED, words_of
from liescope.detectors.study.scores import CONTROL, scripted_warning

_TOLD, _DRAWN = 2, 14  # data sets at the top of the page, and scorers of each in its figure
_READING = (
    "With 95% intervals; an AUROC of 0.5 is chance, and tasks count alike. A place counts only those whose lead chance "
    "does not explain, so that equals share one; two are compared on what both scored. In brackets: what "
    "of this data set it learned from; a detector without brackets learned from none of it. Judges that came with the "
    "data were run by its authors. A control knows one thing."
)
_CONTROLS = ("", "controls:", "", "")
_BY_TASK = f"Columns of tasks hold the AUROC. Words alone solve a task with their whole interval above {SOLVED:.2f}."
_MORE = {
    **{metric: f"recall at {rate:.0%} FPR" for metric, rate in MATCHED.items()},
    **{f"recall_at_{level}_fpr": f"at {rate:.0%} of the control set" for level, rate in LEVELS.items()},
    "calibration_error": "calibration error",
    POOLED: "AUROC, pooled",
}


def report(result: BenchResult) -> Report:
    """The page, its tables, and the files that show results on the Hub."""
    rates = f"each data set's own honest statements, not on ordinary chat: {result.no_control}."
    for control, count in result.control.items():
        rates = f"{count:,} ordinary conversations ({control}), for detectors as trained; else on honest statements."
    checks = [(one.data.name, check) for one in result.data for check in one.evaluation.checks if check.bad]
    alarms = [f"{name}: {words}" for name, check in checks if check.scorer != WORDS_ALONE for words in check.sentences]
    scripted = scripted_warning({source for one in result.data for source in one.evaluation.sources})
    sections = [section for number, one in enumerate(result.data) for section in _sections(one, number)]
    return Report(
        title=f"Lie detectors on the suite {result.suite.name}",
        findings=tuple(found.words for found in result.findings[: 1 + _TOLD]),
        figure=_figure(result),
        figure_alt="AUROC of each detector and judge with its interval, and of words alone, for the first data sets",
        notes=(*alarms, *filter(None, [scripted]), f"Recall at 1 and 5% false positives is on {rates}"),
        meta=f"{result.suite.about} Intervals are over whole groups; seed {result.seed}.".strip(),
        sections=(*sections, Section("notes", "What was left out, and why", result.notes, printed=True)),
        tables={"report": figure_table(result.rows)},
        files={"report.json": result.to_json(), **hub_files(result)},
    )


def _sections(one: Benched, number: int) -> Iterator[Section]:
    rows = list(filter(None, map(one.figure, one.evaluation.scores["scorer"].unique())))
    rows.sort(key=lambda row: (one.places.get(row.scorer, len(rows)), -(row.value or 0.0), row.scorer))
    slug, chapter = re.sub(r"[^a-z0-9]+", "-", one.data.name.lower()).strip("-"), one.data.name
    table: list[tuple[Any, ...]] = [
        (one.places[row.scorer], row.scorer, _cell(row), _cell(one.figure(row.scorer, against=WORDS_ALONE)))
        for row in rows
        if row.scorer in one.places
    ]
    controls = [("", _name(row), _cell(row), "") for row in rows if row.scorer.startswith(CONTROL)]
    yield Section(
        f"{slug}-ranking",
        words_of(one.metric, one.evaluation.within),
        (findings(one.evaluation)[1].words, *([one.finding.words] if number >= _TOLD else [])),
        _READING,
        table=Table(("place", "scorer", "AUROC", "ahead of words alone"), [*table, _CONTROLS, *controls]),
        chapter=chapter,
        file="report.csv",
        printed=True,
    )
    tasks = {task: task + " – solved by words" * (task in one.solved) for task in one.tasks}

    def title(row: Figure) -> str:
        if row.where == one.evaluation.plan.split:
            return _MORE.get(row.metric, "")
        return tasks.get(row.where.partition(f":{TASK}")[2], "") if row.metric == one.metric else ""

    names = [row.scorer for row in rows]
    kept = [row for row in one.evaluation.rows if row.against is None and row.scorer in names]
    kept.sort(key=lambda row: (names.index(row.scorer), f":{TASK}" not in row.where))
    more = pivot(kept, title, ("scorer",), lambda row: (_name(row),))
    said = (*_source(one), _BY_TASK)
    yield Section(f"{slug}-more", "By task, recall, calibration", said, table=more, chapter=chapter, folded=True)


def _source(one: Benched) -> tuple[str, ...]:
    """Where the data come from, what is measured of them, and the time that it took."""
    data, facts = one.data, one.to_json()
    said = [data.url, f"licence: {data.licence or 'not stated'}", one.sha256 and f"SHA-256 {one.sha256}"]
    said += [f"label_{facts['target']}", f"split: {facts['split']}"]
    spent = ", ".join(f"{name} {seconds:,.1f}" for name, seconds in one.seconds.items())
    source = f"{data.about} Source: {'; '.join(filter(None, [str(data.hub or data.file), *said]))}.".strip()
    return (source, *[f"Seconds of fitting and scoring: {spent}."] * bool(spent))


def _name(row: Figure) -> str:
    return scorer_words(row.scorer).removeprefix("control: ")


def _cell(row: Figure | None) -> Estimate | None:
    return None if row is None else Estimate(row.value, row.lo, row.hi)


def _figure(result: BenchResult) -> str:
    dots = []
    for one in result.data[:_TOLD]:
        names = sorted(one.places, key=lambda name: one.places[name])[:_DRAWN]
        rows = sorted(filter(None, map(one.figure, (*names, WORDS_ALONE))), key=lambda row: -(row.value or 0.0))
        dots += [Dot(_name(row), row.value, row.lo, row.hi, facet=one.data.name) for row in rows]
    return svg(dots_with_intervals(dots, "AUROC (dotted: chance)", reference=0.5), "bench") if dots else ""
