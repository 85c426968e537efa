"""What must be looked at before any figure is believed: copies of what was learned, and labels that mean nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from liescope.common.statistics import Bools, Floats, Spread, estimate, game_weights
from liescope.common.text import Units
from liescope.detectors.detector import Progress
from liescope.detectors.examples import make_examples, target_column
from liescope.detectors.folds import Rows
from liescope.detectors.learned_from import SHORT, Copies, LearnedStatements, copied_games, is_long, normal
from liescope.detectors.saved import LoadedDetector
from liescope.detectors.study.controls import CONTROLS, SHUFFLED, deal_to_other_games, scorer_words
from liescope.detectors.study.figures import Figure, describe
from liescope.detectors.study.learned import quick
from liescope.detectors.study.metrics import OF_SHUFFLES, POOLED, WITHIN, Scored, pooled_auroc, within_games
from liescope.detectors.study.schemes import Part, Probe, Scheme, fold_numbers
from liescope.detectors.study.scores import CONTROL, FINISHED, ScoringPlan, in_pairs, per_detector, resampled_as, scored

COPIES, SHUFFLES = "copies", "shuffled labels"
WITHOUT_COPIES = "without-copies"
MANY = 0.3
"""A share of copies above which figures over all are not those of new texts."""
_GAIN = 0.01  # in AUROC, that copies must certainly add to be alarming
_NAMED, _TIMES, _MOST = 3, 20, 1_000


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found. name: COPIES or SHUFFLES; scorer, target: of whom; bad: whether figures over all cannot be
    taken for what they seem; sentences: what a reader must know, nothing where there is nothing to tell; figures: the
    rows that it rests on.
    """

    name: str
    scorer: str
    target: str
    bad: bool
    sentences: tuple[str, ...]
    figures: tuple[Figure, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "figures": [one.to_json() for one in self.figures]}


def copies(
    models: Mapping[str, LoadedDetector | None],
    scores: pl.DataFrame,
    statements: pl.DataFrame,
    plan: ScoringPlan,
    schemes: Mapping[str, Scheme],
) -> Iterator[Check]:
    """For each detector, evaluated statements that repeat what it learned from before it scored them. models: None for
    what only learned anew; schemes: by target, of those that did.
    """
    for name, target, every_one in per_detector(scores.filter(pl.col("scorer").is_in(list(models))), statements):
        model, table = models[name], plan.evaluated(every_one)
        if table.is_empty():
            continue
        found = _copies_in(table, target, model, plan, schemes.get(target))
        if not found.near.any():
            continue
        every, rest = (_ranked(table, use, plan) for use in (np.ones(table.height, dtype=bool), ~found.near))
        where = f"{plan.split}:{WITHOUT_COPIES}"
        metric = next(iter(every))
        figure = _figure(name, target, where, metric, rest[metric], table.filter(pl.Series(~found.near)))
        same, near, long = (int(part.sum()) for part in (found.exact, found.near, found.long))
        gain = every[metric] - rest[metric]
        spread = Spread.of(gain, table[resampled_as(table)].n_unique())
        called = Units.of(table["game"].unique())  # in games, players have stock phrases
        many = near > MANY * long and not called.are_games
        bad = bool(found.games) or many or (spread is not None and float(gain[0]) - 3 * spread.error > _GAIN)
        said = scorer_words(name).removeprefix("control: ")
        words = tuple(_words(found, (same, near, long), said, table["game_id"].n_unique(), called))
        yield Check(COPIES, name, target, bad, words, (figure,))


def _copies_in(
    table: pl.DataFrame, target: str, model: LoadedDetector | None, plan: ScoringPlan, scheme: Scheme | None
) -> Copies:
    """Copies of what the scorer of each statement learned from: the finished one's statements, or other folds."""
    examples = make_examples(table, 0, target)
    finished, games = (table["fold"] == FINISHED).to_numpy(), set[str]()
    long, exact, near = (np.zeros(len(examples), dtype=bool) for _ in range(3))
    if model is not None:
        found = model.learned().copies([one for one, there in zip(examples, finished, strict=True) if there])
        long[finished], exact[finished], near[finished] = found.long, found.exact, found.near
        games |= found.games
    crossed = [one for one, there in zip(examples, finished, strict=True) if not there]
    if crossed:
        part = table.filter(~pl.Series(finished))
        every = LearnedStatements.of(crossed, part["game_id"].to_numpy().astype(np.str_))
        ids, kept = np.unique(part["game_id"].to_numpy().astype(np.str_)), np.flatnonzero(~finished)
        long[kept] = [is_long(text) for text in normal(crossed)]
        at = kept[long[kept]]
        for fold in _folds(part, model, plan, scheme):
            fold = fold[long[kept]]
            for number in np.unique(fold):
                learned, mine = every.part(fold != number), every.part(fold == number)
                same, alike = learned.repeats(mine)
                exact[at[fold == number]] |= same
                near[at[fold == number]] |= alike
                games |= {str(ids[game]) for game in copied_games(learned.texts, mine.texts)}
    return Copies(long, exact, near, frozenset(games))


