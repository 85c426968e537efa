"""Checks before any figure is believed: copies of what was learned, and meaningless labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from liescope.common.statistics import Bools, game_weights
from liescope.common.text import Units
from liescope.detectors.detector import Progress
from liescope.detectors.examples import make_examples, target_column
from liescope.detectors.learned_from import SHORT, Copies, LearnedStatements, copied_games, is_long, normal
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.controls import CONTROLS, SHUFFLED, WORDS, deal_to_other_games, short_name
from liescope.detectors.study.figures import CHANCE, GAIN, Figure, Jackknifed, describe
from liescope.detectors.study.metrics import OF_SHUFFLES, POOLED, WITHIN, Scored, measure, pooled_auroc
from liescope.detectors.study.schemes import Fold, Probe, Scheme
from liescope.detectors.study.scores import CONTROL, FINISHED, ScoringPlan, in_pairs, per_detector, scored

COPIES, SHUFFLES = "copies", "shuffled labels"
WITHOUT_COPIES = "without-copies"
MANY = 0.3
"""A share of copies above which figures over all are not those of new texts."""
_NAMED, _TIMES, _MOST = 3, 20, 1_000


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found. name: COPIES or SHUFFLES; scorer, target: of whom; bad: whether the overall figures are
    misleading; sentences: what a reader must know, empty if nothing; figures: the rows that it rests on.
    """

    name: str
    scorer: str
    target: str
    bad: bool
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()


def copies(
    models: Mapping[str, LoadedDetector | None],
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    plan: ScoringPlan,
    scheme: Scheme,
) -> Iterator[Check]:
    """By detector, repeats of what it had learned. models: None for what learned anew, by the scheme."""
    for name, target, table in per_detector(scores.filter(pl.col("scorer").is_in(list(models))), statements):
        table = plan.evaluated(table)
        found = _copies_in(table, target, models[name], scheme)
        if not found.near.any():
            continue
        metric = POOLED if in_pairs(table).is_empty() else WITHIN
        every, rest = (_ranked(table, rows, metric, plan) for rows in (np.ones(table.height, dtype=bool), ~found.near))
        same, near, long = (int(part.sum()) for part in (found.exact, found.near, found.long))
        called = Units.of(table["game"].unique())  # in games, players repeat stock phrases
        many = near > MANY * long and not called.are_games
        bad = bool(found.games) or many or (every - rest).certain > GAIN[0]
        figure = rest.figure(name, target, f"{plan.split}:{WITHOUT_COPIES}", metric)
        who = short_name(name)
        what = "share stock phrases with" if called.are_games and not found.games else "repeat"
        words = (
            f"{near / long:.0%} of the {called.statements} of {SHORT} words or more {what} {called.statements} that "
            f"{who} learned from, names masked ({same / long:.0%} word for word)."
        )
        some = ", ".join(map(repr, sorted(found.games)[:_NAMED])) + ", …" * (len(found.games) > _NAMED)
        again = (
            f"{len(found.games):,} of the {table['game_id'].n_unique():,} evaluated {called.games} ({some}) repeat one "
            f"that {who} learned from, under another id."
        )
        yield Check(COPIES, name, target, bad, (again, words) if found.games else (words,), (figure,))


def _copies_in(table: pl.DataFrame, target: str, model: LoadedDetector | None, scheme: Scheme) -> Copies:
    """Copies of what each statement's scorer learned from: all, if it is finished; else other folds of a division."""
    fold, texts, games = table["fold"].to_numpy(), make_examples(table, 0, target), set[str]()
    long = np.array([is_long(text) for text in normal(texts)], dtype=bool)
    exact, near = np.zeros(len(long), dtype=bool), np.zeros(len(long), dtype=bool)
    done = fold == FINISHED
    if model is not None:
        known = LearnedStatements.read(model.folder)
        found = known.copies([one for one, there in zip(texts, done, strict=True) if there])
        exact[done], near[done], games = found.exact, found.near, set(found.games)
    rows = np.flatnonzero(~done)
    ids = table["game_id"].to_numpy().astype(np.str_)[rows]
    names, at = np.unique(ids), rows[long[rows]]
    every = LearnedStatements.of([texts[row] for row in rows], ids)
    anew = scheme.among(table["statement_id"]).folds if len(rows) else np.empty((0, len(fold)))
    for division in anew if len(anew) and (anew[0] == fold).all() else [fold]:
        for number in np.unique(division[at]):
            own = division[at] == number
            learned, mine = every.part(~own), every.part(own)
            same, alike = learned.repeats(mine)
            exact[at[own]] |= same
            near[at[own]] |= alike
            games |= {str(names[game]) for game in copied_games(learned.texts, mine.texts)}
    return Copies(long, exact, near, frozenset(games))


