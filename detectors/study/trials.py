"""What learns from what across units (models, games, corpora, sources or tasks), the resulting scores, and the figures
of every place, computed from scores alone.

`pair`: learn from one unit, score every unit; a statement of a game in which the unit speaks is scored by a detector
that learned from the unit's other games (cross-validation by game). `left out`: learn from every game in which a unit
does not speak, score the games in which it does. So no statement is ever scored by a detector that has seen its game,
and a left-out unit is absent from training: no statement of it, and nothing said to it.

Each unit has two populations: its statements, by scores that use only what was said so far, so that they could be shown
during the game; and its players, after the game. All figures leave the same games out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from liescope.common.errors import UsageError
from liescope.common.statistics import CHANGE, Bools, Floats, Weights, estimate, game_weights, worst
from liescope.detectors.detector import ROLE, Detector, Progress, posteriors_of_scores, silent
from liescope.detectors.detector_registry import DETECTORS, versions_of
from liescope.detectors.detector_settings import UNITS
from liescope.detectors.folds import Rows
from liescope.detectors.study.controls import BEST_WORD, CONTROLS, K_OF_N, LENGTH, ROLE_ORACLE
from liescope.detectors.study.figures import AFTER, MEAN, WORST, Figure, measured
from liescope.detectors.study.metrics import DIFFERENCE, METRIC, POOLED, WITHIN, pooled_auroc, within_games
from liescope.detectors.study.schemes import Fold, Probe, by_group
from liescope.detectors.study.scorers import NO_RIVALS
from liescope.detectors.study.scores import CONTROL, in_pairs, scored
from liescope.detectors.study.units import CAME_ALONG, UnitTable
from liescope.detectors.text_form import TextConfig
from liescope.detectors.training import Recipe
from liescope.detectors.view.transcript import GameMoment

PAIR, LEFT_OUT = "pair", "left out"
PROTOCOLS = (PAIR, LEFT_OUT)


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What is learned from one unit (`pair`), or where one is left out. by: the kind of unit; folds: rows of the table;
    those that learn from nothing are scored only by scorers that need not learn; why: why they do, or "".
    """

    by: str
    protocol: str
    unit: str
    folds: Sequence[Fold]
    why: str = ""

    @property
    def name(self) -> str:
        """As scores name it."""
        return f"{self.protocol}:{self.by}={self.unit}"


def why_one_class(y: Bools, what: str, things: str = "statements") -> str:
    """Why comparisons of two classes are undefined on these items, or "" if they are defined."""
    if not len(y):
        return f"{what}: no statement has a label"
    if y.all() or not y.any():
        return f"{what}: all {len(y):,} {things} are {'deceptive' if y[0] else 'honest'}"
    return ""


def plan(table: UnitTable, by: str, seed: int) -> Iterator[Trial]:
    """Every trial that one kind of unit needs."""
    units = table.units(by)
    for unit in np.unique(units).tolist():
        own = units == unit
        inside = np.isin(table.games, table.games[own & table.learnable])
        yield _trial(table, by, PAIR, unit, own, ~inside, _at_home(table, own, inside, seed))
        its_games = np.isin(table.games, table.games[own])
        yield _trial(table, by, LEFT_OUT, unit, ~its_games, its_games)


def _at_home(table: UnitTable, own: Bools, inside: Bools, seed: int) -> list[Fold]:
    """A statement of a game that was learned from is scored by a fold that did not learn from that game."""
    known = own & table.learnable
    by_game = by_group(table.frame["statement_id"], table.games, table.y, known, seed, 1).repeats
    return [Fold(one.learn, one.score[inside[one.score]], one.number) for folds in by_game for one in folds]


def _trial(
    table: UnitTable, by: str, protocol: str, unit: str, rows: Bools, score: Bools, others: Sequence[Fold] = ()
) -> Trial:
    """A trial that learns from some rows. others: further folds of it, if it can learn."""
    what = unit if protocol == PAIR else f"what is left without {unit}"
    known, learn = rows & table.labelled, rows & table.learnable
    why = f"{unit} speaks everywhere, so that nothing is left to learn from" if not rows.any() else ""
    if known.any() and not learn.any():
        why = f"{what}: nothing is learned from it, for it carries a canary or is only tested on"
    why = why or why_one_class(table.y[learn], what)
    once = Fold(np.flatnonzero(learn & (not why)), np.flatnonzero(score))
    return Trial(by, protocol, unit, [fold for fold in (once, *(() if why else others)) if len(fold.score)], why)


@dataclass(frozen=True, slots=True, eq=False)
class TrialScores:
    """A scorer's scores in a trial. score: (n + m,), of the statements of the table, then of its players after the
    whole game; NaN where there is none; why: why statements have none.
    """

    trial: Trial
    scorer: str
    score: Floats
    why: str = ""


