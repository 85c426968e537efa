"""The report of a bench: the ranking on each data set, its tasks, what words alone do there, and files for the Hub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from liescope.benchmark.bench.bench_result import (
    AS_TRAINED,
    CONTROL_RECALL,
    FLOORS,
    GROUPS_OUT,
    HONEST_RECALL,
    MODEL_OUT,
    SOLVED,
    TASK_OUT,
    WORDS,
    BenchResult,
    BenchRow,
    Found,
)
from liescope.common.figures import Dot, dots_with_intervals, svg
from liescope.common.report.contents import Column, Report, Section, Table, with_interval
from liescope.common.text import plain
from liescope.detectors.study.metrics import LEVELS, WITHIN

BENCH_JSON = "bench.json"
MEAN = ", mean of the tasks"
_DRAWN = 14  # rows of a panel of the first figure
_PANELS = 2
_HOWS = {
    AS_TRAINED: "as trained",
    GROUPS_OUT: "learned here, other groups",
    TASK_OUT: "learned here, other tasks",
    MODEL_OUT: "learned here, other models",
}
_UNIT = {"games": "game", "tasks": "task, averaged over tasks that count alike"}
_READING = (
    "AUROC: how often a deceptive statement scores above an honest one of the same {unit}; 0.5 is chance. In brackets, "
    "95% intervals over whole groups. A place counts only those whose lead chance does not "
    "explain, so that equals share one; differences are not corrected for their number."
)


def report(result: BenchResult) -> Report:
    """The page, its tables, bench.json, and the files that show results on the Hub."""
    from liescope.benchmark.bench.bench_result import hub_files

    sections = [section for found in result.data for section in _sections(result, found)]
    if result.missing:
        table = Table(["data set", "why"], list(result.missing.items()))
        sections.append(Section("missing", "Data sets that could not be measured", table=table, chapter="Not measured"))
    hub = hub_files(result)
    return Report(
        title=f"Lie detectors on the suite {result.suite}",
        findings=findings(result),
        figure=_figure(result),
        figure_alt="AUROC of each detector and judge with its interval, and of words alone, for the first data sets",
        notes=tuple(_notes(result)),
        meta=f"{result.about} Intervals are over whole groups; seed {result.seed}.".strip(),
        sections=tuple(sections),
        tables={"bench": result.rows},
        files={BENCH_JSON: json.dumps(result.to_json(), ensure_ascii=False, indent=1) + "\n", **hub},
    )


def findings(result: BenchResult) -> tuple[str, ...]:
    """What words alone do, first; then who ranks first on each of the first data sets, where that is settled."""
    return (_about_words(result), *(_best(found) for found in result.data[:_PANELS]))


def _about_words(result: BenchResult) -> str:
    """On every data set, what words alone reach, and where they alone do it."""
    told = []
    for found in result.data:
        whole = found.row(WORDS, GROUPS_OUT, WITHIN)
        if whole is None:
            continue
        by_task = [(task, row) for task in found.tasks if (row := found.row(WORDS, GROUPS_OUT, WITHIN, task))]
        parts = f" ({', '.join(f'{task} {row.value:.2f}' for task, row in by_task)})" if len(by_task) > 1 else ""
        told.append((found, f"{with_interval(whole.value, whole.lo, whole.hi)} on {found.data.name}{parts}"))
    if not told:
        return "Words alone could not be measured on any of these data sets."
    solved = [
        found.data.name + (f" ({', '.join(found.solved)})" if any(found.solved) else "")
        for found, _ in told
        if found.solved
    ]
    moral = (
        f"Their whole interval lies above {SOLVED:.2f} on {'; '.join(solved)}: a high score there may reflect word "
        "choice, not deception."
        if solved
        else f"On none of these does their whole interval lie above {SOLVED:.2f}."
    )
    reached = "; ".join(words for _, words in told[:3]) + ("; …" if len(told) > 3 else "")
    return f"Word counts alone, learned on other groups of the same data, reach an AUROC of {reached}. {moral}"


def _best(found: Found) -> str:
    ranked = [row for key in found.places if (row := found.row(*key, WITHIN)) is not None and row.value is not None]
    if not ranked:
        return f"On {found.data.name} no score can be compared."
    best = max(ranked, key=lambda row: row.value or 0.0)
    equal = [
        row
        for row in ranked
        if row is not best and found.places[row.detector, row.how] <= found.places[best.detector, best.how]
    ]
    said = (
        f"On {found.data.name}, {_name(best)} has the highest AUROC within {found.within}, "
        f"{with_interval(best.value, best.lo, best.hi)}"
    )
    beside = found.row(best.detector, best.how, WITHIN, against=WORDS)
    words = ""
    if beside is not None and beside.value is not None and beside.lo is not None and beside.hi is not None:
        clear = beside.lo > 0 or beside.hi < 0
        words = (
            f"; {'ahead of' if beside.value > 0 else 'behind'} words alone by {with_interval(*_positive(beside))} "
            "on the statements that both scored"
            if clear
            else "; it is not shown to do better than words alone"
        )
    if len(ranked) == 1:
        return f"{said}{words}."
    if not equal:
        return f"{said}, more than chance explains ahead of each of the other {len(ranked) - 1}{words}."
    names = ", ".join(_name(row) for row in equal[:3]) + (f" and {len(equal) - 3} more" if len(equal) > 3 else "")
    return f"{said}, but chance may explain its lead over {names}{words}."


def _positive(row: BenchRow) -> tuple[float | None, float | None, float | None]:
    if row.value is None or row.lo is None or row.hi is None or row.value >= 0:
        return row.value, row.lo, row.hi
    return -row.value, -row.hi, -row.lo


def _name(row: BenchRow) -> str:
    return f"{row.detector} ({_HOWS.get(row.how, row.how)})"


def _notes(result: BenchResult) -> Iterator[str]:
    if result.control:
        yield (
            f"Recall at 1 and 5% false positives is at the threshold that flags so many of {result.control_count:,} "
            f"ordinary conversations ({result.control}), for detectors as they were trained; for all others, of each "
            "data set's own honest statements."
        )
    else:
        yield (
            "Recall at 1 and 5% false positives is on each data set's own honest statements, not on ordinary chat: "
            f"{result.no_control}."
        )
    yield (
        "Detectors that learned here know the data set's other groups, tasks or models; those as trained know none of "
        "it. Judges that came with the data were run by its authors, with their own prompts."
    )


def partial(found: Found) -> str:
    """Who has no score on which task, in a sentence; "" where everybody scored all."""
    lacking: dict[str, list[str]] = {}
    for row, _ in ranking(found):
        for task in found.tasks:
            if found.row(row.detector, row.how, WITHIN, task) is None:
                lacking.setdefault(task, []).append(row.detector)
    if not lacking:
        return ""
    said = "; ".join(f"on {task}, {', '.join(dict.fromkeys(names))}" for task, names in lacking.items())
    return (
        f"No scores: {said}. Their means are over their other tasks. Places and leads compare each pair on the "
        "statements that both scored, so that a lower mean can have the better place."
    )


def ranking(found: Found) -> list[tuple[BenchRow, int | None]]:
    """Everybody's AUROC with its place, by place; a floor has none, and stands above the first that it is ahead of."""
    rows = [row for row in found.rows if row.metric == WITHIN and not row.task and not row.against]
    defined = sorted((row for row in rows if row.value is not None), key=lambda row: -(row.value or 0.0))
    placed = [(row, found.places.get((row.detector, row.how))) for row in defined]
    ranked = sorted((one for one in placed if one[1] is not None), key=lambda one: one[1] or 0)
    for row, _ in (one for one in placed if one[1] is None):
        behind = (at for at, (other, _) in enumerate(ranked) if (other.value or 0.0) < (row.value or 0.0))
        ranked.insert(next(behind, len(ranked)), (row, None))
    return ranked


