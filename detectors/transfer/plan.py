"""Which detectors are fitted: what each learns from, and which statements it scores.

Two protocols, and a third on demand. `pair`: learn from one unit, score every unit; a statement of a game in which the
unit speaks is scored by a detector that learned from the unit's other games (cross-validation by game). `left out`:
learn from every game in which a unit does not speak, score the games in which it does. So no statement is ever scored
by a detector that has seen its game, and a unit that is left out is unheard of in training: no statement of it, and
nothing said to it. `left out, N labelled games`: learn from N games of the unit too, drawn at random; whatever N, the
same games are scored, those that are never drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from liescope.detectors.folds import fold_of
from liescope.detectors.transfer.table import UNITS, Rows, Table

PAIR, LEFT_OUT = "pair", "left out"
PROTOCOLS = (PAIR, LEFT_OUT)
_LABELLED = "left out, {} labelled games"
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Fit:
    """One detector to fit. unit: what it learns from (`pair`) or what is left out; learn, score: rows of the table;
    reason: why it cannot be fitted, else empty.
    """

    by: str
    protocol: str
    unit: str
    learn: Rows
    score: Rows
    reason: str = ""


def with_labels(games: int) -> str:
    """The protocol that learns from so many games of the unit; 0 for those games scored without."""
    return _LABELLED.format(games)


def plan(table: Table, by: str, seed: int, labels: Sequence[int] = ()) -> Iterator[Fit]:
    """Every fit that the cells of one kind of unit need. labels: how many games of a unit that is left out to learn
    from, each time.
    """
    units, games, known = table.column(UNITS[by]), table.games, table.labelled
    for unit in names_of(units):
        yield from _from_one(table, by, unit, np.flatnonzero((units == unit) & known), seed)
    for unit in names_of(units):
        its_games = np.isin(games, np.unique(games[units == unit]))
        rest = np.flatnonzero(~its_games & known)
        yield _fit(table, by, LEFT_OUT, unit, rest, np.flatnonzero(its_games))
        if labels:
            yield from _with_labels(table, by, unit, rest, its_games, labels, seed)


def names_of(units: NDArray[np.str_]) -> list[str]:
    """The units, in alphabetical order."""
    return [str(unit) for unit in np.unique(units)]


def why_one_class(y: NDArray[np.bool_], what: str, things: str = "statements") -> str:
    """Why nothing that compares two classes is defined on these things, or "" if it is."""
    if not len(y):
        return f"{what}: no statement has a label"
    if y.all() or not y.any():
        return f"{what}: all {len(y):,} {things} are {'deceptive' if y[0] else 'honest'}"
    return ""


def no_pairs(what: str, things: str = "statements") -> str:
    """Why nothing is said within games."""
    return f"{what}: no game has both deceptive and honest {things}, so that there is no AUROC within games"


def _from_one(table: Table, by: str, unit: str, learn: Rows, seed: int) -> Iterator[Fit]:
    games, y = table.games, table.y[learn]
    inside = np.isin(games, np.unique(games[learn]))
    if not inside.all():
        yield _fit(table, by, PAIR, unit, learn, np.flatnonzero(~inside))
    if not inside.any():
        return
    folds = min(FOLDS, *(len(np.unique(games[learn][y == label])) for label in (True, False)))
    if folds < 2:
        why = f"{unit}: too few games with deceptive and with honest statements for cross-validation by game"
        yield Fit(by, PAIR, unit, learn, np.flatnonzero(inside), why_one_class(y, unit) or why)
        return
    fold = fold_of(y, games[learn], folds, seed)
    for number in range(folds):
        held_out = np.isin(games, games[learn][fold == number])
        yield _fit(table, by, PAIR, unit, learn[fold != number], np.flatnonzero(held_out))


def _with_labels(
    table: Table, by: str, unit: str, rest: Rows, its_games: NDArray[np.bool_], labels: Sequence[int], seed: int
) -> Iterator[Fit]:
    """No more than half of the unit's games are drawn, and fewer are among those drawn where more are."""
    games = table.games
    drawn = np.unique(games[its_games & table.labelled]).tolist()
    Random(f"{seed}:{unit}").shuffle(drawn)
    possible = [n for n in labels if 2 * n <= len(drawn)]
    score = np.flatnonzero(its_games & ~np.isin(games, drawn[: max(possible, default=0)]))
    for n in labels:
        if n not in possible:
            why = f"{unit}: {len(drawn):,} games are too few to learn from {n:,} and score the others"
            yield Fit(by, with_labels(n), unit, rest, score[:0], why)
        else:
            own = np.flatnonzero(np.isin(games, drawn[:n]) & table.labelled)
            yield _fit(table, by, with_labels(n), unit, np.sort(np.concatenate([rest, own])), score)


def _fit(table: Table, by: str, protocol: str, unit: str, learn: Rows, score: Rows) -> Fit:
    what = unit if protocol == PAIR else f"the games without {unit}"
    return Fit(by, protocol, unit, learn, score, why_one_class(table.y[learn], what))
