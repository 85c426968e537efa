"""A whole game into a linear model: TF-IDF of what a candidate said, of what others said of it and of the rest, each a
field of its own, and the claims and votes between the players.

Every player of a game gets a score. Where the question is who deceives, the scores of one game become probabilities
together (`liescope.detectors.view.joint_posterior`); where it is a single statement, each stands alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats, expit
from liescope.detectors.detector import ROLE, Detector, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.examples import Example, moment_of
from liescope.detectors.logistic import one_thread, read_numbers, two_columns, write_numbers
from liescope.detectors.text_form import TextConfig
from liescope.detectors.tf_idf import Features, beside, read_features, write_features
from liescope.detectors.view.candidate import CLAIMS, FIELDS, Candidate, Counted, Reason, ViewCounting, strongest
from liescope.detectors.view.joint_posterior import SeatedCandidates
from liescope.detectors.view.transcript import GameMoment

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True)
class WhoDeceives:
    """The question at a moment: which players deceive, or whether one statement, `focus`, does."""

    moment: GameMoment
    focus: int | None = None

    def candidates(self) -> list[Candidate]:
        game = self.moment.transcript
        names = game.names if self.focus is None else (game.turns[self.focus].player,)
        return [Candidate(self.moment, name, self.focus) for name in names]


@dataclass(frozen=True, slots=True)
class AnsweredQuestions:
    """Questions with their answers. candidates: of all questions, in order; seated: how they sit together; true, false:
    (candidates,) who is known to deceive, and who is known not to.
    """

    candidates: Sequence[Candidate]
    seated: SeatedCandidates
    true: Bools
    false: Bools


def asked_of(examples: Sequence[Example]) -> tuple[list[Candidate], SeatedCandidates, NDArray[np.int64]]:
    """The candidates of all questions, each once; how they sit together; and (examples,) the index of each one's."""
    asked = [question(example) for example in examples]
    keys = [(id(one.moment.transcript), one.moment.upto, one.focus) for one in asked]
    questions = dict(zip(keys, asked, strict=True))
    candidates, seated = _seated(list(questions.values()))
    seat: dict[tuple[tuple[int, int | None, int | None], str], int] = {}
    for key, row in zip(questions, seated.place, strict=True):
        seat.update({(key, candidates[at].player): int(at) for at in row if at >= 0})
    place = [seat[key, example.speaker] for key, example in zip(keys, examples, strict=True)]
    return candidates, seated, np.array(place, dtype=np.int64)


def _seated(questions: Sequence[WhoDeceives]) -> tuple[list[Candidate], SeatedCandidates]:
    """The candidates of all questions, and how they sit together."""
    each = [one.candidates() for one in questions]
    known = [None if one.focus is not None else one.moment.transcript.deceivers for one in questions]
    return [candidate for own in each for candidate in own], SeatedCandidates.of([len(own) for own in each], known)


def question(example: Example) -> WhoDeceives:
    """What an example asks."""
    seen = moment_of(example)
    at = (len(seen.transcript.turns) if seen.upto is None else seen.upto) - 1
    return WhoDeceives(seen, None if example.target == ROLE else at)


def lesson(examples: Sequence[Example], y: Bools, moments: int) -> AnsweredQuestions:
    """What labelled statements teach. Players who said nothing have no label of their own; if the number of deceivers
    is known, the others' labels tell about them. moments: how many of each game, besides its end.
    """
    games: dict[str, list[tuple[WhoDeceives, str, bool]]] = defaultdict(list)
    for example, lies in zip(examples, y.tolist(), strict=True):
        games[example.game_id].append((question(example), example.speaker, lies))
    asked: list[tuple[WhoDeceives, Mapping[str, bool]]] = []
    for rows in games.values():
        roles = [row for row in rows if row[0].focus is None]
        asked += [(one, {speaker: lies}) for one, speaker, lies in rows if one.focus is not None]
        if roles:
            known = {speaker: lies for _, speaker, lies in roles}
            whole = WhoDeceives(GameMoment(roles[-1][0].moment.transcript))
            asked += [(one, known) for one in [*_spread([one for one, _, _ in roles], moments), whole]]
    candidates, seated = _seated([one for one, _ in asked])
    answers = [known.get(candidates[at].player) for row, (_, known) in zip(seated.place, asked, strict=True)
               for at in row if at >= 0]  # fmt: skip
    return AnsweredQuestions(
        candidates,
        seated,
        np.array([answer is True for answer in answers], dtype=bool),
        np.array([answer is False for answer in answers], dtype=bool),
    )


def _spread(questions: Sequence[WhoDeceives], most: int) -> list[WhoDeceives]:
    """At most so many of them, evenly spread, including the last."""
    if most <= 0:
        return []
    step = max(len(questions) / most, 1.0)
    last = len(questions) - 1
    return [questions[at] for at in sorted({last - int(i * step) for i in range(min(most, len(questions)))})]


