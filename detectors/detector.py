"""What a detector is: text in, probability of deception out; with its options and the declarations of its class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.reading import Strict
from liescope.common.settings import OptionsModel
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector_settings import MAX_SEED
from liescope.detectors.examples import Example, examples_of
from liescope.detectors.text_form import TextConfig
from liescope.detectors.view.candidate import Reason
from liescope.detectors.view.joint_posterior import SeatedCandidates, player_logits
from liescope.detectors.view.transcript import GameMoment

Groups = NDArray[np.str_]
"""(n,): the game of each statement."""


class DetectorOptions(OptionsModel):
    """The base of every detector's options. A field with a description is an option of `liescope train`, a keyword of
    `train()`, and an entry of model.json; its description is its help.
    """

    general: ClassVar[frozenset[str]] = frozenset({"seed"})

    seed: int = Field(default=0, ge=0, le=MAX_SEED, description="seed of everything that is drawn")


Progress = Callable[[str, int, int], None]
"""Called with (what is being done, how much is done, how much there is to do)."""
ROLE = "role"
"""The target whose labels are the players': who deceives."""


def silent(what: str, done: int, total: int) -> None:
    """A Progress that shows nothing."""


@contextmanager
def shown(wanted: bool) -> Iterator[Progress]:
    """A Progress: one line a task on standard error, with an estimate of what is left; or none."""
    if not wanted:
        yield silent
        return
    from liescope.common.console import progress

    with progress() as bars:
        tasks: dict[str, Any] = {}
        began: dict[str, float] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what], began[what] = bars.add_task(what, total=total, note=""), monotonic()
            left = (monotonic() - began[what]) / done * (total - done) if done else 0.0
            note = f"about {left / 60:.0f} min left" if left > 30 else ""
            bars.update(tasks[what], completed=done, total=total, note=note)

        yield show


@dataclass(frozen=True, slots=True)
class Publication:
    """How a published detector is used. library: the package that opens it without Liescope, by the Hub's name for it;
    plain_use: code that does so, with {repo} and {text}; needs: if only Liescope can open it, what using it takes, as
    sentences for its card; built_on: the option that names the encoder or language model that it builds on.
    """

    library: str = "liescope"
    plain_use: str = ""
    needs: str = ""
    built_on: str = ""


class StepsChosen(Strict):
    """How long a detector learned: chosen on statements kept aside, then learned from all, those included. steps:
    the number chosen; planned: the most there could be; statements, games, models: those kept aside.
    """

    steps: Annotated[int, Field(ge=0)]
    planned: Annotated[int, Field(ge=0)]
    statements: Annotated[int, Field(ge=0)]
    games: Annotated[int, Field(ge=0)]
    models: tuple[str, ...]

    def words(self) -> str:
        """What was done, for people."""
        return (
            f"{self.steps:,} of {self.planned:,} steps: chosen on {self.statements:,} statements of {self.games:,} "
            f"games ({', '.join(self.models)}) that were kept aside, and then learned from with all others"
        )


