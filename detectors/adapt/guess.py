"""Labels without labels: games in which a detector is sure of every player, labelled as it says (self-training)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from liescope.detectors.examples import Labelled, make_examples
from liescope.detectors.protocol import Detector, Progress
from liescope.detectors.view.transcript import Moment, Transcript

SURE = 0.9


def guessed(detector: Detector, statements: pl.DataFrame, games: Mapping[str, Transcript], show: Progress) -> Labelled:
    """The statements of games in which the detector is sure of every player (at least `SURE`, either way), labelled so.
    statements: those of the games, in order of play.
    """
    found = detector.player_posteriors([Moment(game) for game in games.values()], show)
    sure = {
        name: players
        for name, players in zip(games, found, strict=True)
        if all(max(chance, 1 - chance) >= SURE for chance in players.values())
    }
    rows = statements.filter(pl.col("game_id").is_in(list(sure)))
    examples = make_examples(rows, detector.text.context, games=games)
    y = np.array([sure[one.game_id][one.speaker] > 0.5 for one in examples], dtype=bool)
    return Labelled(examples, y, np.array([one.game_id for one in examples], dtype=np.str_), 0)