def _sections(result: BenchResult, found: Found) -> Iterator[Section]:
    slug = re.sub(r"[^a-z0-9]+", "-", found.data.name.lower()).strip("-")
    chapter = found.data.name
    table = pl.DataFrame(
        [_ranked(result, found, row, place) for row, place in ranking(found)], infer_schema_length=None
    )
    yield Section(
        f"{slug}-ranking",
        "Ranking",
        tuple(filter(None, (found.data.about, partial(found)))),
        _READING.format(unit=_UNIT[found.within]),
        table=Table.of(table, _RANKING),
        chapter=chapter,
        file="bench.csv",
    )
    if len(found.tasks) > 1:
        names = [_task_heading(found, task) for task in found.tasks]
        rows = [[_name(row), *(_cell(found, row, task) for task in found.tasks)] for row, _ in ranking(found)]
        yield Section(
            f"{slug}-tasks",
            "By task",
            (
                "“Solved by words” marks a task on which the whole interval of words alone (groups left out) lies "
                f"above {SOLVED:.2f}.",
            ),
            "AUROC within each task with its 95% interval.",
            table=Table(["detector", *names], rows),
            chapter=chapter,
        )
    words = [row for row, place in ranking(found) if row.detector in FLOORS]
    yield Section(
        f"{slug}-words",
        "What words alone do",
        (
            "TF-IDF of the statement and of its first words, and its length, learned on the other groups of this data "
            "set (or on its other tasks), with no other input. What they reach, a detector may have reached in the "
            "same way.",
        ),
        table=Table(
            ["what is known", "learned on", "AUROC"],
            [[row.detector, _learned_on(row), with_interval(row.value, row.lo, row.hi)] for row in words],
        ),
        chapter=chapter,
    )
    yield Section(
        f"{slug}-data",
        "About this data set",
        table=Table(["what", "value"], _about(found)),
        chapter=chapter,
        folded=True,
    )
    if found.notes:
        yield Section(f"{slug}-notes", "Notes", tuple(found.notes), chapter=chapter)