class Detector(ABC):
    """The base of every detector: scikit-learn's verbs, plus a declaration.

    A detector is one module with a subclass, and one line in `detector_registry`. Its module is imported
    whenever `liescope train --help` runs, so heavy packages (torch, scikit-learn) are imported inside the methods.

    Declared by each class:
        kind: its name in the registry
        options_type: its options; their descriptions become the help of `liescope train`
        folds: the default number of folds of the cross-validation by game
        packages: the distributions it needs; their versions are recorded in model.json
        extra: Liescope's extra that installs them; None if the base install does
        reads_games: whether it judges a player beside the others of the game
        reads_reasoning: whether it makes its text with `textualize`, so that it reads whatever the view says
        publication: how a published one is used

    A kind that asks a chat model is an `AsksChatModel`.
    """

    kind: ClassVar[str]
    options_type: ClassVar[type[DetectorOptions]]
    folds: ClassVar[int] = 5
    packages: ClassVar[tuple[str, ...]] = ()
    extra: ClassVar[str | None] = None
    reads_games: ClassVar[bool] = False
    reads_reasoning: ClassVar[bool] = False
    publication: Publication = Publication()

    text: TextConfig
    options: DetectorOptions
    notes: tuple[str, ...] = ()
    """What the user should know of the last `fit`, and of the scores since."""
    chosen: StepsChosen | None = None
    """How the last `fit` chose how long to learn, if it did."""

    def __init__(self, text: TextConfig, options: DetectorOptions) -> None:
        """text: how a statement becomes text; options: an instance of `options_type`."""
        self.text = text
        self.options = options

    def published_beside(self) -> Mapping[str, Path]:
        """Files that are published beside its own, so that its library opens the repository: path there to file."""
        return {}

    def prepare(self) -> None:  # noqa: B027
        """Called before any data are read: raises UsageError if what it needs is not there, such as a key."""

    @abstractmethod
    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent, /) -> Self:
        """Learn. y: (n,) True for deceptive; groups: (n,) game ids, for holding out games during training."""

    @abstractmethod
    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent, /) -> Floats:
        """(n, 2): probability of honest, probability of deceptive, in scikit-learn's order of classes."""

    def parts(self, examples: Sequence[Example], progress: Progress = silent, /) -> Mapping[str, Floats]:  # noqa: ARG002
        """What scores are made of, if that has names: (n,) probabilities by name, for further columns of scores."""
        return {}

    @property
    def judges_players(self) -> bool:
        """Whether it judges players by more than the scores of their statements."""
        return type(self).player_posteriors is not Detector.player_posteriors

    def player_posteriors(
        self, moments: Sequence[GameMoment], progress: Progress = silent, /
    ) -> list[Mapping[str, float]]:
        """By moment, each player's probability to deceive: the log-odds of `player_logits`, normalised in the game."""
        return posteriors_of_scores(moments, scores_of(self, moments, progress))

    def use_states(self, folder: str) -> None:  # noqa: ARG002
        """Score by states that players kept in a folder. Raises UsageError if it did not learn from such states."""
        raise UsageError(f"this {self.kind} did not learn from states that players kept; leave --states out")

    def explain(self, examples: Sequence[Example], most: int = 5) -> list[list[Reason]]:
        """By example, what counts most for or against deception, strongest first; only of kinds that can say it."""
        raise NotImplementedError

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the learned parts into an existing folder; nothing that needs unpickling."""

    def write_for_others(self, folder: Path, threshold: float, trained_on: str) -> None:  # noqa: B027
        """Write, beside what `save` wrote, files in a shape that other tools read, if there is one. threshold: the
        log-odds, before calibration, above which a statement is flagged; trained_on: the name of the corpus.
        """

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        """Read what `save` wrote, without running any code of the folder. Raises BadData for anything else."""


class AsksChatModel(Detector):
    """The base of kinds that ask a chat model."""

    @abstractmethod
    def requests(self, learn: Sequence[Example], score: Sequence[Example]) -> int:
        """The most requests, which may cost money, that learning from some examples and scoring others can take."""

    @abstractmethod
    def keep_replies_in(self, folder: Path | None) -> None:
        """The folder for replies; None: the one it has, or the user's. Raises UsageError for None and a saved detector
        that was trained with a folder of its own.
        """


def requests_of(detector: Detector, learn: Sequence[Example], score: Sequence[Example]) -> int:
    """`AsksChatModel.requests`; 0 for other kinds."""
    return detector.requests(learn, score) if isinstance(detector, AsksChatModel) else 0


def scores_of(detector: Detector, moments: Sequence[GameMoment], progress: Progress) -> list[Mapping[int, float]]:
    """By moment, the probability of each statement of the game by its place, later ones included."""
    wholes: dict[int, GameMoment] = {}
    for moment in moments:
        known = wholes.get(id(moment.transcript))
        if known is None or (known.upto is not None and (moment.upto is None or moment.upto > known.upto)):
            wholes[id(moment.transcript)] = moment
    text = detector.text
    examples = {key: examples_of(moment, text.context, view=text.view) for key, moment in wholes.items()}
    every = [example for found in examples.values() for example in found.values()]
    scores = iter(detector.predict_proba(every, progress)[:, 1].tolist() if every else ())
    scored = {key: {at: next(scores) for at in found} for key, found in examples.items()}
    return [scored[id(moment.transcript)] for moment in moments]


def posteriors_of_scores(
    moments: Sequence[GameMoment], scores: Sequence[Mapping[int, float]]
) -> list[Mapping[str, float]]:
    """By moment, the probability of each player, where the scores are at hand. scores: as `scores_of` gives them."""
    logits = [player_logits(moment, own) for moment, own in zip(moments, scores, strict=True)]
    seated = SeatedCandidates.of([len(own) for own in logits], [moment.transcript.deceivers for moment in moments])
    found = iter(seated.posterior(np.array([one for own in logits for one in own])).tolist())
    return [{name: next(found) for name in moment.transcript.names} for moment in moments]
