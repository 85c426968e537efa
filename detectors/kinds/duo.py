"""Two opinions with equal weight: that of `linear` on the whole game, and that of `tfidf` on the words alone. Within a
game each opinion is standardised over the players who are compared, so that an overconfident one cannot outweigh the
other; their mean then gets the average spread of the two. Their weights are not learned: stacked weights (Breiman 1996,
"Stacked regressions") are only as good as the data sets they were learned on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Self

import numpy as np

from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import DetectorOptions, Groups, Progress, scores_of, silent
from liescope.detectors.examples import Example
from liescope.detectors.kinds.linear import LinearDetector
from liescope.detectors.kinds.tfidf import TfidfDetector, TfidfOptions
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.candidate import Candidate, Reason
from liescope.detectors.view.joint_posterior import NEVER, log_odds, player_logits
from liescope.detectors.view.transcript import GameMoment

_SAME = 1e-9  # a smaller spread is rounding: the opinion tells nobody apart


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
    """(players,): the mean of two opinions on the players of one game, each standardised over those who are compared;
    players that the second gives `NEVER` are ruled out. Level and spread are the means of the two; an opinion that
    gives all players one score does not affect the order.
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
    """(candidates,): log-odds of a game's players by words alone. spoken: of each statement, by its place."""
    if (focus := players[0].focus) is not None:
        return np.array([log_odds(spoken.get(focus, 0.5))])
    every = dict(zip(moment.transcript.names, player_logits(moment, spoken), strict=True))
    return np.array([every[one.player] for one in players])
