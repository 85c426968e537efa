"""The base of the kinds that read a whole game: the players of a game are judged against each other.

Such a detector gives every candidate a score. Where the question is who deceives, the scores of one game become
probabilities together (`liescope.detectors.view.joint_posterior`); where it is a single statement, each stands alone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import UsageError
from liescope.common.statistics import Bools, Floats, expit
from liescope.detectors.detector import ROLE, Detector, DetectorOptions, Groups, Progress, silent
from liescope.detectors.examples import Example, moment_of
from liescope.detectors.logistic import one_thread, two_columns
from liescope.detectors.textualize import TextConfig
from liescope.detectors.tf_idf import Sparse
from liescope.detectors.view.candidate import Candidate
from liescope.detectors.view.joint_posterior import SeatedCandidates
from liescope.detectors.view.transcript import GameMoment


@dataclass(frozen=True, slots=True)
class WhoDeceives:
    """What is asked at a moment: who of the players deceives, or whether one statement, `focus`, does."""

    moment: GameMoment
    focus: int | None = None

    def candidates(self) -> list[Candidate]:
        game = self.moment.transcript
        names = game.names if self.focus is None else (game.turns[self.focus].player,)
        return [Candidate(self.moment, name, self.focus) for name in names]


@dataclass(frozen=True, slots=True)
class AnsweredQuestions:
    """Questions with their answers. candidates: of all questions, in order; seated: how they sit together; true, false:
    (candidates,) who is known to deceive, and who not to.
    """

    candidates: Sequence[Candidate]
    seated: SeatedCandidates
    true: Bools
    false: Bools


class GameOptions(DetectorOptions):
    """What every such kind reads of a game."""

    votes: bool = Field(default=True, description="read votes once they are public")
    moments: int = Field(default=1, ge=0, description="moments of each game to learn at, beside its end")
    window: int = Field(default=10, ge=0, description="earlier statements read for a target of single statements")


class WholeGameDetector(Detector):
    """Candidates in, scores out; what they mean in a game is settled here."""

    reads_games = True
    options: GameOptions

    def __init__(self, text: TextConfig, options: DetectorOptions) -> None:
        super().__init__(text, options)
        if not text.mask_names:
            raise UsageError(f"{self.kind} tells players apart by what they are to each other; leave names masked")

    @abstractmethod
    def learn(self, lesson: AnsweredQuestions, /) -> None:
        """Learn to score candidates. Raises UsageError."""

    @abstractmethod
    def scores(self, candidates: Sequence[Candidate], progress: Progress, /) -> Floats:
        """(n,): log-odds of each candidate, up to what all players of its game have in common."""

    def fit(self, examples: Sequence[Example], y: Bools, _groups: Groups, _progress: Progress = silent) -> Self:
        self.learn(lesson(examples, y, self.options.moments))
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        if not examples:
            return np.empty((0, 2))
        asked = Questioned.by(examples)
        score = asked.answers(self.scores(asked.candidates, progress))
        return two_columns(score)

    def player_posteriors(
        self, moments: Sequence[GameMoment], progress: Progress = silent
    ) -> list[Mapping[str, float]]:
        candidates, seated = _seated([WhoDeceives(moment) for moment in moments])
        found = iter(seated.posterior(self.scores(candidates, progress)).tolist())
        return [{name: next(found) for name in moment.transcript.names} for moment in moments]


@dataclass(frozen=True, slots=True)
class Questioned:
    """What examples ask: the candidates of all questions, each question once, and (examples,) the place of the
    candidate that each is about.
    """

    candidates: Sequence[Candidate]
    seated: SeatedCandidates
    place: NDArray[np.int64]

    @classmethod
    def by(cls, examples: Sequence[Example]) -> Self:
        questions: dict[tuple[int, int | None, int | None], WhoDeceives] = {}
        asked = [question(example) for example in examples]
        keys = [(id(one.moment.transcript), one.moment.upto, one.focus) for one in asked]
        for key, one in zip(keys, asked, strict=True):
            questions.setdefault(key, one)
        candidates, seated = _seated(list(questions.values()))
        seat: dict[tuple[tuple[int, int | None, int | None], str], int] = {}
        for key, row in zip(questions, seated.place, strict=True):
            seat.update({(key, candidates[at].player): int(at) for at in row if at >= 0})
        place = [seat[key, example.speaker] for key, example in zip(keys, examples, strict=True)]
        return cls(candidates, seated, np.array(place, dtype=np.int64))

    def answers(self, scores: Floats) -> Floats:
        """(examples,): the probability that each statement is deceptive. scores: of the candidates."""
        return self.seated.posterior(scores)[self.place]


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
    """What there is to learn of labelled statements. Players who said nothing have no label of their own; where it is
    known how many deceive, the others' labels speak of them. moments: of each game, besides its end.
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
    """At most so many of them, evenly spread, the last among them."""
    if most <= 0:
        return []
    step = max(len(questions) / most, 1.0)
    last = len(questions) - 1
    return [questions[at] for at in sorted({last - int(i * step) for i in range(min(most, len(questions)))})]


def solve(features: Sparse, learned: AnsweredQuestions, penalties: Floats) -> tuple[Floats, float]:
    """(weights, offset) with the largest likelihood less the L2 penalty. features: (candidates, features), in
    the order of the lesson; penalties: (features,). The offset matters only where it is not known how many
    deceive; if no such game is learned from, it is the one that gives the candidates their prevalence. Raises
    UsageError.
    """
    from scipy.optimize import minimize

    rows = features.csr()
    across = rows.T.tocsr()
    loose = bool((learned.seated.deceivers < 0).any())

    def loss(at: Floats) -> tuple[float, Floats]:
        weights, offset = at[:-1], at[-1]
        value, gradient = learned.seated.loss(rows @ weights + offset, learned.true, learned.false)
        back = np.append(across @ gradient + weights * penalties, gradient.sum() if loose else 0.0)
        return value + float(penalties @ weights**2) / 2, back

    with one_thread():
        found = minimize(loss, np.zeros(rows.shape[1] + 1), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    if not found.success:
        raise UsageError("the linear model did not converge; lower --strength so that the penalty is stronger")
    weights, offset = found.x[:-1], float(found.x[-1])
    return weights, offset if loose else _prevalent(rows @ weights, learned.seated)


def _prevalent(scores: Floats, seated: SeatedCandidates) -> float:
    """The offset at which the mean probability is the share of those who deceive."""
    from scipy.optimize import brentq

    share = float(seated.deceivers.sum() / len(scores))
    edge = float(np.abs(scores).max()) + 50
    if not 0 < share < 1:
        raise UsageError("all or none of the players deceive in these games; a detector needs both")
    return float(brentq(lambda offset: float(expit(scores + offset).mean()) - share, -edge, edge))
