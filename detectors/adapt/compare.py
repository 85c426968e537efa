"""What adapting has brought: the detector before and after on the same games, and the paired difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from liescope.detectors.evaluation.bootstrap import codes, estimate, game_weights, share
from liescope.detectors.evaluation.metrics import Floats, Scored, Weights
from liescope.detectors.evaluation.ranking import rank_metrics
from liescope.detectors.examples import Labelled
from liescope.detectors.model_file import Gain
from liescope.detectors.protocol import ROLE, Detector, Progress
from liescope.detectors.view.transcript import KILLED, Moment

ONLINE, WHOLE, TOP = "AUROC, online", "AUROC, whole game", "most suspect deceives"
NEW, OWN = "new games", "own games"
Truth = Mapping[str, frozenset[str]]


def gains(
    where: str,
    before: Detector,
    after: Detector,
    data: Labelled,
    truth: Truth,
    draws: int,
    seed: int,
    show: Progress,
) -> list[Gain]:
    """How well both detectors do on some games, and the interval of the difference over resamples of these games."""
    if not len(data.y) or data.y.all() or not data.y.any():
        return []
    game, games = codes(data.groups)
    weights = game_weights(games, draws, seed)
    figures = [dict(_figures(one, data, game, weights, truth, show)) for one in (before, after)]
    found = []
    for metric, old in figures[0].items():
        new = figures[1][metric]
        _, lo, hi = estimate(new - old)
        found.append(
            Gain(
                where=where,
                metric=metric,
                before=_defined(old[0]),
                after=_defined(new[0]),
                lo=lo,
                hi=hi,
                statements=len(data.y),
                games=games,
            )
        )
    return found


def _figures(
    detector: Detector, data: Labelled, game: np.ndarray, weights: Weights, truth: Truth, show: Progress
) -> Iterator[tuple[str, Floats]]:
    """Each metric, (draws,)."""
    games = weights.shape[1]
    online = detector.predict_proba(data.examples, show)[:, 1]
    yield ONLINE, rank_metrics(Scored(data.y, online, game, games), weights, {})["auroc"]
    if data.examples[0].target != ROLE:
        return
    whole = detector.predict_whole(data.examples, show)
    yield WHOLE, rank_metrics(Scored(data.y, whole, game, games), weights, {})["auroc"]
    hits, known = np.zeros(games), np.zeros(games)
    numbers = dict(zip(data.groups.tolist(), game.tolist(), strict=True))
    seen = {one.game_id: one.seen.transcript for one in data.examples if one.seen and one.game_id in truth}
    for name, players in zip(seen, detector.player_posteriors([Moment(one) for one in seen.values()]), strict=True):
        killed = {turn.player for turn in seen[name].turns if turn.kind == KILLED}
        left = {player: chance for player, chance in players.items() if player not in killed}
        known[numbers[name]] = 1.0
        hits[numbers[name]] = max(left, key=lambda player: left[player]) in truth[name]
    yield TOP, share(hits, known, np.arange(games), weights)


def _defined(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