def _ranked(table: pl.DataFrame, rows: Bools, metric: str, plan: ScoringPlan) -> Jackknifed:
    """The AUROC of some rows of a table, with all of its games left out in turn."""
    data, part = scored(table), table.filter(pl.Series(rows))
    own = None if data.own is None else data.own[rows]
    some = Scored(data.y[rows], data.score[rows], data.game[rows], data.games, own, alike=plan.alike)
    values = measure(some, game_weights(data.games, plan.seed), (metric,))[metric]
    return Jackknifed(values, *describe(part))


def shuffles(table: pl.DataFrame, scheme: Scheme, target: str, plan: ScoringPlan, progress: Progress) -> Check | None:
    """What words reach, learning and scoring as usual, when labels are dealt to other games, several times: .5 unless
    the division itself leaks labels. table: the rows of the scheme.
    """
    groups = scheme.groups
    known, drawn = table[target_column(target)].is_not_null().to_numpy(), _some(groups, plan.seed)
    if not scheme.repeats:
        return None
    probe = CONTROLS[WORDS].made(table, plan.seed)
    first, half = scheme.repeats[0], len(scheme.repeats[0]) // 2  # one division, dealt many times, is enough
    score = np.concatenate([fold.score for fold in first[: half or 1]])
    learn = np.setdiff1d(first[0].learn, score) if half else first[0].learn
    once = [Fold(learn[drawn[learn]], score[drawn[score] & known[score]])]
    values = []
    for number in range(_TIMES):
        progress("shuffled labels", number, _TIMES)
        values.append(reached(dealt(replace(scheme, repeats=[once]), known, plan.seed + number), known, probe))
    progress("shuffled labels", _TIMES, _TIMES)
    if not np.isfinite(values).all():
        return None
    reach = float(np.mean(values)), min(values), max(values)
    counted = int(drawn.sum()), len(np.unique(groups[drawn]))
    figure = Figure(CONTROL + SHUFFLED, target, plan.split, OF_SHUFFLES, *reach, *counted)
    words = (
        f"With labels that mean nothing, words reach an AUROC of {figure:.2f} on average over {_TIMES} shuffles: the "
        "division itself lets labels through."
    )
    bad = lets_through(values)
    return Check(SHUFFLES, CONTROL + SHUFFLED, target, bad, (words,) if bad else (), (figure,))


def dealt(scheme: Scheme, known: Bools, seed: int) -> Scheme:
    """The scheme with the known labels, (n,), dealt to other games."""
    y = scheme.y.copy()
    y[known] = deal_to_other_games(scheme.y[known], scheme.groups[known], seed)
    return replace(scheme, y=y)


def reached(scheme: Scheme, known: Bools, probe: Probe) -> float:
    """The AUROC of a probe on the labels from which it learned; NaN if a class is missing."""
    score = scheme.scores(probe)
    there = known & np.isfinite(score)
    found = Scored(scheme.y[there], score[there], np.zeros(there.sum(), dtype=np.int64), 1)
    return float(pooled_auroc(found, np.ones((1, 1), dtype=np.float32))[0])


def lets_through(values: Sequence[float]) -> bool:
    """Whether meaningless labels can be predicted: shuffles are certainly above chance."""
    return bool(np.mean(values) - 3 * np.std(values) / np.sqrt(len(values)) > CHANCE + 2 * GAIN[0])


def _some(groups: np.ndarray, seed: int) -> Bools:
    """Whole groups drawn at random, with at most so many statements in all."""
    names, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(names))
    kept = order[counts[order].cumsum() <= max(_MOST, counts[order[0]])] if len(names) else order
    return np.asarray(np.isin(group, kept))