def recipes_of(kinds: Sequence[str], text: TextConfig, seed: int, options: Mapping[str, Any]) -> list[Recipe]:
    """How each kind is made; an option goes to every kind that has it. Raises UsageError, MissingExtra."""
    takes = {kind: set(DETECTORS[kind].options_type.model_fields) for kind in kinds}
    if odd := sorted(set(options) - set().union(*takes.values())):
        raise UsageError(f"none of {', '.join(kinds)} has the option --{odd[0].replace('_', '-')}")
    recipes = []
    for kind in kinds:
        versions_of(kind)
        own = {name: value for name, value in options.items() if name in takes[kind]}
        recipes.append(Recipe(kind, "", text, own, 0, seed))
        recipes[-1].untrained().prepare()
    return recipes


FLOORS = (LENGTH, "position", BEST_WORD, "others", K_OF_N, ROLE_ORACLE)
"""The controls that stand beside what is left out; the last where no target is the role itself."""
Judge = Callable[[Fold], Floats]
"""What scores the statements of a fold, and then their players: those of `UnitTable.judged`."""


def all_scores(
    table: UnitTable, trials: Sequence[Trial], recipes: Sequence[Recipe], seed: int, progress: Progress
) -> Iterator[TrialScores]:
    """The scores of each detector in each trial; and where a unit is left out, those of controls and judges."""
    for recipe in recipes:
        yield from learned_in(table, trials, recipe, progress)
    out = [trial for trial in trials if trial.protocol == LEFT_OUT]
    able = [trial for trial in out if not trial.why]
    for name in FLOORS:
        if CONTROLS[name].knows(table.frame) and (name != ROLE_ORACLE or ROLE not in table.targets.values()):
            probe = CONTROLS[name].made(table.frame, seed)
            yield from _scored(table, able, CONTROL + name, partial(_by_probe, table, probe), progress)
    for name in sorted(column for column in table.frame.columns if column.startswith(CAME_ALONG)):
        rated = table.frame[name].to_numpy()
        looked_up: Probe = partial(lambda rated, _learn, score, _y: rated[score], rated)
        there = [trial for trial in out if np.isfinite(rated[trial.folds[0].score]).any()]
        yield from _scored(table, there, name, partial(_by_probe, table, looked_up), progress)


def learned_in(table: UnitTable, trials: Sequence[Trial], recipe: Recipe, progress: Progress) -> Iterator[TrialScores]:
    """The scores of a detector in each trial."""
    return _scored(table, trials, recipe.kind, partial(_fitted, table, recipe), progress)


def _scored(
    table: UnitTable, trials: Sequence[Trial], scorer: str, judge: Judge, progress: Progress
) -> Iterator[TrialScores]:
    for done, trial in enumerate(trials, 1):
        every, why = np.full(table.frame.height + table.players.height, np.nan), dict.fromkeys([trial.why])
        for fold in trial.folds:
            try:
                every[table.judged(fold.score)] = judge(fold)
            except UsageError as error:
                why[str(error)] = None
        progress(f"{scorer}: units", done, len(trials))
        yield TrialScores(trial, scorer, every, "; ".join(filter(None, why)))


def _fitted(table: UnitTable, recipe: Recipe, fold: Fold) -> Floats:
    """The scores of a fresh detector. Raises UsageError where it cannot learn."""
    if not len(fold.learn):
        return np.full(len(table.judged(fold.score)), np.nan)
    examples, detector = table.examples(recipe.text.context), recipe.untrained()
    shown, others = ([examples[row] for row in rows] for rows in (fold.learn, fold.score))
    detector.fit(shown, table.y[fold.learn], table.games[fold.learn])
    said = detector.predict_proba(others)[:, 1]
    return np.asarray(np.r_[said, players_of(table, fold.score, said, detector)], dtype=np.float64)


def _by_probe(table: UnitTable, probe: Probe, fold: Fold) -> Floats:
    """The scores of a probe; players have none where a statement has none."""
    said = probe(fold.learn, fold.score, table.y)
    whole = np.isfinite(said).all()
    players = players_of(table, fold.score, said) if whole else np.full(len(table.seats(fold.score)), np.nan)
    return np.concatenate([said, players])


def players_of(table: UnitTable, rows: Rows, scores: Floats, detector: Detector | None = None) -> Floats:
    """The posterior of the players of scored games at their end, those of `UnitTable.seats`. If it follows from the
    statements' scores, nothing is predicted again. detector: the source of the scores, if it is a detector.
    """
    seats = table.players[table.seats(rows)].select("game_id", "player")
    said: dict[str, dict[int, float]] = {game: {} for game in seats["game_id"]}
    places = {game: table.transcripts[game].places() for game in said}
    for game, key, score in zip(*table.frame[rows].select("game_id", "statement_id"), scores.tolist(), strict=True):
        if game in said:
            said[game][places[game][key]] = score
    moments = [GameMoment(table.transcripts[game]) for game in said]
    if detector is not None and detector.judges_players:
        found = detector.player_posteriors(moments)
    else:
        found = posteriors_of_scores(moments, list(said.values()))
    posterior = dict(zip(said, found, strict=True))
    return np.array([posterior[game][player] for game, player in seats.iter_rows()], dtype=np.float64)


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
