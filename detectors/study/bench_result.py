"""What a bench found: what `evaluate` finds on each data set of a suite, places, seconds, and files for the Hub."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from liescope.common.report.contents import Report, with_interval
from liescope.detectors.study.controls import WORDS
from liescope.detectors.study.figures import Figure, Finding, figure_table, study_json
from liescope.detectors.study.findings import verdict_of
from liescope.detectors.study.metrics import DIFFERENCE, POOLED, WITHIN, words_of
from liescope.detectors.study.result import EvaluationResult
from liescope.detectors.study.scores import CONTROL
from liescope.detectors.suite import Suite, SuiteData

WORDS_ALONE = CONTROL + WORDS
SOLVED = 0.7
"""Words alone do a task whose AUROC surely lies above this (the lower end of its 95% interval)."""
TASK, MEAN = "task=", "mean of tasks"


@dataclass(frozen=True, slots=True)
class Benched:
    """What one data set shows. evaluation: as of `evaluate`, but with tasks that count alike; places: by scorer, 1 plus
    how many are ahead of it by more than chance explains; seconds: of fitting and scoring.
    """

    data: SuiteData
    evaluation: EvaluationResult
    places: Mapping[str, int]
    seconds: Mapping[str, float]
    sha256: str

    def placed(self, row: Figure) -> Figure:
        """A figure with the data set before its place, and behind it that it is a mean of tasks, where it is."""
        mean = self.evaluation.within == "tasks" and row.metric.removesuffix(DIFFERENCE) == WITHIN
        of = f":{MEAN}" if mean and f":{TASK}" not in row.where else ""
        return replace(row, where=f"{self.data.name}:{row.where}{of}")

    def figure(self, scorer: str, metric: str = "", task: str = "", against: str | None = None) -> Figure | None:
        """One that is defined; the AUROC by which scorers are judged where no metric is named."""
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
        """Those that have figures of their own."""
        found = (row.where.partition(f":{TASK}")[2] for row in self.evaluation.rows)
        return list(dict.fromkeys(filter(None, found)))

    @property
    def solved(self) -> list[str]:
        """The tasks that words alone do; "" stands for a data set without tasks."""
        rows = {task: self.figure(WORDS_ALONE, task=task) for task in self.tasks or [""]}
        return [task for task, row in rows.items() if row and row.lo is not None and row.lo > SOLVED]

    @property
    def finding(self) -> Finding:
        """The answer of `evaluate` about whoever is best here."""
        verdict = verdict_of(self.evaluation)
        rests = (*([verdict.best] if verdict.best else []), *verdict.rests_on)
        return Finding(f"On {self.data.name}, {verdict.words}", tuple(map(self.placed, rests)))

    def to_json(self) -> dict[str, Any]:
        return {
            **self.data.model_dump(include={"name", "hub", "file", "url", "licence"}),
            "sha256": self.sha256,
            "target": self.evaluation.targets[0],
            "split": self.evaluation.plan.split,
            "words_alone_do": self.solved,
            "places": dict(self.places),
            "seconds": dict(self.seconds),
            "judges": [judge.to_json() for judge in self.evaluation.judges],
        }


@dataclass(frozen=True, slots=True, repr=False)
class BenchResult:
    """What `bench` found. control: how many ordinary conversations there were, by the name of their set, or no_control,
    why none; missing: data sets that could not be had, and why; told, files: the report, and its files, if one was
    written.
    """

    suite: Suite
    data: tuple[Benched, ...]
    missing: Mapping[str, str]
    control: Mapping[str, int]
    no_control: str
    seed: int
    told: Report | None = None
    files: tuple[Path, ...] = ()

    @property
    def rows(self) -> tuple[Figure, ...]:
        """Every figure; where: the data set, the split, and behind colons a task, a model or "mean of tasks"."""
        return tuple(one.placed(row) for one in self.data for row in one.evaluation.rows)

    @property
    def metrics(self) -> pl.DataFrame:
        """The figures as a frame: scorer, target, where, metric, value, lo, hi, statements, games, prevalence,
        against, why.
        """
        return figure_table(self.rows)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What words alone do, first; then who is best on each data set, and what that is worth."""
        return (_about_words(self.data), *(one.finding for one in self.data))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, and why."""
        gone = [f"{name} could not be measured: {why}" for name, why in self.missing.items()]
        return (*gone, *(f"{one.data.name}: {words}" for one in self.data for words in one.evaluation.notes))

    def to_json(self) -> dict[str, Any]:
        """What `liescope bench --json` prints, and report.json holds."""
        facts = {"suite": self.suite.name, "seed": self.seed, "missing": dict(self.missing)}
        facts |= {"control": dict(self.control), "why_no_control": self.no_control}
        return study_json(self.findings, self.rows, self.notes, data=[one.to_json() for one in self.data], **facts)

    def __str__(self) -> str:
        """The findings in words; the first says what words alone do."""
        return "\n".join(found.words for found in self.findings)

    def __repr__(self) -> str:
        return f"<BenchResult {self.suite.name}: {len(self.data)} data sets, {len(self.missing)} missing>"


def _about_words(data: tuple[Benched, ...]) -> Finding:
    """On every data set, what words alone reach, and where they alone do it."""
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


def hub_files(result: BenchResult) -> dict[str, str]:
    """For each detector as trained, `hub/MODEL/.eval_results/DATA.yaml`; for each data set on the Hub,
    `hub/DATA/eval.yaml`, which its repository needs for these to show. JSON, which is YAML too.
    """
    found: dict[str, Any] = {}
    for one in (one for one in result.data if one.data.hub):
        (repo, _, config), data = one.data.hub.partition(":"), _slug(one.data.name)
        what = words_of(one.metric, one.evaluation.within)
        for model in one.evaluation.models:
            if row := one.figure(model):
                said = f"{what}, {with_interval(row.value, row.lo, row.hi, 3)}, {row.statements:,} statements"
                task = {"id": repo, "task_id": config or "default"}
                notes = f"{said}; liescope bench, suite {result.suite.name}"
                entry = {"dataset": task, "value": row.value, "notes": notes}
                found[f"hub/{_slug(model)}/.eval_results/{data}.yaml"] = [entry]
                found[f"hub/{data}/eval.yaml"] = {
                    "name": one.data.name,
                    "description": f"{one.data.about} {what} of a lie detector.".strip(),
                    "tasks": [{"id": config or "default", **({"config": config} if config else {})}],
                }
    return {name: json.dumps(content, ensure_ascii=False, indent=1) + "\n" for name, content in found.items()}


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"
