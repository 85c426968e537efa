"""A whole game into a linear model: TF-IDF of what a candidate said, of what others said of it and of the rest, each a
field of its own, and the claims and votes between the players; its scores are normalised in the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field, field_validator

from liescope.common.errors import UsageError
from liescope.common.statistics import Floats
from liescope.detectors.detector import DetectorOptions, Progress, Publication
from liescope.detectors.examples import Example
from liescope.detectors.kinds.whole_game import (
    AnsweredQuestions,
    GameOptions,
    WhoDeceives,
    WholeGameDetector,
    question,
    solve,
)
from liescope.detectors.logistic import read_numbers, write_numbers
from liescope.detectors.textualize import TextConfig
from liescope.detectors.tf_idf import Features, Sparse, read_features, write_features
from liescope.detectors.view.candidate import CLAIMS, FIELDS, Candidate, Counted, Reason, ViewCounting, strongest

_FEATURES, _WEIGHTS = "features.json", "weights.npy"


class LinearOptions(GameOptions):
    """What is read of a game, what is counted in the fields of a view, and how strongly weights are held back."""

    fields: str = Field(
        default="own,before,about,rest,claims",
        description="what is read: the candidate's words, those before the statement in question, others' words about "
        "it, the rest, claims",
    )
    strength: float = Field(default=2.0, gt=0, description="inverse of the L2 penalty, scikit-learn's C")
    claim_weight: float = Field(default=0.3, gt=0, description="weight of a claim beside a field of words, which has 1")
    words: int = Field(default=2, ge=1, le=5, description="n-grams of 1 to this many words")
    min_count: int = Field(default=3, ge=1, description="views that a feature must occur in")

    @field_validator("fields")
    @classmethod
    def _known_fields(cls, value: str) -> str:
        named = value.split(",")
        if not value or len(set(named)) < len(named) or set(named) - {*FIELDS, CLAIMS}:
            raise ValueError(f"name fields once each, of {', '.join((*FIELDS, CLAIMS))}")
        return value


class LinearDetector(WholeGameDetector):
    """Fields of TF-IDF with claims, and a linear model of who of the players deceives."""

    kind = "linear"
    options_type = LinearOptions
    packages = ("scipy",)
    publication = Publication(
        needs="It reads a whole game: who said what in which order, the claims found in it, and the votes. A statement "
        "without its game is read as a game of one statement."
    )

    options: LinearOptions
    _parts: dict[str, Features]
    _counts: Counted
    _weights: Floats
    _offset: float

    def learn(self, lesson: AnsweredQuestions) -> None:
        self._parts, features = self._choose(lesson)
        self._weights, self._offset = solve(features, lesson, self._penalties())
        self._count_own()

    def scores(self, candidates: Sequence[Candidate], _progress: Progress) -> Floats:
        return self.features(candidates) @ self._weights + self._offset

    def explain(self, examples: Sequence[Example], most: int = 5) -> list[list[Reason]]:
        return [self.reasons_at(question(example), example.speaker, most) for example in examples]

    def reasons_at(self, asked: WhoDeceives, player: str, most: int) -> list[Reason]:
        """Against the mean of the players, of all that is in the player's view. Raises KeyError for a stranger."""
        players = asked.candidates()
        against = self.features(players).dense()
        row = {candidate.player: at for at, candidate in enumerate(players)}[player]
        mean = against.mean(axis=0) if asked.focus is None else 0.0
        added = np.where(against[row] > 0, against[row] - mean, 0.0) * self._weights
        named = [(name, feature) for name, part in self._parts.items() for feature in part.place]
        return [Reason(*named[at], float(added[at])) for at in strongest(added, most)]

    def save(self, folder: Path) -> None:
        write_features(folder / _FEATURES, self._parts)
        write_numbers(folder / _WEIGHTS, np.append(self._weights, self._offset))

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        detector._parts = read_features(folder / _FEATURES, detector._names())
        learned = read_numbers(folder / _WEIGHTS, (1 + sum(len(part.place) for part in detector._parts.values()),))
        detector._weights, detector._offset = learned[:-1], float(learned[-1])
        detector._count_own()
        return detector

    def _count_own(self) -> None:
        """From here on only its own features are counted, so that it can score without end."""
        known = {name: part.place for name, part in self._parts.items()}
        self._counts = Counted(self._reading(), known)

    def _names(self) -> list[str]:
        return self.options.fields.split(",")

    def _reading(self) -> ViewCounting:
        return ViewCounting(self.options.words, self.options.window, self.options.votes, self.text.mask_role_words)

    def _penalties(self) -> Floats:
        """(features,): half of these times the squared weights is the penalty."""
        words = self.options.strength
        allowed = {name: words * self.options.claim_weight**2 if name == CLAIMS else words for name in self._parts}
        return np.concatenate([np.full(len(part.place), 1 / allowed[name]) for name, part in self._parts.items()])

    def _choose(self, learned: AnsweredQuestions) -> tuple[dict[str, Features], Sparse]:
        """The features of those who learn, and their values. Raises UsageError where there are none."""
        self._counts = _shared(self._reading())
        fields = self._counts.fields(learned.candidates)
        parts, values = dict[str, Features](), list[Sparse]()
        for name in self._names():
            met = list(self._counts.features[name])
            parts[name], counts = Features.chosen(fields[name], met, self.options.min_count)
            values.append(_weighed(name, parts[name], counts))
        found = Sparse.beside(values)
        if not len(found.value):
            raise UsageError(f"nothing occurs in {self.options.min_count} views of these games; lower --min-count")
        return parts, found

    def features(self, candidates: Sequence[Candidate]) -> Sparse:
        """(candidates, features) of one that has learned."""
        fields = self._counts.fields(candidates)
        return Sparse.beside([_weighed(name, part, fields[name]) for name, part in self._parts.items()])


def _weighed(name: str, features: Features, counts: Sparse) -> Sparse:
    """The weights of words; of a claim, 1 + log count."""
    if name != CLAIMS:
        return features.weighed(counts)
    return replace(counts, value=1 + np.log(counts.value.astype(np.float64)))


@lru_cache(maxsize=4)
def _shared(reading: ViewCounting) -> Counted:
    """The counts that detectors with the same reading share while they learn."""
    return Counted(reading)
