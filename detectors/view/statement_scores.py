"""The game seen through a detector of single statements: what each player said, on average, against the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING

import numpy as np

from liescope.detectors.examples import examples_of
from liescope.detectors.view.posterior import Tables
from liescope.detectors.view.transcript import KILLED, Moment

if TYPE_CHECKING:
    from liescope.detectors.protocol import Detector, Progress

_EDGE = 1e-6


def player_posteriors(detector: Detector, moments: Sequence[Moment], progress: Progress) -> list[Mapping[str, float]]:
    """By moment, the probability of each player: log-odds of a player's statements, averaged with that of being dealt
    the role, so that who says little is suspected as much as anybody; then normalised in the game. Who was killed is
    ruled out: those who deceive do the killing.
    """
    wholes: dict[int, Moment] = {}
    for moment in moments:
        known = wholes.get(id(moment.transcript))
        if known is None or (known.upto is not None and (moment.upto is None or moment.upto > known.upto)):
            wholes[id(moment.transcript)] = moment
    examples = {key: examples_of(moment, detector.text.context) for key, moment in wholes.items()}
    every = [example for found in examples.values() for example in found.values()]
    scores = iter(detector.predict_proba(every, progress)[:, 1].tolist() if every else ())
    scored = {key: {at: next(scores) for at in found} for key, found in examples.items()}
    return posteriors_of_scores(moments, [scored[id(moment.transcript)] for moment in moments])


def posteriors_of_scores(moments: Sequence[Moment], scores: Sequence[Mapping[int, float]]) -> list[Mapping[str, float]]:
    """The same where the scores are at hand. scores: by moment, the probability of each statement, by its place."""
    logits = [_logits(moment, own) for moment, own in zip(moments, scores, strict=True)]
    tables = Tables.of([len(table) for table in logits], [moment.transcript.deceivers for moment in moments])
    found = iter(tables.posterior(np.array([one for table in logits for one in table])).tolist())
    return [{name: next(found) for name in moment.transcript.names} for moment in moments]


def _logits(moment: Moment, scores: Mapping[int, float]) -> list[float]:
    """By player, in the order of their names."""
    game, own = moment.transcript, defaultdict[str, list[float]](list)
    for at, turn in game.said(moment.upto):
        if at in scores:
            own[turn.player].append(_log_odds(scores[at]))
    dealt = (game.deceivers or 0) / len(game.names)
    prior = _log_odds(dealt) if 0 < dealt < 1 else 0.0
    killed = {turn.player for turn in game.turns[: moment.upto] if turn.kind == KILLED}
    return [
        _log_odds(0.0) if name in killed else (sum(own[name]) + prior) / (len(own[name]) + 1) for name in game.names
    ]


def _log_odds(probability: float) -> float:
    inside = min(max(probability, _EDGE), 1 - _EDGE)
    return log(inside / (1 - inside))
