"""Fitting every detector of a plan, or reading what was fitted before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from liescope.common.errors import UsageError
from liescope.detectors.examples import Example
from liescope.detectors.protocol import ROLE, Detector, Progress, posteriors_of_scores
from liescope.detectors.transfer.choose import Choice, Recipe, choose
from liescope.detectors.transfer.plan import LEFT_OUT, PROTOCOLS, Fit, with_labels
from liescope.detectors.transfer.store import Fitted, Keys, Store
from liescope.detectors.transfer.table import Table
from liescope.detectors.view.transcript import Moment

NOTHING_CHOSEN = Choice({}, "", ())


@dataclass(frozen=True, slots=True)
class Scores:
    """What the fits of one unit under one protocol give to every statement of the table.

    score: (n,), NaN where there is none; players: of every player of the table, after the whole game; unheard: (n,),
    whether no model of the statement's table spoke in a game that the detector learned from; reasons: why statements
    have no score; choices: of each fit, with how many statements it learned from.
    """

    by: str
    protocol: str
    unit: str
    detector: str
    score: NDArray[np.float64]
    players: NDArray[np.float64]
    unheard: NDArray[np.bool_]
    reasons: tuple[str, ...]
    choices: tuple[tuple[Choice, int], ...]


def fit_all(
    table: Table, fits: Sequence[Fit], recipes: Sequence[Recipe], store: Store | None, progress: Progress
) -> list[Scores]:
    """Scores by unit, protocol and detector, in the order of the plan. Fits that the store has are read from it."""
    found: list[Scores] = []
    for recipe in recipes:
        what = f"{recipe.name}: statements learned from"
        named = Keys.of(table, recipe)
        keys = ["" if fit.reason else named.key(fit) for fit in fits]
        known = {
            "": None,
            **{key: store.read(key, fit, table) for key, fit in zip(keys, fits, strict=True) if key and store},
        }
        missing = {key: fit for key, fit in zip(keys, fits, strict=True) if key and not known.get(key)}
        todo, learned = sum(len(fit.learn) for fit in missing.values()), 0
        for key, fit in missing.items():
            progress(what, learned, todo)
            done = known[key] = _fit(table, fit, recipe)
            if store:
                store.write(key, fit, done, table)
            learned += len(fit.learn)
            progress(what, learned, todo)
        grouped: dict[tuple[str, str, str], list[tuple[Fit, Fitted]]] = {}
        for key, fit in zip(keys, fits, strict=True):
            done = known[key] or Fitted(np.empty(0), np.empty(0), NOTHING_CHOSEN, fit.reason)
            grouped.setdefault((fit.by, fit.protocol, fit.unit), []).append((fit, done))
        found += [_scores(table, recipe.name, *where, parts) for where, parts in grouped.items()]
    return found


def without_labels(table: Table, fits: Sequence[Fit], scores: Sequence[Scores]) -> list[Scores]:
    """What detectors that learned nothing of a unit give to the games that those with labels of it score."""
    rows = {(fit.by, fit.unit): fit.score for fit in fits if fit.protocol not in PROTOCOLS and not fit.reason}
    found = []
    for part in scores:
        if part.protocol == LEFT_OUT and (part.by, part.unit) in rows:
            score, players = np.full_like(part.score, np.nan), np.full_like(part.players, np.nan)
            for kept, whole, at in (
                (score, part.score, rows[part.by, part.unit]),
                (players, part.players, table.seats(rows[part.by, part.unit])),
            ):
                kept[at] = whole[at]
            found.append(replace(part, protocol=with_labels(0), score=score, players=players))
    return found


def _fit(table: Table, fit: Fit, recipe: Recipe) -> Fitted:
    choice = choose(table, fit.learn, fit.by, recipe)
    detector = recipe.made(choice.setting)
    examples = table.examples(detector.text.context)
    learn, score = ([examples[i] for i in rows] for rows in (fit.learn, fit.score))
    try:
        (scores,) = recipe.detector.try_each([detector], learn, table.y[fit.learn], table.games[fit.learn], score)
    except UsageError as error:
        return Fitted(np.empty(0), np.empty(0), choice, str(error))
    return Fitted(scores, _players(detector, score, scores), choice)


def _players(detector: Detector, examples: Sequence[Example], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The posterior of the players of scored games at their end, game after game; of those whose target is the role.
    Where it follows from the scores of statements, nothing is predicted again.
    """
    scored: dict[str, tuple[Moment, dict[int, float]]] = {}
    for example, score in zip(examples, scores.tolist(), strict=True):
        if example.target == ROLE and example.seen:
            game = example.seen.transcript
            _, own = scored.setdefault(example.game_id, (Moment(game), {}))
            own[game.place(example.statement_id)] = score
    moments = [moment for moment, _ in scored.values()]
    if detector.judges_players:
        found = detector.player_posteriors(moments)
    else:
        found = posteriors_of_scores(moments, [own for _, own in scored.values()])
    seats = zip(moments, found, strict=True)
    return np.array([players[name] for moment, players in seats for name in moment.transcript.names], dtype=np.float64)


def _scores(
    table: Table, detector: str, by: str, protocol: str, unit: str, parts: Sequence[tuple[Fit, Fitted]]
) -> Scores:
    score, players = np.full(table.frame.height, np.nan), np.full(table.players.height, np.nan)
    unheard = np.zeros(table.frame.height, bool)
    models, speakers = table.frame["models"].to_list(), table.column("speaker_model")
    for fit, done in parts:
        if done.reason:
            continue
        score[fit.score] = done.score
        players[table.seats(fit.score)] = done.players
        learned_in = np.isin(table.games, np.unique(table.games[fit.learn]))
        heard = set(speakers[learned_in])
        unheard[fit.score] = [heard.isdisjoint(models[i] or ()) for i in fit.score]
    return Scores(
        *(by, protocol, unit, detector, score, players, unheard),
        tuple(dict.fromkeys(done.reason for _, done in parts if done.reason)),
        tuple((done.choice, len(fit.learn)) for fit, done in parts if not done.reason),
    )
