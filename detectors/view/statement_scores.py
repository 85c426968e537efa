"""The game seen through a detector of single statements: what each player said, on average, against the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from liescope.detectors.examples import examples_of
from liescope.detectors.view.posterior import posterior
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
    odds = iter(logit(np.clip(detector.predict_proba(every, progress)[:, 1], _EDGE, 1 - _EDGE)) if every else ())
    scored = {key: {at: float(next(odds)) for at in found} for key, found in examples.items()}
    return [_posterior(moment, scored[id(moment.transcript)]) for moment in moments]


def _posterior(moment: Moment, odds: Mapping[int, float]) -> Mapping[str, float]:
    game, own = moment.transcript, defaultdict[str, list[float]](list)
    for at, turn in game.said(moment.upto):
        if at in odds:
            own[turn.player].append(odds[at])
    dealt = (game.deceivers or 0) / len(game.names)
    prior = float(logit(dealt)) if 0 < dealt < 1 else 0.0
    killed = {turn.player for turn in game.turns[: moment.upto] if turn.kind == KILLED}
    logits = np.array(
        [logit(_EDGE) if name in killed else (sum(own[name]) + prior) / (len(own[name]) + 1) for name in game.names]
    )
    return dict(zip(game.names, posterior(logits, game.deceivers).tolist(), strict=True))
