"""A whole game into a linear model: TF-IDF of what a candidate said, of what others said of it and of the rest, each a
field of its own, and the claims and votes between the players; its scores are normalised at the table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, TypeAdapter, field_validator

from liescope.common.errors import UsageError
from liescope.common.reading import Reading, read_json
from liescope.common.statistics import Floats
from liescope.detectors.detector import TRAIN_AGAIN, DetectorOptions
from liescope.detectors.kinds.whole_game import (
    AnsweredQuestions,
    GameOptions,
    LinearAtTable,
    WhoDeceives,
    solve,
)
from liescope.detectors.logistic import numbers
from liescope.detectors.textualize import TextConfig
from liescope.detectors.view.candidate import CLAIMS, FIELDS, Candidate, Counted, Reason, ViewCounting, strongest

_FEATURES = "features.json"
_LARGEST = 2**29


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


@dataclass(frozen=True, slots=True)
class _FieldFeatures:
    """One field's features: their places among all that were counted, by feature, and the weight of each in a view."""

    features: Mapping[str, int]
    idf: Floats


class LinearDetector(LinearAtTable):
    """Fields of TF-IDF with claims, and a linear model of who at a table deceives."""

    kind = "linear"
    options_type = LinearOptions
    packages: ClassVar[tuple[str, ...]] = ("scikit-learn", "scipy")
    needs = (
        "It reads a whole game: who said what in which order, the claims found in it, and the votes. A statement "
        "without its game is read as a game of one statement."
    )

    options: LinearOptions
    _parts: dict[str, _FieldFeatures]
    _counts: Counted
    _fixed: bool = False  # it counts its own features only, in their order

    def learn(self, lesson: AnsweredQuestions) -> None:
        self._parts, features = self._choose(lesson)
        self._weights, self._offset = solve(features, lesson, self._penalties())
        self._count_own()

    def reasons_at(self, asked: WhoDeceives, player: str, most: int) -> list[Reason]:
        """Against the mean of the table, of all that is in the player's view. Raises KeyError for who is not there."""
        table = asked.candidates()
        against = self.features(table).toarray()
        row = {candidate.player: at for at, candidate in enumerate(table)}[player]
        mean = against.mean(axis=0) if asked.focus is None else 0.0
        added = np.where(against[row] > 0, against[row] - mean, 0.0) * self._weights
        named = [(name, feature) for name, part in self._parts.items() for feature in part.features]
        return [Reason(*named[at], float(added[at])) for at in strongest(added, most)]

    def save(self, folder: Path) -> None:
        facts = {
            name: {"features": list(part.features), "idf": part.idf.tolist()} for name, part in self._parts.items()
        }
        (folder / _FEATURES).write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")
        super().save(folder)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector, path = cls(text, options), folder / _FEATURES
        saved = read_json(path, TypeAdapter(dict[str, Any]), _LARGEST, TRAIN_AGAIN)
        with Reading(path, TRAIN_AGAIN):
            detector._parts = {name: _restored(saved[name]) for name in detector._names()}
        detector.read_weights(folder, sum(len(part.features) for part in detector._parts.values()))
        detector._count_own()
        return detector

    def _count_own(self) -> None:
        """From here on only its own features are counted, so that it can score without end."""
        known = {name: part.features for name, part in self._parts.items()}
        self._counts, self._fixed = Counted(self._reading(), known), True

    def _names(self) -> list[str]:
        return self.options.fields.split(",")

    def _reading(self) -> ViewCounting:
        return ViewCounting(self.options.words, self.options.window, self.options.votes, self.text.mask_role_words)

    def _penalties(self) -> Floats:
        """(features,): half of these times the squared weights is the penalty."""
        words = self.options.strength
        allowed = {name: words * self.options.claim_weight**2 if name == CLAIMS else words for name in self._parts}
        return np.concatenate([np.full(len(part.features), 1 / allowed[name]) for name, part in self._parts.items()])

    def _choose(self, learned: AnsweredQuestions) -> tuple[dict[str, _FieldFeatures], Any]:
        """The features of those who learn, and their values. Raises UsageError where there are none."""
        from scipy.sparse import hstack

        self._counts = _shared(self._reading())
        fields = self._counts.fields(learned.candidates)
        parts, values = {}, []
        for name in self._names():
            counts = fields[name]
            seen = np.bincount(counts.indices, minlength=counts.shape[1])
            kept = np.flatnonzero(seen >= self.options.min_count)
            known = list(self._counts.features[name])
            idf = np.log((1 + counts.shape[0]) / (1 + seen[kept])) + 1
            parts[name] = _FieldFeatures({known[at]: i for i, at in enumerate(kept)}, idf)
            values.append(self._weighed(name, counts[:, kept], idf))
        found = hstack(values, format="csr")
        if not found.nnz:
            raise UsageError(f"nothing occurs in {self.options.min_count} views of these games; lower --min-count")
        return parts, found

    def features(self, candidates: Sequence[Candidate]) -> Any:
        from scipy.sparse import hstack

        fields = self._counts.fields(candidates)
        values = []
        for name, part in self._parts.items():
            counts = fields[name] if self._fixed else _columns(fields[name], self._counts.features[name], part.features)
            values.append(self._weighed(name, counts, part.idf))
        return hstack(values, format="csr")

    def _weighed(self, name: str, counts: Any, idf: Floats) -> Any:
        """1 + log count; for words times idf, each view of length 1, as in scikit-learn's TfidfTransformer."""
        found = counts.astype(np.float64)
        found.data = 1 + np.log(found.data)
        if name == CLAIMS:
            return found
        found.data *= idf[found.indices]
        length = np.sqrt(np.bincount(_row_of(found), found.data**2, found.shape[0]))
        found.data /= length[_row_of(found)]
        return found


def _row_of(values: Any) -> NDArray[np.int64]:
    """The row of each stored value."""
    return np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))


def _columns(counts: Any, met: Mapping[str, int], wanted: Mapping[str, int]) -> Any:
    """The columns of the wanted features, in their order; those that were never met are empty."""
    from scipy.sparse import csr_array

    inside = np.array([wanted.get(feature, -1) for feature in met], dtype=np.int64)
    column = inside[counts.indices]
    kept = column >= 0
    ends = np.concatenate([[0], np.cumsum(kept)])[counts.indptr]
    return csr_array((counts.data[kept], column[kept], ends), shape=(counts.shape[0], len(wanted)))


def _restored(saved: Any) -> _FieldFeatures:
    features, idf = saved["features"], np.array(saved["idf"], dtype=np.float64)
    if not all(isinstance(feature, str) for feature in features) or len(set(features)) < len(features):
        raise ValueError("its features are not words, each once")
    return _FieldFeatures({feature: at for at, feature in enumerate(features)}, numbers(idf, (len(features),)))


@lru_cache(maxsize=4)
def _shared(reading: ViewCounting) -> Counted:
    """The counts that detectors with the same reading share while they learn."""
    return Counted(reading)
