"""What a bench found: what `evaluate` finds on each data set of a suite, places, seconds; and its report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Report, ReportTable, Section
from liescope.detectors.study.controls import WORDS, short_name
from liescope.detectors.study.evaluation_report import pivot, style_section
from liescope.detectors.study.figures import Figure, Finding, StudyResult, as_estimate, figure_table
from liescope.detectors.study.findings import EvaluationResult
from liescope.detectors.study.metrics import DIFFERENCE, LEVELS, MATCHED, POOLED, WITHIN, words_of
from liescope.detectors.study.scores import CONTROL, scripted_warning
from liescope.detectors.suite import Suite, SuiteData

WORDS_ALONE = CONTROL + WORDS
SOLVED = 0.7
"""Words alone do a task whose AUROC surely lies above this (the lower end of its 95% interval)."""
TASK, MEAN = "task=", "mean of tasks"


@dataclass(frozen=True, slots=True)
class Benched:
    """The results on one data set. evaluation: as of `evaluate`, but with equal weight for tasks; places: by scorer, 1
    plus how many are ahead of it by more than chance explains; seconds: of fitting and scoring.
    """

    data: SuiteData
    evaluation: EvaluationResult
    places: Mapping[str, int]
    seconds: Mapping[str, float]
    sha256: str

    def placed(self, row: Figure) -> Figure:
        """The figure with the data set before its place and, if it is a mean over tasks, that after it."""
        mean = self.evaluation.within == "tasks" and row.metric.removesuffix(DIFFERENCE) == WITHIN
        of = f":{MEAN}" if mean and f":{TASK}" not in row.where else ""
        return replace(row, where=f"{self.data.name}:{row.where}{of}")

    def figure(self, scorer: str, metric: str = "", task: str = "", against: str | None = None) -> Figure | None:
        """A defined figure; by default the AUROC by which scorers are judged."""
        metric = (metric or self.metric) + DIFFERENCE * bool(against)
        where = self.evaluation.plan.split + (f":{TASK}{task}" if task else "")
        for row in self.evaluation.rows:
            if (row.scorer, row.metric, row.where, row.against) == (scorer, metric, where, against):
                return None if row.value is None else self.placed(row)
        return None

    @property
    def metric(self) -> str:
        return WITHIN if self.evaluation.within else POOLED

    @property
    def tasks(self) -> list[str]:
        """The tasks with figures of their own."""
        found = (row.where.partition(f":{TASK}")[2] for row in self.evaluation.rows)
        return list(dict.fromkeys(filter(None, found)))

    @property
    def solved(self) -> list[str]:
        """The tasks that words alone solve; "" stands for a data set without tasks."""
        rows = {task: self.figure(WORDS_ALONE, task=task) for task in self.tasks or [""]}
        return [task for task, row in rows.items() if row and row.lo is not None and row.lo > SOLVED]

    @property
    def finding(self) -> Finding:
        """The answer of `evaluate` about whoever is best here."""
        verdict = self.evaluation.verdict
        rests = (*([verdict.best] if verdict.best else []), *verdict.rests_on)
        return Finding(f"On {self.data.name}, {verdict.words}", tuple(map(self.placed, rests)))

    def to_json(self) -> dict[str, Any]:
        return {
            **self.data.model_dump(include={"name", "hub", "file", "url", "licence"}),
            "sha256": self.sha256,
            "target": self.evaluation.target,
            "split": self.evaluation.plan.split,
            "words_alone_do": self.solved,
            "places": dict(self.places),
            "seconds": dict(self.seconds),
            "judges": list(map(asdict, self.evaluation.judges)),
        }


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class BenchResult(StudyResult):
    """What `bench` found. control: how many ordinary conversations there were, by the name of their set, or no_control:
    why there were none; missing: data sets that were not available, and why. Of its figures, `where` is the data set,
    the split, and behind colons a task, a model or "mean of tasks".
    """

    suite: Suite
    data: tuple[Benched, ...]
    missing: Mapping[str, str]
    control: Mapping[str, int]
    no_control: str
    seed: int

    @classmethod
    def of(cls, data: Sequence[Benched], missing: Mapping[str, str], **facts: Any) -> Self:
        gone = [f"{name} could not be measured: {why}" for name, why in missing.items()]
        return cls(
            rows=tuple(one.placed(row) for one in data for row in one.evaluation.rows),
            notes=(*gone, *(f"{one.data.name}: {words}" for one in data for words in one.evaluation.notes)),
            data=tuple(data),
            missing=missing,
            **facts,
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """First, what words alone reach; then who is best on each data set, and what that is worth."""
        return (_about_words(self.data), *(one.finding for one in self.data))

    @property
    def facts(self) -> dict[str, Any]:
        own = {"suite": self.suite.name, "seed": self.seed, "missing": dict(self.missing)}
        own |= {"control": dict(self.control), "why_no_control": self.no_control}
        return {**own, "data": [one.to_json() for one in self.data]}


def _about_words(data: tuple[Benched, ...]) -> Finding:
    """What words alone reach on every data set, and where they suffice."""
    told, rests, solved = list[str](), list[Figure](), list[str]()
    for one in data:
        if (whole := one.figure(WORDS_ALONE)) is None:
            continue
        parts = {task: row for task in one.tasks if (row := one.figure(WORDS_ALONE, task=task))}
        by_task = ", ".join(f"{task} {row.value:.2f}" for task, row in parts.items())
        words = f"{whole} on {one.data.name}{by_task and f' ({by_task})'}"
        rests += [whole, *parts.values()]
        for check in one.evaluation.checks:
            if check.bad and check.scorer == WORDS_ALONE:
                words += f" ({check.sentences[0].rstrip('.')}; without them {check.figures[0]})"
                rests.append(one.placed(check.figures[0]))
        told.append(words)
        named = ", ".join(filter(None, one.solved))
        solved += [one.data.name + (named and f" ({named})")] * bool(one.solved)
    if not told:
        return Finding("Words alone could not be measured on any of these data sets.")
    moral = f"On none of these does their whole interval lie above {SOLVED:.2f}."
    if solved:
        where = f"Their whole interval lies above {SOLVED:.2f} on {'; '.join(solved)}"
        moral = f"{where}: a high score there may reflect word choice, not deception."
    reached = f"reach an AUROC of {'; '.join(told)}. {moral}"
    return Finding(f"Word counts alone, learned on other groups of the same data, {reached}", tuple(rests))


_TOLD, _DRAWN = 2, 14  # data sets in the figure at the top, and scorers of each
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
    """The page and its tables."""
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
        files={"report.json": result.to_json()},
    )


def _sections(one: Benched, number: int) -> Iterator[Section]:
    rows = list(filter(None, map(one.figure, one.evaluation.scores["scorer"].unique())))
    rows.sort(key=lambda row: (one.places.get(row.scorer, len(rows)), -(row.value or 0.0), row.scorer))
    slug, chapter = re.sub(r"[^a-z0-9]+", "-", one.data.name.lower()).strip("-"), one.data.name
    table: list[tuple[Any, ...]] = [
        (one.places[row.scorer], row.scorer, as_estimate(row), as_estimate(one.figure(row.scorer, against=WORDS_ALONE)))
        for row in rows
        if row.scorer in one.places
    ]
    controls = [("", short_name(row.scorer), as_estimate(row), "") for row in rows if row.scorer.startswith(CONTROL)]
    yield Section(
        f"{slug}-ranking",
        words_of(one.metric, one.evaluation.within),
        (one.evaluation.findings[1].words, *([one.finding.words] if number >= _TOLD else [])),
        _READING,
        table=ReportTable(("place", "scorer", "AUROC", "ahead of words alone"), [*table, _CONTROLS, *controls]),
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
    more = pivot(kept, title, ("scorer",), lambda row: (short_name(row.scorer),))
    said = (*_source(one), _BY_TASK)
    yield from style_section(one.evaluation.rows, one.evaluation.within, f"{slug}-styles", chapter)
    yield Section(f"{slug}-more", "By task, recall, calibration", said, table=more, chapter=chapter, folded=True)


def _source(one: Benched) -> tuple[str, ...]:
    """Where the data come from, what is measured of them, and how long it took."""
    data, facts = one.data, one.to_json()
    said = [data.url, f"licence: {data.licence or 'not stated'}", one.sha256 and f"SHA-256 {one.sha256}"]
    said += [f"label_{facts['target']}", f"split: {facts['split']}"]
    spent = ", ".join(f"{name} {seconds:,.1f}" for name, seconds in one.seconds.items())
    source = f"{data.about} Source: {'; '.join(filter(None, [str(data.hub or data.file), *said]))}.".strip()
    return (source, *[f"Seconds of fitting and scoring: {spent}."] * bool(spent))


def _figure(result: BenchResult) -> str:
    dots = []
    for one in result.data[:_TOLD]:
        names = sorted(one.places, key=lambda name: one.places[name])[:_DRAWN]
        rows = sorted(filter(None, map(one.figure, (*names, WORDS_ALONE))), key=lambda row: -(row.value or 0.0))
        dots += [Dot(short_name(row.scorer), row.value, row.lo, row.hi, facet=one.data.name) for row in rows]
    return svg(dots_with_intervals(dots, "AUROC (dotted: chance)", reference=0.5), "bench") if dots else ""
