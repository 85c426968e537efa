"""Every check of an audit, one after the other.

Figures also show how they change with the way statements are divided: whole batches held out, and split by statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from liescope.detectors.audit import findings as f
from liescope.detectors.audit.association import associations, missing
from liescope.detectors.audit.bench import (
    OUT_OF_FOLD,
    SCHEMES,
    TRAIN_TEST,
    Audited,
    Bench,
    Probe,
    folds_for,
)
from liescope.detectors.audit.copies import copies, without_copies
from liescope.detectors.audit.findings import (
    SEVERITIES,
    AuditPlan,
    AuditResult,
    AuditRow,
    Figure,
    Finding,
    graded,
)
from liescope.detectors.audit.marked import marked
from liescope.detectors.audit.marks import Mark
from liescope.detectors.audit.probes import (
    MASKED,
    SHORTCUTS,
    TAGGED,
    about_words,
    shortcut,
    shuffled,
    table_probes,
    texts_of,
    word_probe,
)
from liescope.detectors.audit.telling import telling
from liescope.detectors.detector import Progress, silent
from liescope.detectors.folds import fold_of

UNITS = {"batch": ("batch", "batches"), "prompt_version": ("prompt version", "prompt versions"), "run": ("run", "runs")}
"""What games can have in common beside their rules: the column, its name, its plural."""


def units_of(data: Audited) -> list[str]:
    """The units that tell some games apart, each division of the games once."""
    found: dict[tuple[int, ...], str] = {}
    for unit in UNITS:
        values = data.table[unit]
        if values.n_unique() > 1 and not values.has_nulls():
            found.setdefault(tuple(values.rank("dense").to_list()), unit)
    return list(found.values())


def held_out(data: Audited, bench: Bench, probe: Probe, unit: str) -> tuple[list[AuditRow], list[Finding]]:
    """The AUROC of words with whole units held out, beside that with games held out in as many folds."""
    one, many = UNITS[unit]
    values = data.table[unit].to_numpy().astype(np.str_)
    folds = folds_for(bench.data.y, values)
    score = bench.by_fold(probe, fold_of(bench.data.y, values, folds, bench.seed))
    if not np.isfinite(score).all():
        words = f"Whole {many} cannot be held out: what is left then has labels of one class alone."
        return [], [Finding("division", one, f.NOTABLE, words)]
    by_unit = bench.auroc(score)
    by_game = bench.grouped(probe, folds)
    lost = by_game - by_unit
    rows = [
        by_unit.row("division", f"whole {many} held out", OUT_OF_FOLD, "auroc"),
        lost.row("division", f"games minus whole {many} held out", OUT_OF_FOLD, "auroc_difference"),
    ]
    words = f"With whole {many} held out, words reach AUROC {by_unit:.3f}, {lost:.3f} less than with games held out"
    severity = graded(lost.certain, f.DIFFERENCE, f.LARGE_DIFFERENCE)
    if severity != f.PLAIN:
        words += f": that part belongs to the {one}, with the models and prompts that it has"
    known = set(data.texts.filter(pl.col("split") == "train")[unit])
    test = data.texts.filter(pl.col("split") == "test")
    if known and test.height:
        shared = bench.share_of(test, test[unit].is_in(known).to_numpy())
        rows.append(shared.row("division", f"test statements from a {one} that train has too", "", "share"))
        words += f" ({shared.value:.0%} of the test statements come from a {one} that train has too)"
    return rows, [Finding("division", one, severity, f"{words}.")]


def by_statement(bench: Bench, probes: Mapping[str, Probe]) -> tuple[list[AuditRow], list[Finding]]:
    """The AUROC of words when statements, not games, are held out. probes: by what they read; the sentence is about the
    one that gains most.
    """
    from sklearn.model_selection import StratifiedKFold

    y = bench.data.y
    fold = np.empty(len(y), dtype=np.int64)
    for number, (_, rows) in enumerate(StratifiedKFold(bench.folds, shuffle=True, random_state=bench.seed).split(y, y)):
        fold[rows] = number
    figures: list[AuditRow] = []
    found: list[tuple[float, Finding]] = []
    for name, probe in probes.items():
        random, grouped = bench.auroc(bench.by_fold(probe, fold)), bench.grouped(probe, bench.folds)
        gain = random - grouped
        figures += [
            random.row("division", f"random split: {name}", OUT_OF_FOLD, "auroc"),
            gain.row("division", f"random minus grouped split: {name}", OUT_OF_FOLD, "auroc_difference"),
        ]
        severity = graded(gain.certain, f.DIFFERENCE, f.LARGE_DIFFERENCE)
        words = f"Divided by statement, not by game, {name} reach AUROC {random:.3f} instead of {grouped.value:.3f}"
        if severity != f.PLAIN:
            words += f", {gain:.3f} from leakage alone: statements of one game give each other away"
        found.append((gain.value, Finding("division", "random split", severity, f"{words}.")))
    return figures, [max(found, key=lambda pair: pair[0])[1]]


_WORD_PROBES = 7


class _Notebook:
    """Collects rows and findings; ticks the progress."""

    def __init__(self, progress: Progress, name: str) -> None:
        self.rows: list[AuditRow] = []
        self.findings: list[Finding] = []
        self.done, self.total = 0, 1
        self._show, self._name = progress, name

    def add(self, part: tuple[list[AuditRow], list[Finding]]) -> None:
        self.rows += part[0]
        self.findings += part[1]

    def step(self) -> None:
        self.done += 1
        self._show(self._name, min(self.done, self.total), self.total)


def check_all(
    data: Audited, name: str, plan: AuditPlan, progress: Progress = silent, marks: Sequence[Mark] = ()
) -> AuditResult:
    """Audit a corpus that was read. name: as shown; progress: called after each fit; marks: people's, of its labels."""
    notes = _Notebook(progress, f"audit of {name}")
    split = data.table["split"].to_numpy().astype(np.str_)
    bench = Bench(data.target, data.data, split, SCHEMES[plan.split], plan.draws, plan.seed, notes.step)
    probes, units = table_probes(data), units_of(data)
    each = sum(bench.folds if scheme == OUT_OF_FOLD else 1 for scheme in bench.schemes)
    notes.total = (len(probes) + _WORD_PROBES) * each + (len(units) + 2) * bench.folds + 2 * (1 + plan.shuffles)

    reached: dict[str, Figure] = {}
    kept: dict[str, Probe] = {}
    for probe_name, probe in _all_probes(probes, bench):
        figures = {
            scheme: bench.grouped(probe, bench.folds) if scheme == OUT_OF_FOLD else bench.auroc(bench.on_test(probe))
            for scheme in bench.schemes
        }
        notes.rows += [figure.row("probe", probe_name, scheme, "auroc") for scheme, figure in figures.items()]
        reached[probe_name] = next(iter(figures.values()))
        if probe_name in SHORTCUTS:
            notes.findings += shortcut(probe_name, reached[probe_name])
        if probe_name in (MASKED, TAGGED):
            kept[probe_name] = probe
    notes.findings += about_words(reached)
    notes.add(telling(data, bench))

    rows, findings, copied = copies(data, bench)
    notes.add((rows, findings))
    if TRAIN_TEST in bench.schemes:
        notes.add(without_copies(bench, bench.on_test(kept[MASKED]), copied[data.labelled]))
    notes.add(by_statement(bench, kept))
    for unit in units:
        notes.add(held_out(data, bench, kept[MASKED], unit))
    notes.add(missing(data, plan.draws, plan.seed))
    notes.add(associations(data, plan.draws, plan.seed))
    if marks:
        notes.add(marked(marks, data.spoken, plan.draws, plan.seed))
    notes.add(shuffled(bench, kept[MASKED], plan.shuffles))
    notes.done = notes.total - 1
    notes.step()
    order = list(SEVERITIES)
    return AuditResult(
        name,
        plan,
        len(bench.data.y),
        bench.games,
        float(bench.data.y.mean()),
        tuple(notes.rows),
        tuple(sorted(notes.findings, key=lambda found: order.index(found.severity))),
        tuple(sorted(data.spoken["source"].unique())),
    )


def _all_probes(probes: dict[str, Probe], bench: Bench) -> Iterator[tuple[str, Probe]]:
    yield from probes.items()
    for name, texts in texts_of(bench.data.examples):
        yield name, word_probe(texts, bench.seed)
