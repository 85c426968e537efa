"""Every check of an audit, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from liescope.detectors.audit.association import associations
from liescope.detectors.audit.bench import OUT_OF_FOLD, SCHEMES, TRAIN_TEST, Bench, Probe
from liescope.detectors.audit.copies import copies, without_copies
from liescope.detectors.audit.data import Audited
from liescope.detectors.audit.divisions import by_statement, held_out, units_of
from liescope.detectors.audit.findings import SEVERITIES, AuditRow, Figure, Finding
from liescope.detectors.audit.marked import marked
from liescope.detectors.audit.marks import Mark
from liescope.detectors.audit.missing import missing
from liescope.detectors.audit.probes import MASKED, SHORTCUTS, TAGGED, table_probes, texts_of, word_probe
from liescope.detectors.audit.result import AuditPlan, AuditResult
from liescope.detectors.audit.telling import telling
from liescope.detectors.audit.words import about_words, shortcut, shuffled
from liescope.detectors.protocol import Progress, silent

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
