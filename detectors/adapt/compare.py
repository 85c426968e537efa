"""What adapting has brought: the detector before and after on the same games, and the paired difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from liescope.common.statistics import Floats, Weights, codes, estimate, game_weights, share
from liescope.detectors.evaluation.metrics import Scored
from liescope.detectors.evaluation.ranking import pairs_within, pooled_auroc, within_games
from liescope.detectors.examples import Labelled
from liescope.detectors.model_file import Gain
from liescope.detectors.protocol import ROLE, Detector, Progress
from liescope.detectors.view.transcript import KILLED, Moment

ONLINE, WHOLE, TOP = "AUROC online", "AUROC whole game", "most suspect deceives"
POOLED = {ONLINE: "pooled AUROC online", WHOLE: "pooled AUROC, whole"}
"""Beside the AUROC within games of either kind: that over statements of all games."""
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
    """How well both detectors do on some games, and the interval of the difference over resamples of these games. The
    AUROC is within games, with the pooled one beside it.
    """
    if not len(data.y) or data.y.all() or not data.y.any():
        return []
    game, games = codes(data.groups)
    own, _ = codes(np.array([one.game_id for one in data.examples], dtype=np.str_))
    weights = game_weights(games, draws, seed)
    unscored = Scored(data.y, np.zeros(len(data.y)), game, games, own)
    resting = int(np.count_nonzero(pairs_within(unscored)[1]))
    figures = [dict(_figures(one, data, unscored, weights, truth, show)) for one in (before, after)]
    found = []
    for metric, old in figures[0].items():
        new = figures[1][metric]
        counted = resting if metric in (ONLINE, WHOLE) else games
        _, lo, hi = estimate(new - old, counted, (-1.0, 1.0))
        found.append(
            Gain(
                where=where,
                metric=metric,
                before=_defined(old[0]),
                after=_defined(new[0]),
                lo=lo,
                hi=hi,
                statements=len(data.y),
                games=counted,
            )
        )
    return found


def _figures(
    detector: Detector, data: Labelled, unscored: Scored, weights: Weights, truth: Truth, show: Progress
) -> Iterator[tuple[str, Floats]]:
    """Each metric, over the rows of the weights."""

    def ranked(kind: str, score: Floats) -> Iterator[tuple[str, Floats]]:
        scored = replace(unscored, score=score)
        yield kind, within_games(scored, weights)
        yield POOLED[kind], pooled_auroc(scored, weights)

    yield from ranked(ONLINE, detector.predict_proba(data.examples, show)[:, 1])
    if data.examples[0].target != ROLE:
        return
    yield from ranked(WHOLE, detector.predict_whole(data.examples, show))
    family = dict(zip((one.game_id for one in data.examples), unscored.game.tolist(), strict=True))
    seen = {one.game_id: one.seen.transcript for one in data.examples if one.seen and one.game_id in truth}
    hits: list[float] = []
    for name, players in zip(seen, detector.player_posteriors([Moment(one) for one in seen.values()]), strict=True):
        killed = {turn.player for turn in seen[name].turns if turn.kind == KILLED}
        left = {player: chance for player, chance in players.items() if player not in killed}
        hits.append(max(left, key=lambda player: left[player]) in truth[name])
    places = np.array([family[name] for name in seen], dtype=np.int64)
    yield TOP, share(np.array(hits, dtype=np.float64), np.ones(len(hits)), places, weights)


def _defined(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
