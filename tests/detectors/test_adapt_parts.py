"""What adapting counts: games a detector is sure of, and suspects among those who live, by detectors that say what a
test wants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
import pytest

from liescope.detectors.adapt.adapting import SURE, guessed
from liescope.detectors.adapt.compare import TOP, gains
from liescope.detectors.detector import Detector, DetectorOptions, Progress, silent
from liescope.detectors.examples import Example, labelled, read_statements
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.transcript import (
    KILLED,
    GameMoment,
    Transcript,
    TranscriptTurn,
    read_deceivers,
    read_transcripts,
)

Chances = Callable[[str, str], float]


class Says(Detector):
    """A detector that gives each player of a game the chance that a test has for (game, player)."""

    kind = "says"
    options_type = DetectorOptions

    def __init__(self, chances: Chances) -> None:
        super().__init__(TextConfig(), DetectorOptions())
        self.chances = chances

    def fit(self, *_: Any) -> Self:
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> np.ndarray:
        found = np.array([self.chances(one.game_id, one.speaker) for one in examples])
        return np.column_stack([1 - found, found])

    def player_posteriors(
        self, moments: Sequence[GameMoment], progress: Progress = silent
    ) -> list[Mapping[str, float]]:
        games = [moment.transcript for moment in moments]
        return [{name: self.chances(game.game_id, name) for name in game.names} for game in games]

    def save(self, folder: Path) -> None:
        raise NotImplementedError

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        raise NotImplementedError


@pytest.mark.parametrize("low", [0.0, 1 - SURE])
def test_a_game_is_labelled_only_where_the_detector_is_sure_of_every_player(corpus: Path, low: float) -> None:
    games = dict(list(read_transcripts(corpus).items())[:4])
    truth = read_deceivers(corpus)
    doubtful = dict(zip(games, (None, SURE - 0.01, 1 - SURE + 0.01, None), strict=True))

    def chances(game: str, player: str) -> float:
        chance = doubtful[game]
        if chance is not None and player == games[game].names[-1]:
            return chance
        return 1 - low if player in truth[game] else low

    statements = read_statements(corpus).filter(pl.col("game_id").is_in(list(games)))
    found = guessed(Says(chances), statements, games, silent)
    sure = [name for name, chance in doubtful.items() if chance is None]
    assert sorted({one.game_id for one in found.examples}) == sorted(sure)
    expected = statements.filter(pl.col("game_id").is_in(sure))
    assert [one.statement_id for one in found.examples] == expected["statement_id"].to_list()
    assert found.y.tolist() == expected["label_role"].to_list()
    assert found.groups.tolist() == expected["game_id"].to_list()


def test_the_most_suspect_is_sought_among_those_who_were_not_killed(corpus: Path) -> None:
    """Whoever was killed in the night is nobody's suspect, however guilty the words: the rules say so."""
    truth, killed, games = read_deceivers(corpus), dict[str, str](), dict[str, Transcript]()
    for name, game in read_transcripts(corpus).items():
        killed[name] = next(player for player in game.names if player not in {turn.player for turn in game.turns})
        games[name] = replace(game, turns=(TranscriptTurn(KILLED, killed[name]), *game.turns))

    def suspecting(right: Callable[[str], bool]) -> Detector:
        def chances(game: str, player: str) -> float:
            if player == killed[game]:
                return 0.99
            return 0.8 if (player in truth[game]) is right(game) else 0.2

        return Says(chances)

    data = labelled(read_statements(corpus), "role", 0, games)
    half = set(sorted(games)[: len(games) // 2])
    compared = suspecting(lambda game: game in half), suspecting(lambda _: True)
    (top,) = [gain for gain in gains("", *compared, data, truth, 50, 0, silent) if gain.metric == TOP]
    assert (top.before, top.after) == (pytest.approx(len(half) / len(games)), pytest.approx(1.0))
    assert top.games == len(games)
    assert top.lo is not None
    assert top.lo > 0.3
