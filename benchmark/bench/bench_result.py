"""What a bench found: every figure of every scorer on every data set, the whole, and its files for the Hub."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from liescope.common.report.contents import with_interval
from liescope.detectors.study.metrics import LEVELS, WITHIN

if TYPE_CHECKING:
    from liescope.detectors.suite import SuiteData

AS_TRAINED, ASKED, CAME = "as trained", "asked here", "came with the data"
GROUPS_OUT, TASK_OUT, MODEL_OUT = "groups left out", "task left out", "model left out"
"""How a score came about. Left out: learned from this data set without the group (a game, a conversation or what the
source groups), the task or the speaking model that is scored.
"""
WORDS, OPENINGS, LENGTH = "words alone", "first words alone", "length alone"
FLOORS = (WORDS, OPENINGS, LENGTH)
"""What is learned of a data set without reading for lies: TF-IDF of the statement, of its first words, and its length,
each out of fold with groups left out.
"""
SOLVED = 0.7
"""Words alone do a task whose AUROC, groups left out, surely lies above this (the lower end of its 95% interval)."""
CONTROL_RECALL = {name: f"recall_at_{name}_of_control" for name in LEVELS}
HONEST_RECALL = {name: f"recall_at_{name}_of_honest" for name in LEVELS}


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One figure. task: "" for all; how: one of the ways above; against: whose figure was subtracted."""

    data: str
    task: str
    detector: str
    how: str
    metric: str
    value: float | None
    lo: float | None
    hi: float | None
    statements: int
    groups: int
    against: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What one data set shows. facts: about the data, for people and programs; rows: every figure; places: of each
    scorer that is no floor, 1 plus how many are surely better; notes: what was left out, and why.
    """

    data: SuiteData
    target: str
    within: str
    facts: Mapping[str, Any]
    rows: tuple[BenchRow, ...]
    places: Mapping[tuple[str, str], int]
    seconds: Mapping[tuple[str, str], float]
    notes: tuple[str, ...]
    costs: Mapping[str, float | None] = field(default_factory=dict)

    def row(self, detector: str, how: str, metric: str, task: str = "", against: str = "") -> BenchRow | None:
        """A figure, None where it is not defined."""
        wanted = (detector, how, metric, task, against)
        return next((r for r in self.rows if (r.detector, r.how, r.metric, r.task, r.against) == wanted), None)

    @property
    def tasks(self) -> list[str]:
        return list(dict.fromkeys(row.task for row in self.rows if row.task))

    @property
    def solved(self) -> list[str]:
        """The tasks that words alone do; "" stands for a data set without tasks."""
        rows = [row for task in self.tasks or [""] if (row := self.row(WORDS, GROUPS_OUT, WITHIN, task))]
        return [row.task for row in rows if row.lo is not None and row.lo > SOLVED]


@dataclass(frozen=True, slots=True, repr=False)
class BenchResult:
    """What `bench` found.

    suite: its name; data: what each data set shows; missing: those that could not be had, with the reason; control: the
    name of the control set, "" where honest statements of each data set stand for it, and why; sizes: bytes of the
    trained detectors; files: those of the report.
    """

    suite: str
    about: str
    data: tuple[Found, ...]
    missing: dict[str, str]
    control: str
    control_count: int
    no_control: str
    sizes: dict[str, int]
    seed: int
    files: tuple[Path, ...] = ()
    kinds: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> pl.DataFrame:
        """Every figure: data, task ("" for all), detector, how, metric, value, lo, hi, statements, groups, against."""
        numbers = dict.fromkeys(("value", "lo", "hi"), pl.Float64)
        schema: dict[str, Any] = {
            name: numbers.get(name, pl.Int64 if name in ("statements", "groups") else pl.String)
            for name in BenchRow.__slots__
        }
        return pl.DataFrame([asdict(row) for found in self.data for row in found.rows], schema=schema)

    @property
    def findings(self) -> tuple[str, ...]:
        """Three sentences at most that say what was found."""
        from liescope.benchmark.bench.bench_report import findings

        return findings(self)

    def to_json(self) -> dict[str, Any]:
        """What bench.json holds and `liescope bench --json` prints."""
        return {
            "bench": self.suite,
            "liescope": version("liescope"),
            "control": {"name": self.control, "conversations": self.control_count, "why_none": self.no_control},
            "seed": self.seed,
            "data": [_plain(found) for found in self.data],
            "missing": self.missing,
            "kinds": self.kinds,
            "bytes": self.sizes,
        }

    def __repr__(self) -> str:
        return f"<BenchResult {self.suite}: {len(self.data)} data sets, {len(self.missing)} missing>"


def _plain(found: Found) -> dict[str, Any]:
    return {
        "name": found.data.name,
        **found.facts,
        "within": found.within,
        "words_alone_do": found.solved,
        "places": [{"detector": name, "how": how, "place": place} for (name, how), place in found.places.items()],
        "seconds": [{"detector": name, "how": how, "seconds": spent} for (name, how), spent in found.seconds.items()],
        "costs": dict(found.costs),
        "rows": [asdict(row) for row in found.rows],
        "notes": list(found.notes),
    }


def hub_files(result: BenchResult) -> dict[str, str]:
    """For each detector as trained, `hub/MODEL/.eval_results/DATA.yaml`; for each data set on the Hub,
    `hub/DATA/eval.yaml`, which its repository needs for these to show. JSON, which is YAML too.
    """
    found: dict[str, str] = {}
    for one in result.data:
        if not one.data.hub:
            continue
        files = {
            f"hub/{_slug(model)}/.eval_results/{_slug(one.data.name)}.yaml": [_entry(result, one, model)]
            for model, how in one.places
            if how == AS_TRAINED and one.row(model, how, WITHIN) is not None
        }
        if files:
            found |= {name: _yaml(content) for name, content in files.items()}
            found[f"hub/{_slug(one.data.name)}/eval.yaml"] = _yaml(_benchmark(one))
    return found


def _entry(result: BenchResult, one: Found, model: str) -> dict[str, Any]:
    repo, config = _repo(one)
    row = one.row(model, AS_TRAINED, WITHIN)
    assert row is not None
    said = f"AUROC within {one.within}, {with_interval(row.value, row.lo, row.hi, 3)}, {row.statements:,} statements; "
    return {
        "dataset": {"id": repo, "task_id": config or "default"},
        "value": row.value,
        "notes": f"{said}liescope bench, suite {result.suite}",
    }


def _benchmark(one: Found) -> dict[str, Any]:
    _, config = _repo(one)
    return {
        "name": one.data.name,
        "description": f"{one.data.about} AUROC of a lie detector within {one.within}.".strip(),
        "tasks": [{"id": config or "default", **({"config": config} if config else {})}],
    }


def _repo(one: Found) -> tuple[str, str]:
    repo, _, config = one.data.hub.partition(":")
    return repo, config


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "model"


def _yaml(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
