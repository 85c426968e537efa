"""Two opinions that count alike: what `linear` makes of the whole game, and what `tfidf` makes of the words alone.

In a game each opinion is standardised over the players who are compared, so that neither outweighs the other where it
has learned to be surer of itself; their plain mean is as far spread as the two are on average. Nothing is learned of
how much either is worth: weights that are stacked (Breiman 1996, "Stacked regressions") are worth what the data sets
they were learned on are like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Self

import numpy as np

from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import (
    NEVER,
    DetectorOptions,
    Groups,
    Progress,
    log_odds,
    player_logits,
    scores_of,
    silent,
)
from liescope.detectors.examples import Example
from liescope.detectors.kinds.linear import LinearDetector
from liescope.detectors.kinds.tfidf import TfidfDetector, TfidfOptions
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.candidate import Candidate, Reason
from liescope.detectors.view.transcript import GameMoment

_SAME = 1e-9


class DuoDetector(LinearDetector):
    """The mean of linear and tfidf, each standardised in the game; the options are those of linear."""

    kind = "duo"

    _words: TfidfDetector

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        super().fit(examples, y, groups, progress)
        self._words = TfidfDetector(self.text, TfidfOptions(seed=self.options.seed))
        self._words.fit(examples, y, groups, progress)
        self.notes = (*self.notes, *self._words.notes)
        return self

    def scores(self, candidates: Sequence[Candidate], progress: Progress) -> Floats:
        rows = [list(own) for _, own in groupby(candidates, lambda one: (id(one.moment), one.focus))]
        moments = [own[0].moment for own in rows]
        spoken = scores_of(self._words, moments, progress)
        whole, found, start = super().scores(candidates, progress), np.empty(len(candidates)), 0
        for own, moment, said in zip(rows, moments, spoken, strict=True):
            at = slice(start, start := start + len(own))
            found[at] = together(whole[at], _of_words(own, moment, said))
        return found

    def explain(self, examples: Sequence[Example], most: int = 5) -> list[list[Reason]]:
        """The reasons of both, each with half its weight."""
        both = zip(super().explain(examples, most), self._words.explain(examples, most), strict=True)
        each = ([replace(one, weight=one.weight / 2) for one in (*whole, *words)] for whole, words in both)
        return [sorted(found, key=lambda one: -abs(one.weight))[:most] for found in each]

    def save(self, folder: Path) -> None:
        super().save(folder)
        self._words.save(folder)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = super().load(folder, text, options)
        detector._words = TfidfDetector.load(folder, text, TfidfOptions(seed=options.seed))
        return detector


def together(whole: Floats, words: Floats) -> Floats:
    """(players,): the mean of two opinions on the players of one game, each standardised over those who are compared:
    without whoever has `NEVER` by the second, who is ruled out. Its spread and its level are the means of theirs; an
    opinion that tells nobody apart has no say in the order.
    """
    found, compared = np.full(len(whole), NEVER), words > NEVER
    opinions = [opinion[compared] for opinion in (whole, words)]
    if compared.any():
        apart = [opinion for opinion in opinions if opinion.std() > _SAME]
        order = [(opinion - opinion.mean()) / opinion.std() for opinion in apart]
        spread = np.mean([opinion.std() for opinion in apart] or [0.0])
        found[compared] = np.mean(order or [0.0], axis=0) * spread + np.mean(opinions)
    return found


def _of_words(players: Sequence[Candidate], moment: GameMoment, spoken: Mapping[int, float]) -> Floats:
    """(candidates,): the log-odds of each player of a game by words alone. spoken: of each statement, by its place."""
    if (focus := players[0].focus) is not None:
        return np.array([log_odds(spoken.get(focus, 0.5))])
    every = dict(zip(moment.transcript.names, player_logits(moment, spoken), strict=True))
    return np.array([every[one.player] for one in players])