def _folds(part: pl.DataFrame, model: LoadedDetector | None, plan: ScoringPlan, scheme: Scheme | None) -> list[Rows]:
    """The divisions by which a detector learned anew; the one that is kept where it did not."""
    if scheme is None or (model is not None and not (plan.crossed(model.name) and quick(model))):
        return [part["fold"].to_numpy()]
    return [fold_numbers(parts, part.height) for parts in scheme.among(part["statement_id"]).repeats]


def _words(found: Copies, counts: tuple[int, int, int], name: str, games: int, called: Units) -> Iterator[str]:
    same, near, long = counts
    if found.games:
        some = ", ".join(map(repr, sorted(found.games)[:_NAMED])) + ", …" * (len(found.games) > _NAMED)
        yield (
            f"{len(found.games):,} of the {games:,} evaluated {called.games} ({some}) repeat one "
            f"that {name} learned from, under another id."
        )
    what = "share stock phrases with" if called.are_games and not found.games else "repeat"
    yield (
        f"{near / long:.0%} of the {called.statements} of {SHORT} words or more {what} {called.statements} that {name} "
        f"learned from, names masked ({same / long:.0%} word for word)."
    )


def _ranked(table: pl.DataFrame, use: Bools, plan: ScoringPlan) -> dict[str, Floats]:
    """The AUROC by which scorers are judged, of some rows of a table, with all of its games left out in turn."""
    data = scored(table)
    own = data.own[use] if data.own is not None else None
    part = Scored(data.y[use], data.score[use], data.game[use], data.games, own)
    weights = game_weights(data.games, plan.seed)
    if in_pairs(table).height:
        return {WITHIN: within_games(part, weights, plan.alike)}
    return {POOLED: pooled_auroc(part, weights)}


def _figure(scorer: str, target: str, where: str, metric: str, values: Floats, table: pl.DataFrame) -> Figure:
    statements, games, prevalence = describe(table)
    return Figure(scorer, target, where, metric, *estimate(values, games), statements, games, prevalence)


def shuffles(table: pl.DataFrame, scheme: Scheme, target: str, plan: ScoringPlan, progress: Progress) -> Check | None:
    """What words reach where labels are dealt to other games, learned and scored alike, several times over: .5, or the
    division itself lets labels through. table: the rows of the scheme.
    """
    groups = scheme.groups
    known, drawn = table[target_column(target)].is_not_null().to_numpy(), _some(groups, plan.seed)
    if not scheme.repeats:
        return None
    probe = CONTROLS["words"].made(table, plan.seed)
    first = scheme.repeats[0][0]  # one division is enough, many times over
    half = len(scheme.repeats[0]) // 2
    score = np.concatenate([part.score for part in scheme.repeats[0][: half or 1]])
    learn = np.setdiff1d(first.learn, score) if half else first.learn
    parts = [Part(learn[drawn[learn]], score[drawn[score] & known[score]])]
    values = []
    for number in range(_TIMES):
        progress("shuffled labels", number, _TIMES)
        values.append(reached(dealt(replace(scheme, repeats=[parts]), known, plan.seed + number), known, probe))
    progress("shuffled labels", _TIMES, _TIMES)
    if not np.isfinite(values).all():
        return None
    mean, bad = float(np.mean(values)), lets_through(values)
    counted = int(drawn.sum()), len(np.unique(groups[drawn]))
    figure = Figure(CONTROL + SHUFFLED, target, plan.split, OF_SHUFFLES, mean, min(values), max(values), *counted)
    words = (
        f"With labels that mean nothing, words reach an AUROC of {mean:.2f} on average over {_TIMES} shuffles "
        f"({min(values):.2f} to {max(values):.2f}): the division itself lets labels through."
    )
    return Check(SHUFFLES, CONTROL + SHUFFLED, target, bad, (words,) if bad else (), (figure,))


def dealt(scheme: Scheme, known: Bools, seed: int) -> Scheme:
    """The scheme with the labels of those that have one, (n,) known, dealt to other games."""
    y = scheme.y.copy()
    y[known] = deal_to_other_games(scheme.y[known], scheme.groups[known], seed)
    return replace(scheme, y=y)


def reached(scheme: Scheme, known: Bools, probe: Probe) -> float:
    """The AUROC of a probe on the labels from which it learned; not a number where a class is missing."""
    score = scheme.scores(probe)
    there = known & np.isfinite(score)
    found = Scored(scheme.y[there], score[there], np.zeros(there.sum(), dtype=np.int64), 1)
    return float(pooled_auroc(found, np.ones((1, 1), dtype=np.float32))[0])


def lets_through(values: Sequence[float]) -> bool:
    """Whether labels that mean nothing are found: what shuffles reach is certainly above chance."""
    return bool(np.mean(values) - 3 * np.std(values) / np.sqrt(len(values)) > 0.5 + 2 * _GAIN)


def _some(groups: np.ndarray, seed: int) -> Bools:
    """Whole groups drawn at random, of so many statements at most."""
    names, group, counts = np.unique(groups, return_inverse=True, return_counts=True)
    order = np.random.default_rng(seed).permutation(len(names))
    kept = order[counts[order].cumsum() <= max(_MOST, counts[order[0]])] if len(names) else order
    return np.asarray(np.isin(group, kept))
