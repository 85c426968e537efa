"""What learns from what across units (models, games, corpora, sources or tasks), and the resulting scores.

`pair`: learn from one unit, score every unit; a statement of a game in which the unit speaks is scored by a detector
that learned from the unit's other games (cross-validation by game). `left out`: learn from every game in which a unit
does not speak, score the games in which it does. So no statement is ever scored by a detector that has seen its game,
and a left-out unit is absent from training: no statement of it, and nothing said to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import ROLE, Detector, Progress, posteriors_of_scores
from liescope.detectors.detector_registry import detector_class, versions_of
from liescope.detectors.folds import Rows
from liescope.detectors.study.controls import BEST_WORD, CONTROLS, K_OF_N, LENGTH, ROLE_ORACLE
from liescope.detectors.study.schemes import Fold, by_group
from liescope.detectors.study.scores import CONTROL
from liescope.detectors.study.units import CAME_ALONG, UnitTable
from liescope.detectors.text_form import TextConfig
from liescope.detectors.training import Recipe
from liescope.detectors.view.transcript import GameMoment

PAIR, LEFT_OUT = "pair", "left out"
PROTOCOLS = (PAIR, LEFT_OUT)
_ONLY_TESTED = "the suite says that detectors are only tested on it"


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What is learned from one unit (`pair`), or where one is left out. by: the kind of unit; folds: rows of the table;
    those that learn from nothing are scored only by scorers that need not learn; why: why they learn from nothing, or
    "".
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
    units, families = table.units(by), table.frame["family"].to_numpy()
    for unit in np.unique(units).tolist():
        own = units == unit
        yield _from_one(table, by, unit, own, seed)
        its_games = np.isin(table.games, table.games[own])
        rest = ~its_games & np.isin(families, families[own])
        why = f"{unit} speaks everywhere, so that nothing is left to learn from" if its_games.all() else ""
        yield _trial(table, by, LEFT_OUT, unit, rest, its_games, why)


def _from_one(table: UnitTable, by: str, unit: str, own: Bools, seed: int) -> Trial:
    known = own & table.learnable
    inside = np.isin(table.games, table.games[known])
    across = _trial(table, by, PAIR, unit, own, ~inside)
    if across.why:
        return across
    # A statement of a game that was learned from is scored by a fold that did not learn from that game.
    by_game = by_group(table.frame["statement_id"], table.games, table.y, known, seed, 1).repeats
    at_home = [Fold(one.learn, one.score[inside[one.score]], one.number) for folds in by_game for one in folds]
    few = f"{unit}: too few games with deceptive and with honest statements for cross-validation by game"
    folds = [fold for fold in (*across.folds, *at_home) if len(fold.score)]
    return replace(across, folds=folds, why="" if by_game else few)


def _trial(table: UnitTable, by: str, protocol: str, unit: str, learn: Bools, score: Bools, why: str = "") -> Trial:
    """A trial that learns once. why: why it does not, if that is known already."""
    what = unit if protocol == PAIR else f"what is left without {unit}"
    known, learn = learn & table.labelled, learn & table.learnable
    if known.any() and not learn.any():
        marked = table.frame["canary"].to_numpy()[known].all()
        lacking = "all of it carries a canary, so that nothing is learned from it" if marked else _ONLY_TESTED
        why = why or f"{what}: {lacking}"
    why = why or why_one_class(table.y[learn], what)
    return Trial(by, protocol, unit, [Fold(np.flatnonzero(learn & (not why)), np.flatnonzero(score))], why)


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
    takes = {kind: set(detector_class(kind).options_type.model_fields) for kind in kinds}
    if odd := sorted(set(options) - set().union(*takes.values())):
        raise UsageError(f"none of {', '.join(kinds)} has the option --{odd[0].replace('_', '-')}")
    recipes = []
    for kind in kinds:
        versions_of(kind)
        own = {name: value for name, value in options.items() if name in takes[kind]}
        recipes.append(Recipe(kind, "", text, own, 0, seed))
        recipes[-1].untrained().prepare()
    return recipes


def learned_in(
    table: UnitTable, trials: Sequence[Trial], recipes: Sequence[Recipe], progress: Progress
) -> Iterator[TrialScores]:
    """The scores of each detector in each trial."""
    for recipe in recipes:
        done, work = 0, sum(len(fold.learn) for trial in trials for fold in trial.folds)
        for trial in trials:
            every, why = table.nothing(), dict.fromkeys([trial.why])
            for fold in (one for one in trial.folds if len(one.learn)):
                try:
                    every[table.judged(fold.score)] = _fitted(table, recipe, fold)
                except UsageError as error:
                    why[str(error)] = None
                done += len(fold.learn)
                progress(f"{recipe.kind}: statements learned from", done, work)
            yield TrialScores(trial, recipe.kind, every, "; ".join(filter(None, why)))


def _fitted(table: UnitTable, recipe: Recipe, fold: Fold) -> Floats:
    """A fresh detector's scores of the statements, then of their players. Raises UsageError where it cannot
    learn.
    """
    examples, detector = table.examples(recipe.text.context), recipe.untrained()
    shown, others = ([examples[row] for row in rows] for rows in (fold.learn, fold.score))
    detector.fit(shown, table.y[fold.learn], table.games[fold.learn])
    said = detector.predict_proba(others)[:, 1]
    return np.asarray(np.r_[said, players_of(table, fold.score, said, detector)], dtype=np.float64)


def players_of(table: UnitTable, rows: Rows, scores: Floats, detector: Detector | None = None) -> Floats:
    """The posterior of the players of scored games at their end, those of `UnitTable.seats`. If it follows from the
    statements' scores, nothing is predicted again. detector: the source of the scores, if it is a detector.
    """
    seats = table.players[table.seats(rows)].select("game_id", "player")
    said: dict[str, dict[int, float]] = {game: {} for game in seats["game_id"]}
    for game, key, score in zip(*table.frame[rows].select("game_id", "statement_id"), scores.tolist(), strict=True):
        if game in said:
            said[game][table.transcripts[game].place(key)] = score
    moments = [GameMoment(table.transcripts[game]) for game in said]
    if detector is not None and detector.judges_players:
        found = detector.player_posteriors(moments)
    else:
        found = posteriors_of_scores(moments, list(said.values()))
    posterior = dict(zip(said, found, strict=True))
    return np.array([posterior[game][player] for game, player in seats.iter_rows()], dtype=np.float64)


FLOORS = (LENGTH, "position", BEST_WORD, "others", K_OF_N, ROLE_ORACLE)
"""The controls that stand beside what is left out; the last where no target is the role itself."""


def beside(table: UnitTable, trials: Sequence[Trial], seed: int, progress: Progress) -> Iterator[TrialScores]:
    """The scores of controls, which learn what a detector learns from, and of judges, of each unit that is left out."""
    out = [(trial, trial.folds[0]) for trial in trials if trial.protocol == LEFT_OUT]
    controls = [name for name in FLOORS if name != ROLE_ORACLE or ROLE not in table.targets.values()]
    for done, name in enumerate(controls, 1):
        if CONTROLS[name].knows(table.frame):
            probe = CONTROLS[name].made(table.frame, seed)
            for trial, fold in out:
                if not trial.why:
                    yield _beside(table, CONTROL + name, trial, fold, probe(fold.learn, fold.score, table.y))
        progress("controls", done, len(controls))
    for name in sorted(column for column in table.frame.columns if column.startswith(CAME_ALONG)):
        rated = table.frame[name].to_numpy()
        for trial, fold in out:
            if np.isfinite(rated[fold.score]).any():
                yield _beside(table, name, trial, fold, rated[fold.score])


def _beside(table: UnitTable, scorer: str, trial: Trial, fold: Fold, said: Floats) -> TrialScores:
    every = table.nothing()
    every[fold.score] = said
    if np.isfinite(said).all():
        every[table.judged(fold.score)] = np.r_[said, players_of(table, fold.score, said)]
    return TrialScores(trial, scorer, every)