def _learned_on(row: BenchRow) -> str:
    return {GROUPS_OUT: "other groups", TASK_OUT: "other tasks", MODEL_OUT: "other models"}.get(row.how, row.how)


def _task_heading(found: Found, task: str) -> str:
    row = found.row(WORDS, GROUPS_OUT, WITHIN, task)
    groups = f", {row.groups} groups" if row else ""
    return f"{task}{groups}{' – solved by words' if task in found.solved else ''}"


def _cell(found: Found, row: BenchRow, task: str) -> str:
    one = found.row(row.detector, row.how, WITHIN, task)
    return with_interval(one.value, one.lo, one.hi) if one else "–"


_RANKING = (
    Column("place", help="1 plus how many are better by more than chance explains; floors have none"),
    Column("detector"),
    Column("how"),
    Column("auroc", "AUROC", "z.3f", interval=True),
    Column("beside_words", "ahead of words alone", "z.3f", interval=True),
    *(Column(level, f"recall at {rate:.0%} FPR", "z.2f", interval=True) for level, rate in LEVELS.items()),
    Column("false_positives_of", "false positives of"),
    Column("calibration_error", "calibration error", "z.3f"),
    Column("tasks", help="on how many of the tasks it has scores of both classes"),
    Column("statements"),
    Column("seconds", "seconds", ".1f", help="fitting and scoring, on the machine of this run"),
    Column("cost"),
    Column("megabytes", "MB", ".1f"),
)