def solve(features: csr_array, learned: AnsweredQuestions, penalties: Floats) -> tuple[Floats, float]:
    """(weights, offset) that maximise the likelihood minus the L2 penalty. features: (candidates, features), in
    the order of the lesson; penalties: (features,). The offset matters only where it is not known how many
    deceive; without such a game, it matches the prevalence of the candidates. Raises UsageError.
    """
    from scipy.optimize import minimize

    across = features.T.tocsr()
    loose = bool((learned.seated.deceivers < 0).any())

    def loss(at: Floats) -> tuple[float, Floats]:
        weights, offset = at[:-1], at[-1]
        value, gradient = learned.seated.loss(features @ weights + offset, learned.true, learned.false)
        back = np.append(across @ gradient + weights * penalties, gradient.sum() if loose else 0.0)
        return value + float(penalties @ weights**2) / 2, back

    with one_thread():
        found = minimize(loss, np.zeros(features.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    if not found.success:
        raise UsageError("the linear model did not converge; lower --strength so that the penalty is stronger")
    weights, offset = found.x[:-1], float(found.x[-1])
    return weights, offset if loose else _prevalent(features @ weights, learned.seated)


def _prevalent(scores: Floats, seated: SeatedCandidates) -> float:
    """The offset at which the mean probability is the share of those who deceive."""
    from scipy.optimize import brentq

    share = float(seated.deceivers.sum() / len(scores))
    edge = float(np.abs(scores).max()) + 50
    if not 0 < share < 1:
        raise UsageError("all or none of the players deceive in these games; a detector needs both")
    return float(brentq(lambda offset: float(expit(scores + offset).mean()) - share, -edge, edge))


_FEATURES, _WEIGHTS = "features.json", "weights.npy"


class LinearOptions(DetectorOptions):
    """What is read of a game, what is counted in the fields of a view, and how strongly weights are penalised."""

    votes: bool = Field(default=True, description="read votes once they are public")
    moments: int = Field(default=1, ge=0, description="moments of each game to learn at, beside its end")
    window: int = Field(default=10, ge=0, description="earlier statements read for a target of single statements")
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


class LinearDetector(Detector):
    """Fields of TF-IDF with claims, and a linear model of who of the players deceives."""

    kind = "linear"
    options_type = LinearOptions
    packages = ("scipy",)
    reads_games = True
    publication = Publication(
        needs="It reads a whole game: who said what in which order, the claims found in it, and the votes. A statement "
        "without its game is read as a game of one statement."
    )

    options: LinearOptions
    _parts: dict[str, Features]
    _counts: Counted
    _weights: Floats
    _offset: float

    def __init__(self, text: TextConfig, options: DetectorOptions) -> None:
        super().__init__(text, options)
        if not text.mask_names:
            raise UsageError(f"{self.kind} tells players apart by what they are to each other; leave names masked")

    def fit(self, examples: Sequence[Example], y: Bools, _groups: Groups, _progress: Progress = silent) -> Self:
        learned = lesson(examples, y, self.options.moments)
        self._parts, features = self._choose(learned)
        self._weights, self._offset = solve(features, learned, self._penalties())
        self._count_own()
        return self

    def scores(self, candidates: Sequence[Candidate], _progress: Progress) -> Floats:
        """(n,): log-odds of each candidate, up to a constant of its game."""
        return np.asarray(self.features(candidates) @ self._weights + self._offset)

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        if not examples:
            return np.empty((0, 2))
        candidates, seated, place = asked_of(examples)
        return two_columns(seated.posterior(self.scores(candidates, progress))[place])

    def player_posteriors(
        self, moments: Sequence[GameMoment], progress: Progress = silent
    ) -> list[Mapping[str, float]]:
        candidates, seated = _seated([WhoDeceives(moment) for moment in moments])
        found = iter(seated.posterior(self.scores(candidates, progress)).tolist())
        return [{name: next(found) for name in moment.transcript.names} for moment in moments]

    def explain(self, examples: Sequence[Example], most: int = 5) -> list[list[Reason]]:
        return [self.reasons_at(question(example), example.speaker, most) for example in examples]

    def reasons_at(self, asked: WhoDeceives, player: str, most: int) -> list[Reason]:
        """Reasons, against the mean of the players, from all in the player's view. Raises KeyError for no player."""
        players = asked.candidates()
        against = self.features(players).toarray()
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
        """From now on, count only its own features, so that scoring any number of games takes no more memory."""
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

    def _choose(self, learned: AnsweredQuestions) -> tuple[dict[str, Features], csr_array]:
        """The features of the learning candidates, and their values. Raises UsageError if there are none."""
        self._counts = _shared(self._reading())
        fields = self._counts.fields(learned.candidates)
        parts, values = dict[str, Features](), []
        for name in self._names():
            seen = np.bincount(fields[name].indices, minlength=fields[name].shape[1])
            kept = np.flatnonzero(seen >= self.options.min_count)
            met = list(self._counts.features[name])
            parts[name] = Features.of({met[at]: int(seen[at]) for at in kept.tolist()}, len(learned.candidates))
            values.append(_weighed(name, parts[name], fields[name][:, kept]))
        found = beside(values)
        if not found.nnz:
            raise UsageError(f"nothing occurs in {self.options.min_count} views of these games; lower --min-count")
        return parts, found

    def features(self, candidates: Sequence[Candidate]) -> csr_array:
        """(candidates, features), for a trained detector."""
        fields = self._counts.fields(candidates)
        return beside([_weighed(name, part, fields[name]) for name, part in self._parts.items()])


def _weighed(name: str, features: Features, counts: csr_array) -> csr_array:
    """TF-IDF for words, 1 + log count for claims."""
    from scipy.sparse import csr_array

    if name != CLAIMS:
        return features.weighed(counts)
    return csr_array((1 + np.log(counts.data, dtype=np.float64), counts.indices, counts.indptr), counts.shape)


_shared = lru_cache(maxsize=4)(Counted)
"""The counts shared, while learning, by detectors that read alike."""
