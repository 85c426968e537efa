"""Statements and games that stand in two splits: word for word, nearly so, or with the same opening."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from liescope.common.statistics import Floats
from liescope.detectors.audit import findings as f
from liescope.detectors.audit.bench import TRAIN_TEST, Audited, Bench, Bools
from liescope.detectors.audit.findings import AuditRow, Figure, Finding, graded
from liescope.detectors.audit.probes import opening
from liescope.detectors.likeness import SHORT, copied_games, is_long, near_copies, normal

FIRST = 5
"""How many words make an opening."""


def copies(data: Audited, bench: Bench) -> tuple[list[AuditRow], list[Finding], Bools]:
    """Rows and sentences about what test and validation share with train; and which of `data.texts` are copies, or near
    copies, of a statement in train, (n,).
    """
    texts = normal(data.examples)
    table = data.texts.select("game_id", "split", normal=pl.Series(texts, dtype=pl.String))
    long = np.array([is_long(text) for text in texts], dtype=bool)
    train = (table["split"] == "train").to_numpy() & long
    learned = [text for text, there in zip(texts, train, strict=True) if there]
    known, begun = set(learned), {opening(text, FIRST) for text in learned}
    exact = ~train & np.array([text in known for text in texts], dtype=bool)
    begins = np.array([opening(text, FIRST) in begun for text in texts], dtype=bool)
    near = exact | near_copies(texts, train, long & ~train & ~exact, bench.seed)
    rows: list[AuditRow] = []
    found: list[Finding] = []
    shared: dict[str, tuple[Figure, Figure]] = {}
    for name in ("test", "validation"):
        there = (table["split"] == name).to_numpy() & long
        if not (there.any() and learned):
            continue
        mine = table.filter(pl.Series(there))
        same, alike, first = (bench.share_of(mine, what[there]) for what in (exact, near, begins))
        shared[name] = same, alike
        copied = copied_games(table.filter(pl.Series(train)), mine)
        rows += [
            same.row("copies", f"{name}: word for word in train", "", "share"),
            alike.row("copies", f"{name}: at least nearly in train", "", "share"),
            first.row("copies", f"{name}: begins like a statement of train", "", "share"),
            bench.share_of(
                mine.unique("game_id"), mine.unique("game_id")["game_id"].is_in(list(copied)).to_numpy()
            ).row("copies", f"{name}: games that repeat one of train", "", "share"),
        ]
        if copied:
            one, other = min(copied.items())
            words = (
                f"{len(copied):,} of {same.games:,} {name} games repeat a game of train under another id (such as "
                f"{one!r} and {other!r}): leave them out of one of the splits."
            )
            found.append(Finding("copies", f"copied games: {name}", f.SERIOUS, words))
    return rows, found + _sentence(shared), near


def _sentence(shared: Mapping[str, tuple[Figure, Figure]]) -> list[Finding]:
    """shared: for each split, the share of statements that are in train word for word, and at least nearly."""
    told = {split: figures for split, figures in shared.items() if figures[1].certain > f.MARGIN}
    if not told:
        return []
    same, alike = (
        " and ".join(f"{figures[kind]:.1%} of {split}" for split, figures in told.items()) for kind in (0, 1)
    )
    words = (
        f"Names masked, {same} stands word for word in train, and {alike} at least nearly (statements of {SHORT} words "
        "or more): what is scored there may have been learned with its label."
    )
    certain = max(alike.certain for _, alike in told.values())
    return [Finding("copies", "copied statements", graded(certain, f.MARGIN, f.LARGE_SHARE), words)]


def without_copies(bench: Bench, score: Floats, copied: Bools) -> tuple[list[AuditRow], list[Finding]]:
    """What copies of train's statements add to the AUROC of words on test. score: from train to test."""
    everything, rest = bench.auroc(score), bench.auroc(score, ~copied)
    gain = everything - rest
    rows = [
        rest.row("copies", "words, statements without a copy in train", TRAIN_TEST, "auroc"),
        gain.row("copies", "all statements minus those without a copy", TRAIN_TEST, "auroc_difference"),
    ]
    severity = graded(gain.certain, f.DIFFERENCE, f.LARGE_DIFFERENCE)
    if severity == f.PLAIN:
        return rows, []
    words = (
        f"On test, words reach AUROC {everything.value:.3f}, and {rest:.3f} on statements without a copy in train: "
        f"copies, learned by heart or just easier, add {gain:.3f}."
    )
    return rows, [Finding("copies", "gain from copies", severity, words)]
