"""What detectors learn from and score across units: models, games, corpora, sources or tasks.

`pair`: learn from one unit, score every unit; a statement of a game in which the unit speaks is scored by a detector
that learned from the unit's other games (cross-validation by game). `left out`: learn from every game in which a unit
does not speak, score the games in which it does. So no statement is ever scored by a detector that has seen its game,
and a unit that is left out is unheard of in training: no statement of it, and nothing said to it. `left out, N labelled
games`: learn from N games of the unit too, drawn at random; whatever N, the same games are scored, those that are never
drawn; 0 for those games scored without.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np

from liescope.common.statistics import Bools
from liescope.detectors.study.corpora import TransferTable
from liescope.detectors.study.schemes import Part, by_group

PAIR, LEFT_OUT = "pair", "left out"
PROTOCOLS = (PAIR, LEFT_OUT)
_ONLY_TESTED = "the suite says that detectors are only tested on it"


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What is learned from one unit (`pair`), or where one is left out. by: the kind of unit; parts: rows of the table;
    those that learn from nothing are only scored by what need not learn; why: why, else empty.
    """

    by: str
    protocol: str
    unit: str
    parts: Sequence[Part]
    why: str = ""

    @property
    def name(self) -> str:
        """As scores name it."""
        return f"{self.protocol}:{self.by}={self.unit}"


def with_labels(games: int) -> str:
    """The protocol that learns from so many games of the unit."""
    return f"{LEFT_OUT}, {games} labelled games"


def why_one_class(y: Bools, what: str, things: str = "statements") -> str:
    """Why nothing that compares two classes is defined on these things, or "" if it is."""
    if not len(y):
        return f"{what}: no statement has a label"
    if y.all() or not y.any():
        return f"{what}: all {len(y):,} {things} are {'deceptive' if y[0] else 'honest'}"
    return ""


def plan(table: TransferTable, by: str, seed: int, labels: Sequence[int] = ()) -> Iterator[Trial]:
    """Every trial that one kind of unit needs. labels: how many games of a unit that is left out to learn from, each
    time.
    """
    units, families = table.units(by), table.frame["family"].to_numpy()
    names = np.unique(units).tolist()
    for unit in names:
        yield _from_one(table, by, unit, units == unit, seed)
    for unit in names:
        its_games = np.isin(table.games, table.games[units == unit])
        rest = ~its_games & np.isin(families, families[units == unit])
        why = f"{unit} speaks everywhere, so that nothing is left to learn from" if its_games.all() else ""
        yield _trial(table, by, LEFT_OUT, unit, rest, its_games, why)
        if labels:
            yield from _with_labels(table, by, unit, rest, its_games, labels, seed)


def _from_one(table: TransferTable, by: str, unit: str, own: Bools, seed: int) -> Trial:
    known = own & table.learnable
    inside = np.isin(table.games, table.games[known])
    across = _trial(table, by, PAIR, unit, own, ~inside)
    if across.why:
        return across
    folds = by_group(table.frame["statement_id"], table.games, table.y, known, seed, 1).repeats
    at_home = [Part(one.learn, one.score[inside[one.score]], one.fold) for fold in folds for one in fold]
    few = f"{unit}: too few games with deceptive and with honest statements for cross-validation by game"
    parts = [part for part in (*across.parts, *at_home) if len(part.score)]
    return replace(across, parts=parts, why="" if folds else few)


def _with_labels(
    table: TransferTable, by: str, unit: str, rest: Bools, its_games: Bools, labels: Sequence[int], seed: int
) -> Iterator[Trial]:
    """No more than half of the unit's games are drawn, and fewer are among those drawn where more are."""
    drawn = np.unique(table.games[its_games & table.learnable]).tolist()
    Random(f"{seed}:{unit}").shuffle(drawn)
    possible = [n for n in labels if 2 * n <= len(drawn)]
    score = its_games & ~np.isin(table.games, drawn[: max(possible, default=0)])
    for n in (0, *labels) if possible else labels:
        few = f"{unit}: {len(drawn):,} games are too few to learn from {n:,} and score the others"
        learn = rest | np.isin(table.games, drawn[:n])
        yield _trial(table, by, with_labels(n), unit, learn, score, "" if n in (0, *possible) else few)


def _trial(table: TransferTable, by: str, protocol: str, unit: str, learn: Bools, score: Bools, why: str = "") -> Trial:
    """One that learns once. why: why it does not, if it is known already."""
    what = unit if protocol == PAIR else f"what is left without {unit}"
    known, learn = learn & table.labelled, learn & table.learnable
    if known.any() and not learn.any():
        marked = table.frame["canary"].to_numpy()[known].all()
        lacking = "all of it carries a canary, so that nothing is learned from it" if marked else _ONLY_TESTED
        why = why or f"{what}: {lacking}"
    why = why or why_one_class(table.y[learn], what)
    return Trial(by, protocol, unit, [Part(np.flatnonzero(learn & (not why)), np.flatnonzero(score))], why)
