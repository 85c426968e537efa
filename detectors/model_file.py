"""model.json: what a saved detector is, validated strictly because it may be untrusted."""

from __future__ import annotations

import os
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, TypeAdapter

from liescope.common.errors import BadData
from liescope.common.reading import Strict, read_json
from liescope.common.sentence_encoder import PART
from liescope.common.statistics import Floats
from liescope.common.stores import local
from liescope.common.text import Units
from liescope.detectors.calibrate import Confidence
from liescope.detectors.detector import StepsChosen
from liescope.detectors.examples import TARGETS
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.study.figures import Figure
from liescope.detectors.text_form import TextConfig
from liescope.generate.corpus.hub import download, hub_repo

MODEL_FILE = "model.json"
_LARGEST = 2**20
_ROUNDING = 1e-4  # of log-odds in single precision
_INSIDE = r"^\w[\w-]*(\.[\w-]+)*(/\w[\w-]*(\.[\w-]+)*)*$"  # a path without ".." or hidden parts
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
_Path = Annotated[str, Field(pattern=_INSIDE)]
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class WordsOf(Strict):
    """Whose words some games of a corpus are. name: the format they were imported from, or `liescope`; origin: who
    published them and where; licence: a sentence; redistributable: anyone may pass the words on; languages: codes of
    the languages of the words, as far as they are known.
    """

    name: str
    games: Count
    origin: str
    licence: str
    redistributable: bool
    languages: list[str] = Field(default_factory=list)


class CorpusName(Strict):
    """The corpus trained on. id: see `examples.corpus_id`; words: whose words it holds, as far as it says so."""

    id: str
    name: str
    words: list[WordsOf] = Field(default_factory=list)


class TrainingFacts(Strict):
    """What a detector was trained on.

    prevalence: share of deceptive statements; without_label: statements whose target is null; without_reasoning: those
    that have it, but no reasoning, where the view reads that; lost: statements left out because their text was lost
    before it was published; folds: of the cross-validation, 0 for none; sources, models:
    of the statements; names: of players in at least a hundredth of the games; seconds: wall-clock time; chosen: what
    was kept aside to choose how long to learn, and learned from in the end, if anything was.
    """

    statements: Count
    games: Count
    prevalence: Share | None
    without_label: Count
    without_reasoning: Count = 0
    lost: Count = 0
    folds: Count
    seed: Count
    sources: list[str]
    models: list[str]
    names: list[str] = Field(default_factory=list)
    seconds: Annotated[float, Field(ge=0)]
    chosen: StepsChosen | None = None


class OrdinaryChats(Strict):
    """Chats that nobody lies in. name: whose they are; statements: how many, one of each chat, 0 where others chose the
    threshold and do not say; at: the score that a new one is above with a probability of at most 1%, None below 99.

    Of n, a new one that is exchangeable with them is above the k-th smallest score with a probability of at most
    1 - k / (n + 1); the rate of one such threshold lies where Beta(n + 1 - k, k) does.
    """

    name: str
    statements: Count
    at: Share | None = None

    @classmethod
    def of(cls, name: str, score: Floats) -> Self:
        """The threshold chosen on their scores."""
        found = cls(name=name, statements=len(score))
        at = {"at": float(np.sort(score)[found._place - 1])} if found._place <= len(score) else {}
        return found.model_copy(update=at)

    @property
    def _place(self) -> int:
        return ceil((self.statements + 1) * 0.99 - 1e-9)

    @property
    def rates(self) -> str:
        """The rates at which new ones may be above it, a 95% interval, as in "0.1% to 2.7%"; "" where unknown."""
        from scipy.stats import beta

        place = self._place if self.at is not None and self.statements else 0
        ends = beta.ppf([0.025, 0.975], self.statements + 1 - place, place) if place else ()
        return " to ".join(f"{one:.1%}" for one in ends)


class ModelFile(Strict):
    """model.json.

    thresholds: by the false positive rate that they keep, and `macro_f1`, the one with the largest macro F1; chosen on
    the corpus's validation split. A statement is flagged when its score is above it. None if that split lacks the
    statements to choose it on. figures: its own, out of fold and on validation; files: the SHA-256, in hexadecimal, of
    every file of the folder but this one and the card, by path; confidence: its calibration, which is applied before
    the thresholds, and the limits of its verdicts; ordinary: what a threshold of its own was chosen on, beside those.
    """

    format: Literal[10] = 10
    kind: str
    target: Annotated[str, Field(pattern=f"^({'|'.join(TARGETS)})$")]
    text: TextConfig
    options: dict[str, Any]
    corpus: CorpusName
    training: TrainingFacts
    thresholds: dict[Annotated[str, Field(pattern="^([15]pct|macro_f1)$")], Share | None] = Field(default_factory=dict)
    ordinary: OrdinaryChats | None = None
    confidence: Confidence = Confidence()
    versions: dict[str, str]
    figures: tuple[Figure, ...] = ()
    files: dict[_Path, _Sha256] = Field(default_factory=dict)

    @property
    def units(self) -> Units:
        """What it learned from, in words."""
        return Units.of((one.name for one in self.corpus.words), self.training.statements == self.training.games)

    @property
    def cut(self) -> float:
        """The log-odds, before calibration, that at most 1% of ordinary chats (or else honest statements) exceed: just
        above the score of one of them, which others may round up.
        """
        at = self.ordinary.at if self.ordinary else self.thresholds.get("1pct")
        return 0.0 if at is None else self.confidence.before(at) + _ROUNDING * bool(self.training.statements)


def read_model_file(folder: Path) -> ModelFile:
    """Raises BadData if model.json is missing, or is not what `liescope train` writes."""
    path = folder / MODEL_FILE
    if not path.is_file():
        raise BadData(f"{folder} is not a model (it has no {MODEL_FILE}); make one with: liescope train")
    return read_json(path, TypeAdapter(ModelFile), _LARGEST, TRAIN_AGAIN)


def model_folder(source: str | os.PathLike[str]) -> Path:
    """The folder of a model; for one on the Hub ("USER/NAME"), a copy of its files in the Hub's cache.

    Raises BadData if there is neither, MissingExtra, UsageError.
    """
    folder = local(source)
    if folder.exists() or (repo := hub_repo(source, "model")) is None:
        return folder
    file = read_model_file(download(repo, [MODEL_FILE], "model"))
    return download(repo, [MODEL_FILE, *map(path_on_hub, file.files)], "model")


def path_on_hub(name: str) -> str:
    """Where a file of a model folder is in its repository: those of its own encoder are at the root."""
    return name.removeprefix(f"{PART}/")
