"""The figures of every place across units, computed from scores alone: nothing is fitted, and all leave the same games
out.

Each unit has two populations: its statements, by scores that use only what was said so far, so that they could be shown
during the game; and its players, after the game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from liescope.common.statistics import CHANGE, Floats, Weights, estimate, game_weights, worst
from liescope.detectors.detector import Progress, silent
from liescope.detectors.detector_settings import UNITS
from liescope.detectors.study.figures import AFTER, MEAN, WORST, Figure, measured
from liescope.detectors.study.metrics import DIFFERENCE, METRIC, POOLED, WITHIN, pooled_auroc, within_games
from liescope.detectors.study.scorers import NO_RIVALS
from liescope.detectors.study.scores import CONTROL, in_pairs, scored
from liescope.detectors.study.trials import PAIR, TrialScores, why_one_class
from liescope.detectors.study.units import UnitTable

PLAYER_WITHIN, PLAYER_AUROC = "player_auroc_within", "player_auroc"


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was measured. by: the kind of unit; test: the unit, "" for the mean of several; train: the unit
    learned from, "" for all the rest; end: WORST or MEAN, "" for neither; after: whether the whole game was known;
    cells: how many places WORST and MEAN are of.
    """

    by: str
    protocol: str
    test: str
    train: str = ""
    end: str = ""
    after: bool = False
    cells: int = 1

    @property
    def where(self) -> str:
        """As figures call it: "left out:model=A", "pair:model=A > B:worst of 6", "left out:task:mean of 5"."""
        unit = f"{self.by}={f'{self.train} > ' * bool(self.train)}{self.test}" if self.test else self.by
        return ":".join(
            filter(None, (self.protocol, unit, self.end and f"{self.end} of {self.cells}", AFTER * self.after))
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    """A figure with its place, its values with games left out, and how many games it rests on."""

    place: Place
    figure: Figure
    values: Floats
    games: int


def figures(
    table: UnitTable, scores: Sequence[TrialScores], seed: int, progress: Progress = silent
) -> tuple[list[Figure], dict[str, Place]]:
    """Every figure, and the place of each by its `where`: for each unit; for the worst and the mean off the diagonal;
    and by how much the mean of detectors exceeds that of controls.
    """
    weights, at = _weights_of(table, seed)
    found: list[_Cell] = []
    off: dict[tuple[Place, str, str], list[_Cell]] = {}
    for done, one in enumerate(scores, 1):
        by = one.trial.by
        counted = set(table.frame.filter("learn")[UNITS[by]])
        for test in np.unique(table.units(by)).tolist() if one.trial.protocol == PAIR else [one.trial.unit]:
            for cell in _of_unit(table, one, test, weights, at):
                found.append(cell)
                if cell.place.train != test and test in counted:
                    several = replace(cell.place, test="", train="")
                    off.setdefault((several, cell.figure.scorer, cell.figure.metric), []).append(cell)
        progress("figures of each detector", done, len(scores))
    means: dict[tuple[Place, str], list[_Cell]] = {}
    for (several, _, metric), cells in off.items():
        *least, mean = _together(several, cells)
        found += [*least, mean]
        means.setdefault((several, metric), []).append(mean)
    leads = [lead for of_mean in means.values() for lead in _ahead(of_mean)]
    return [*(cell.figure for cell in found), *leads], {cell.place.where: cell.place for cell in found}


def _together(several: Place, cells: Sequence[_Cell]) -> Iterator[_Cell]:
    """The worst, where any is defined, and the mean of some figures; the interval of the worst allows for its
    selection. The mean leaves out figures that are undefined without some games, and counts as resting on the smallest
    number of games among its figures.
    """
    full = [cell for cell in cells if cell.figure.value is not None]
    mean = replace(several, end=MEAN, cells=len(full))
    target = " and ".join(sorted({cell.figure.target for cell in cells}))
    what = replace(cells[0].figure, where=mean.where, target=target)
    if not full:
        yield _Cell(mean, what, cells[0].values, 0)
        return
    at, (value, lo, hi) = worst([(cell.values, cell.games) for cell in full])
    place = replace(full[at].place, end=WORST, cells=len(full))
    yield replace(full[at], place=place, figure=replace(full[at].figure, where=place.where, value=value, lo=lo, hi=hi))
    together = np.stack([cell.values for cell in full])
    with np.errstate(invalid="ignore"):
        values = np.nansum(together, axis=0) / np.isfinite(together).sum(axis=0)
    tests = {cell.place.test: cell.figure for cell in full}.values()
    counts = (sum(one.statements for one in tests), sum(one.games for one in tests), None)
    fewest = min(cell.games for cell in full)
    figure = Figure(what.scorer, target, mean.where, what.metric, *estimate(values, fewest), *counts)
    yield _Cell(mean, figure, values, fewest)


def _ahead(means: Sequence[_Cell]) -> Iterator[Figure]:
    """By how much the mean of each detector exceeds that of each control, if both cover the same places."""
    rivals = [cell for cell in means if cell.figure.scorer.startswith(CONTROL)]
    detectors = [cell for cell in means if cell not in rivals]
    for mine, its in product(detectors, rivals):
        if its.figure.scorer.removeprefix(CONTROL) in NO_RIVALS:
            continue
        same = (mine.place.cells, mine.figure.statements) == (its.place.cells, its.figure.statements)
        if same and mine.figure.value is not None:
            value, lo, hi = estimate(mine.values - its.values, min(mine.games, its.games), CHANGE)
            metric, against = mine.figure.metric + DIFFERENCE, its.figure.scorer
            yield replace(mine.figure, metric=metric, value=value, lo=lo, hi=hi, against=against)


def _weights_of(table: UnitTable, seed: int) -> tuple[Weights, dict[str, int]]:
    """Weights of its families of games, drawn within each corpus; and the columns of these by name."""
    families = table.frame.select("corpus", "siblings").unique(maintain_order=True)
    sizes = families.group_by("corpus", maintain_order=True).len()["len"]
    # Every corpus leaves out its own games, at the same time as the others, so that differences are paired.
    weights = np.hstack([game_weights(size, seed + i) for i, size in enumerate(sizes)])
    return weights, {name: at for at, name in enumerate(families["siblings"])}


def _of_unit(
    table: UnitTable, scores: TrialScores, test: str, every: Weights, at: Mapping[str, int]
) -> Iterator[_Cell]:
    """The figures of one unit: of its statements, and of its players, where any are scored, whether they spoke or not.
    Players killed at night do not count: everybody knows what they are. every, at: of `_weights_of`.
    """
    trial, frame, players = scores.trial, table.frame, table.players
    mine = pl.col(UNITS[trial.by]).eq(test).fill_null(value=False)
    score = pl.Series(scores.score, nan_to_null=True)
    said = frame.with_columns(score=score[: frame.height]).filter(mine)
    seats = players.with_columns(score=score[frame.height :], y="deceives").filter(mine, ~pl.col("killed"))
    target = " and ".join(said["target"].unique().sort())
    place = Place(trial.by, trial.protocol, test, trial.unit if trial.protocol == PAIR else "")
    labelled = said.drop_nulls("y")
    known, told = labelled.drop_nulls("score"), seats.drop_nulls(["score", "y"])
    why = why_one_class(labelled["y"].to_numpy(), test)
    if known.is_empty():
        why = why or scores.why or f"{trial.unit}: no statement of {test} is scored"
    places = [(place, known, (WITHIN, POOLED), "statements")]
    if told.height:
        places.append((replace(place, after=True), told, (PLAYER_WITHIN, PLAYER_AUROC), "players"))
    for own, its, metrics, things in places:
        weights = every[:, [at[name] for name in np.unique(its["siblings"].to_numpy())]]
        data = scored(its)
        values = dict(zip(metrics, (within_games(data, weights), pooled_auroc(data, weights)), strict=True))
        no_pair = f"no game has both deceptive and honest {things}, so that there is no AUROC within games"
        lacking = why_one_class(its["y"].to_numpy(), test, things) or f"{test}: {table.called.say(no_pair)}"
        for figure in measured(scores.scorer, target, own.where, values, its):
            paired = in_pairs(its) if METRIC[figure.metric].paired else its
            reason = "" if figure.value is not None else why or lacking
            games = paired["siblings"].n_unique()
            yield _Cell(own, replace(figure, why=reason), values[figure.metric], games)
