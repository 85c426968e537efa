"""Which detectors are fitted across units: models, games, corpora, sources or tasks.

`pair`: learn from one unit, score every unit; a statement of a game in which the unit speaks is scored by a detector
that learned from the unit's other games (cross-validation by game). `left out`: learn from every game in which a unit
does not speak, score the games in which it does. So no statement is ever scored by a detector that has seen its game,
and a unit that is left out is unheard of in training: no statement of it, and nothing said to it. `left out, N labelled
games`: learn from N games of the unit too, drawn at random; whatever N, the same games are scored, those that are never
drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from liescope.common.statistics import Bools
from liescope.detectors.folds import Rows, fold_of
from liescope.detectors.study.corpora import UNITS, TransferTable
from liescope.detectors.study.schemes import FOLDS, Part

PAIR, LEFT_OUT = "pair", "left out"
PROTOCOLS = (PAIR, LEFT_OUT)
_ONLY_TESTED = "the suite says that detectors are only tested on it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit(Part):
    """One detector to fit. by: the kind of unit; unit: what it learns from (`pair`) or what is left out; reason: why it
    cannot be fitted, else empty.
    """

    by: str
    protocol: str
    unit: str
    reason: str = ""


def with_labels(games: int) -> str:
    """The protocol that learns from so many games of the unit; 0 for those games scored without."""
    return f"{LEFT_OUT}, {games} labelled games"


def plan(table: TransferTable, by: str, seed: int, labels: Sequence[int] = ()) -> Iterator[Fit]:
    """Every fit that one kind of unit needs. labels: how many games of a unit that is left out to learn from, each
    time.
    """
    units, games, known, families = table.column(UNITS[by]), table.games, table.labelled, table.column("family")
    for unit in np.unique(units).tolist():
        yield from _from_one(table, by, unit, np.flatnonzero((units == unit) & known), seed)
    for unit in np.unique(units).tolist():
        its_games = np.isin(games, np.unique(games[units == unit]))
        kin = np.isin(families, np.unique(families[units == unit]))
        rest = np.flatnonzero(~its_games & kin & known)
        yield _fit(table, by, LEFT_OUT, unit, rest, np.flatnonzero(its_games))
        if labels:
            yield from _with_labels(table, by, unit, rest, its_games, labels, seed)


def why_one_class(y: Bools, what: str, things: str = "statements") -> str:
    """Why nothing that compares two classes is defined on these things, or "" if it is."""
    if not len(y):
        return f"{what}: no statement has a label"
    if y.all() or not y.any():
        return f"{what}: all {len(y):,} {things} are {'deceptive' if y[0] else 'honest'}"
    return ""


def _from_one(table: TransferTable, by: str, unit: str, known: Rows, seed: int) -> Iterator[Fit]:
    learn = known[table.learnable[known]]
    games, y = table.games, table.y[learn]
    inside = np.isin(games, np.unique(games[learn]))
    if not inside.all():
        yield _fit(table, by, PAIR, unit, known, np.flatnonzero(~inside))
    if not inside.any():
        return
    folds = min(FOLDS, *(len(np.unique(games[learn][y == label])) for label in (True, False)))
    if folds < 2:
        why = f"{unit}: too few games with deceptive and with honest statements for cross-validation by game"
        why = why_one_class(y, unit) or why
        yield Fit(learn=learn, score=np.flatnonzero(inside), by=by, protocol=PAIR, unit=unit, reason=why)
        return
    fold = fold_of(y, games[learn], folds, seed)
    for number in range(folds):
        held_out = np.isin(games, games[learn][fold == number])
        yield _fit(table, by, PAIR, unit, learn[fold != number], np.flatnonzero(held_out))


def _with_labels(
    table: TransferTable, by: str, unit: str, rest: Rows, its_games: Bools, labels: Sequence[int], seed: int
) -> Iterator[Fit]:
    """No more than half of the unit's games are drawn, and fewer are among those drawn where more are."""
    games = table.games
    drawn = np.unique(games[its_games & table.learnable]).tolist()
    Random(f"{seed}:{unit}").shuffle(drawn)
    possible = [n for n in labels if 2 * n <= len(drawn)]
    score = np.flatnonzero(its_games & ~np.isin(games, drawn[: max(possible, default=0)]))
    for n in labels:
        if n in possible:
            own = np.flatnonzero(np.isin(games, drawn[:n]) & table.learnable)
            yield _fit(table, by, with_labels(n), unit, np.sort(np.concatenate([rest, own])), score)
        else:
            why = f"{unit}: {len(drawn):,} games are too few to learn from {n:,} and score the others"
            yield Fit(learn=rest, score=score[:0], by=by, protocol=with_labels(n), unit=unit, reason=why)


def _fit(table: TransferTable, by: str, protocol: str, unit: str, known: Rows, score: Rows) -> Fit:
    """known: the labelled rows to learn from, as far as a detector may."""
    learn = known[table.learnable[known]]
    what = unit if protocol == PAIR else f"what is left without {unit}"
    why = why_one_class(table.y[learn], what)
    if len(known) and not len(learn):
        marked = table.frame[known]["canary"].all()
        why = f"{what}: {'all of it carries a canary, so that nothing is learned from it' if marked else _ONLY_TESTED}"
    elif protocol == LEFT_OUT and len(score) == table.frame.height:
        why = f"{unit} speaks everywhere, so that nothing is left to learn from"
    return Fit(learn=learn, score=score, by=by, protocol=protocol, unit=unit, reason=why)