def _ranked(result: BenchResult, found: Found, row: BenchRow, place: int | None) -> dict[str, Any]:
    key = (row.detector, row.how)
    beside = found.row(*key, WITHIN, against=WORDS)
    control = found.row(*key, CONTROL_RECALL["1pct"]) is not None
    recalls = CONTROL_RECALL if control else HONEST_RECALL
    error = found.row(*key, "calibration_error")
    size = result.sizes.get(row.detector) if row.how == AS_TRAINED else None
    return {
        "place": place,
        "detector": row.detector,
        "how": _HOWS.get(row.how, row.how),
        **_interval("auroc", row),
        **_interval("beside_words", beside),
        **{
            name: part
            for level, metric in recalls.items()
            for name, part in _interval(level, found.row(*key, metric)).items()
        },
        "false_positives_of": result.control if control else "honest ones here",
        "calibration_error": error.value if error else None,
        "tasks": _tasks(found, row) if found.tasks else None,
        "statements": row.statements,
        "seconds": found.seconds.get(key),
        "cost": found.costs.get(row.detector),
        "megabytes": None if size is None else size / 1e6,
    }


def _tasks(found: Found, row: BenchRow) -> str:
    scored = sum(found.row(row.detector, row.how, WITHIN, task) is not None for task in found.tasks)
    return f"{scored} of {len(found.tasks)}"


def _interval(name: str, row: BenchRow | None) -> dict[str, float | None]:
    found = (row.value, row.lo, row.hi) if row else (None, None, None)
    return dict(zip((name, f"{name}_lo", f"{name}_hi"), found, strict=True))


def _about(found: Found) -> list[tuple[str, Any]]:
    facts = found.facts
    near = facts["test_nearly_in_train"]
    said = [
        ("source", facts["source"]),
        ("page", facts["url"] or None),
        ("licence", facts["licence"]),
        ("SHA-256", facts["sha256"] or None),
        ("label", f"label_{found.target}"),
        ("what is measured", "all splits" if facts["split"] == "all" else f"split {facts['split']}"),
        ("statements with the label", f"{facts['statements']:,}"),
        ("groups", f"{facts['groups']:,}"),
        ("deceptive", f"{facts['deceptive']:.1%}"),
        ("statements of 5 words or more that also stand in another group", f"{facts['repeated_in_other_groups']:.1%}"),
        ("those of test that stand nearly in train", None if near is None else f"{near:.1%}"),
    ]
    return [(what, value) for what, value in said if value is not None]


def _figure(result: BenchResult) -> str:
    dots = []
    for found in result.data[:_PANELS]:
        rows = [row for row, place in ranking(found) if place is not None][:_DRAWN]
        rows += [row for row, place in ranking(found) if (row.detector, row.how) == (WORDS, GROUPS_OUT)]
        rows.sort(key=lambda row: -(row.value or 0.0))
        dots += [Dot(_name(row), row.value, row.lo, row.hi, facet=found.data.name) for row in rows]
    if not dots:
        return ""
    return svg(dots_with_intervals(dots, "AUROC (dotted: chance)", reference=0.5), "bench")


def lines(result: BenchResult) -> Iterator[str]:
    """What the command prints."""
    from liescope.common.report.plain_text import terminal_table, wrapped

    yield from (wrapped(words) for words in (*result.findings, *_notes(result)))
    for found in result.data:
        yield ""
        yield wrapped(f"{found.data.name}: AUROC within {found.within}{MEAN if found.within == 'tasks' else ''}")
        rows = [
            [
                "–" if place is None else place,
                row.detector,
                _HOWS.get(row.how, row.how),
                with_interval(row.value, row.lo, row.hi),
            ]
            for row, place in ranking(found)
        ]
        yield from terminal_table(Table(["place", "detector", "how", "AUROC"], rows))
        yield from (wrapped(note) for note in filter(None, (partial(found), *found.notes)))
    yield from (wrapped(f"without {name}: {why}") for name, why in result.missing.items())
    page = next((file for file in result.files if file.name == "report.html"), None)
    if page:
        yield f"wrote {plain(str(page))}"
