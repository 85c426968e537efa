"""Which games to label: those that a detector is least sure of, mixed with others drawn at random."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.special import entr

from liescope.common.errors import UsageError
from liescope.common.reading import read_text
from liescope.detectors.examples import examples_of
from liescope.detectors.protocol import ROLE, Detector, Progress
from liescope.detectors.view.transcript import Moment, Transcript

RANDOM, UNCERTAIN = "random", "uncertain"


def chosen(
    how: str, count: int, detector: Detector, games: Mapping[str, Transcript], target: str, seed: int, show: Progress
) -> list[str]:
    """The ids of games to label. how: `RANDOM`, `UNCERTAIN` (half of them those that the detector is least sure of), or
    a file with one id a line. Raises UsageError for ids that are not among the games.
    """
    if how == RANDOM:
        return drawn(games, count, seed)
    if how == UNCERTAIN:
        return unsure_and_drawn(unsureness(detector, games, target, show), count, seed)
    path = Path(how)
    if not path.is_file():
        raise UsageError(
            f"{how} is no file; choose {RANDOM}, {UNCERTAIN}, or a file with the id of a game on each line"
        )
    named = list(dict.fromkeys(read_text(path).split()))
    if unknown := [name for name in named if name not in games]:
        raise UsageError(f"{path}: the corpus has no unseen game {unknown[0]!r} with labels")
    return named[:count]


def drawn(games: Mapping[str, object], count: int, seed: int) -> list[str]:
    """Ids drawn at random, the same for the same games."""
    names = sorted(games)
    return [names[at] for at in np.random.default_rng(seed).permutation(len(names))[:count]]


def unsure_and_drawn(unsure: Mapping[str, float], count: int, seed: int) -> list[str]:
    """The least sure half, most unsure first, then others at random."""
    least = sorted(unsure, key=lambda name: (-unsure[name], name))[: (count + 1) // 2]
    others = [name for name in drawn(unsure, len(unsure), seed) if name not in set(least)]
    return [*least, *others[: count - len(least)]]


def unsureness(detector: Detector, games: Mapping[str, Transcript], target: str, show: Progress) -> dict[str, float]:
    """By game, the mean entropy, in nats, of what the detector says of its players; for targets of single statements,
    of its statements.
    """
    if target == ROLE:
        players = detector.player_posteriors([Moment(game) for game in games.values()], show)
        return {name: _entropy(list(found.values())) for name, found in zip(games, players, strict=True)}
    return {
        name: _entropy(detector.predict_proba(list(examples.values()))[:, 1].tolist()) if examples else 0.0
        for name, game in games.items()
        if (examples := examples_of(Moment(game), detector.text.context, target)) is not None
    }


def _entropy(chances: Sequence[float]) -> float:
    p = np.array(chances)
    return float((entr(p) + entr(1 - p)).mean()) if len(p) else 0.0
