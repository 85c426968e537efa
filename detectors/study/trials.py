"""What learns from what across units (models, games, corpora, sources or tasks), and the resulting scores.

`pair`: learn from one unit, score every unit; a statement of a game in which the unit speaks is scored by a detector
that learned from the unit's other games (cross-validation by game). `left out`: learn from every game in which a unit
does not speak, score the games in which it does. So no statement is ever scored by a detector that has seen its game,
and a left-out unit is absent from training: no statement of it, and nothing said to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import ROLE, Detector, Progress, posteriors_of_scores
from liescope.detectors.detector_registry import DETECTORS, versions_of
from liescope.detectors.folds import Rows
from liescope.detectors.study.controls import BEST_WORD, CONTROLS, K_OF_N, LENGTH, ROLE_ORACLE
from liescope.detectors.study.schemes import Fold, Probe, by_group
from liescope.detectors.study.scores import CONTROL
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
        there = [trial for trial in out if np.isfinite(rated[trial.folds[0].score]).any()]
        yield from _scored(table, there, name, partial(_by_probe, table, _known(rated)), progress)


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


def _known(rated: Floats) -> Probe:
    return lambda _learn, score, _y: rated[score]


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
