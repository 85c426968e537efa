"""What the probes reached, as rows and sentences: shortcuts, words masked or not, openings, shuffled labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from liescope.detectors.audit import findings as f
from liescope.detectors.audit.bench import OUT_OF_FOLD, Bench, Probe
from liescope.detectors.audit.findings import AuditRow, Figure, Finding, graded
from liescope.detectors.audit.probes import MASKED, NAMED, OPENINGS, ROLES_MASKED, SHARE_IN_GAME, SHORTCUTS
from liescope.detectors.evaluation.controls import K_OF_N, deal_to_other_games

MOST_OF_IT = 0.8
"""The share of what all words reach beyond chance that openings alone must certainly exceed."""


def shortcut(name: str, reached: Figure) -> list[Finding]:
    """The sentence about a probe that knows nothing of the words."""
    beyond = reached.certain - f.CHANCE
    if beyond <= f.MARGIN:
        return []
    known = SHORTCUTS[name]
    words = f"{known.subject} AUROC {reached:.3f}: {known.moral.format(value=reached.value)}."
    between_games = name in (K_OF_N, SHARE_IN_GAME)  # alike for all of a game, so that within one it cannot pass
    severity = f.PLAIN if between_games else graded(beyond, f.MARGIN, f.LARGE)
    return [Finding("probe", name, severity, words)]


def about_words(reached: Mapping[str, Figure]) -> list[Finding]:
    """What words reach, and how much of it lies in names, in words for roles, and in openings."""
    masked = reached[MASKED]
    found = [Finding("probe", MASKED, f.PLAIN, f"A statement's own words, names masked, reach AUROC {masked:.3f}.")]
    for name, gain, words in (
        (NAMED, reached[NAMED] - masked, "Names in the text add {}: who reads them learns who was dealt which role."),
        (
            ROLES_MASKED,
            masked - reached[ROLES_MASKED],
            "Of that, {} hangs on words for roles and teams, and is lost in a game with other roles.",
        ),
    ):
        severity = graded(gain.certain, f.DIFFERENCE, f.LARGE_DIFFERENCE)
        if severity != f.PLAIN:
            found.append(Finding("probe", name, severity, words.format(f"{gain:.3f}")))
    first = reached[OPENINGS]
    surplus = Figure(first.draws - f.CHANCE - MOST_OF_IT * (masked.draws - f.CHANCE), first.statements, first.games)
    if masked.certain > f.CHANCE + f.MARGIN and surplus.certain > 0:
        part = (first.value - f.CHANCE) / (masked.value - f.CHANCE)
        words = (
            f"The {OPENINGS} alone reach AUROC {first:.3f}, {part:.0%} of what all words reach beyond chance: the "
            "statements of one side begin alike."
        )
        found.append(Finding("probe", OPENINGS, f.NOTABLE, words))
    return found


def shuffled(bench: Bench, probe: Probe, times: int) -> tuple[list[AuditRow], list[Finding]]:
    """The probe on labels dealt to other games, many times, learned and scored on the same dealt labels: what the
    protocol finds where nothing is to be found. The folds are merged into two, for speed, for the real labels too.
    """
    halves = bench.fold % 2
    real = bench.auroc(bench.by_fold(probe, halves), draws=False)
    values = []
    for number in range(times):
        y = deal_to_other_games(bench.data, bench.seed + number)
        values.append(bench.auroc(bench.by_fold(probe, halves, y), y=y, draws=False).value)
    values = [value for value in values if np.isfinite(value)]  # in few games, all lies may be dealt to one half
    if not values or not np.isfinite(real.value):
        return [], []
    times, mean, lowest, highest = len(values), float(np.mean(values)), min(values), max(values)
    counted = (real.statements, real.games, real.prevalence)
    rows = [
        real.row("shuffled", "the real labels, in two folds", OUT_OF_FOLD, "auroc"),
        AuditRow("shuffled", f"{times} shuffles", OUT_OF_FOLD, "auroc_of_shuffles", mean, lowest, highest, *counted),
    ]
    spread = f"{times} shuffles of the labels give AUROC {mean:.3f} on average ({lowest:.3f} to {highest:.3f})"
    if mean - 2 * float(np.std(values)) / np.sqrt(times) > f.CHANCE + f.MARGIN:
        words = f"{spread}: labels that mean nothing are found, so the protocol itself leaks."
        return rows, [Finding("shuffled", MASKED, f.SERIOUS, words)]
    below = sum(value < real.value for value in values)
    where = f"above all {times}" if below == times else f"above {below} of the {times}"
    return rows, [Finding("shuffled", MASKED, f.PLAIN, f"{spread}; the real labels' {real.value:.3f} lies {where}.")]
