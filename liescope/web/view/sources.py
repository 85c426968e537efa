"""Where the games that are looked at come from: one protocol for runs, corpora and reports."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from liescope.games.record import GameRecord
from liescope.generate.runs.rebuild import CallPrompt
from liescope.labeling.rows import LabelledGame

Scores = Mapping[str, Mapping[str, float]]
"""What detectors say, as probabilities of deception: statement_id to detector to score."""


@dataclass(frozen=True, slots=True)
class Detector:
    """A detector whose scores are shown. target: the label that it was trained on; threshold: a statement with a
    higher score counts as called deceptive.
    """

    name: str
    target: str
    threshold: float


@dataclass(frozen=True, slots=True)
class ViewedGame:
    """One game with all that is known of it. detectors: those that the scores are of; calls: every request, with the
    columns of `CallRow`; none in a corpus without them; under_way: it has begun and not ended, so that its record has
    no outcome; has_prompts: `Source.prompt` can show what was asked.
    """

    record: GameRecord
    labels: LabelledGame
    scores: Scores = field(default_factory=dict)
    detectors: tuple[Detector, ...] = ()
    calls: tuple[Mapping[str, Any], ...] = ()
    under_way: bool = False
    has_prompts: bool = False


class Source(Protocol):
    """Games to look at. Its methods may be called from any thread. name: as shown; kind: "run" or "corpus".

    Every method raises BadData if what it reads is damaged.
    """

    name: str
    path: Path
    kind: str

    def find(self, words: str) -> str:
        """The id of the game that a user means: an id, the number at its end, or the beginning of one.

        Raises UsageError if several match; UnknownName, with the nearest ids, if none does.
        """
        ...

    def game(self, game_id: str) -> ViewedGame:
        """One game, as far as it is. Raises UnknownName."""
        ...

    def prompt(self, game_id: str, step: int, seat: str) -> CallPrompt:
        """What a seat was asked at a step. Raises UsageError where no request is known."""
        ...

    def version(self) -> Hashable:
        """Changes when there may be new games."""
        ...

    def identity(self) -> str:
        """Tells these games from any others, also from those of a run or corpus that stood here before."""
        ...

    def listed(self) -> Mapping[int, str]:
        """The ids of all games that ended, by their number, which stays; nothing is read of the games themselves."""
        ...

    def tables(self, numbers: Sequence[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The rows of some games in the tables games and statements, without their splits."""
        ...

    def begun(self) -> Sequence[tuple[str, int]]:
        """The games that have begun and not ended, with how many replies they have."""
        ...
