"""A chat model as a detector: asked about every statement, or about all players of a game at once.

Nothing of the model changes. With `shots`, statements or games of training stand in the prompt as examples; a few more
are asked about to calibrate what it answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import logit

from liescope.common.errors import UsageError
from liescope.detectors.detector import ROLE, Detector, DetectorOptions, Progress, silent
from liescope.detectors.examples import Example, moment_of, roles_by_game
from liescope.detectors.judge.judge_session import (
    AskingOptions,
    JudgeQuestion,
    ask,
    check_model,
    check_spec,
    keeping_in,
)
from liescope.detectors.judge.learned_judge import (
    EVERYBODY,
    LearnedJudge,
    PlattScaling,
    asked_about,
    draw_statements,
    game_text,
    last_moments,
    shown_games,
    shown_statements,
)
from liescope.detectors.judge.prompt import AboutGame, AboutStatement, JudgePrompt, read_prompt
from liescope.detectors.textualize import TextConfig, textualize
from liescope.detectors.view.joint_posterior import posterior
from liescope.detectors.view.transcript import GameMoment

_FILE = "judge.json"
T = TypeVar("T")


class JudgeOptions(AskingOptions):
    """prompt names a file of this machine, so it is not saved: the prompt is, word for word."""

    shots: int = Field(
        default=0, ge=0, le=64, description="examples in the prompt, of training games; half of them deceptive"
    )
    whole: bool = Field(default=False, description="ask about the players of a game, not about a statement")
    prompt: str = Field(default="", exclude=True, description="a TOML file with another prompt")
    fit_limit: int = Field(
        default=100, ge=0, le=100_000, description="requests that its calibration is learned from, 0 for none"
    )


class JudgeDetector(Detector):
    """A chat model, its prompt and a calibration. For an answer that cannot be used stands the share of training, and a
    note says so; never is it taken for honest.
    """

    kind = "judge"
    options_type = JudgeOptions
    reads_reasoning = True
    folds = 0
    packages = ("scipy",)
    needs = (
        "It asks the chat model named under `model` below: its server, and a key if that wants one, have to be at "
        "hand, and statements cost requests."
    )

    options: JudgeOptions
    _learned: LearnedJudge
    _failed: Counter[str]
    _prompt: JudgePrompt | None = None
    _loaded = False

    @classmethod
    def verbatim(cls, options: DetectorOptions) -> bool:
        return isinstance(options, JudgeOptions) and options.shots > 0

    def prepare(self) -> None:
        check_model(self.options.model, self.options.limits())

    def requests(self, learn: Sequence[Example], score: Sequence[Example]) -> int:
        fit = min(self.options.fit_limit, len(learn))
        if self.options.whole:
            moments = [moment_of(example) for example in score]
            online = {(id(m.transcript), m.upto): m for m in moments}
            whole = {id(m.transcript): GameMoment(m.transcript) for m in moments}
            most = sorted(map(self._count, last_moments(learn).values()), reverse=True)[: self.options.fit_limit]
            return sum(most) + sum(map(self._count, (*online.values(), *whole.values())))
        # One more finds out whether there are log-probabilities. Folds may ask about equal statements apart.
        return fit + len(score) + bool(learn)

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        """Raises UsageError without a model, or if it cannot be opened; RunPaused if it cannot be asked for now."""
        check_spec(self.options.model)
        prompt = self._prompt or read_prompt(Path(self.options.prompt) if self.options.prompt else None)
        prompt.check_has(examples=self.options.shots > 0, whole=self.options.whole, view=self.text.view)
        self._failed = Counter()
        if self.options.whole:
            known = LearnedJudge(prompt=prompt, prevalence=0.5, own_cache=bool(self.options.cache))
            self._fit_games(examples, y, groups, known, progress)
        else:
            known = LearnedJudge(prompt=prompt, prevalence=float(y.mean()), own_cache=bool(self.options.cache))
            self._fit_statements(examples, y, groups, known, progress)
        return self

    def _fit_statements(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        learned: LearnedJudge,
        progress: Progress,
    ) -> None:
        drawn = draw_statements(examples, y, groups, self.options.shots, self.options.seed)
        shown = shown_statements(examples, y, drawn.examples, self.text)
        self._learned = learned.model_copy(update={"statements": shown})
        rows = drawn.rest[: self.options.fit_limit]
        answers = self._ask(self._about([examples[row] for row in rows]), progress)
        self._calibrate([(p, bool(y[row])) for row, p in zip(rows, answers, strict=True) if p is not None])

    def _fit_games(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        learned: LearnedJudge,
        progress: Progress,
    ) -> None:
        if any(example.target != ROLE for example in examples):
            raise UsageError(f"a judge of whole games says who deceives; train it with --target {ROLE}")
        roles, moments = roles_by_game(examples, y), last_moments(examples)
        order = np.random.default_rng(self.options.seed).permutation(np.unique(groups)).tolist()
        examples_of, rest = order[: self.options.shots], order[self.options.shots :][: self.options.fit_limit]
        sides = [lies for known in roles.values() for lies in known.values()]
        shown = shown_games({key: moments[key] for key in examples_of}, roles, self.text)
        self._learned = learned.model_copy(update={"games": shown, "prevalence": float(np.mean(sides))})
        told = self._tell([moments[key] for key in rest], progress)
        self._calibrate(
            [
                (answers[name], lies)
                for key, answers in zip(rest, told, strict=True)
                for name, lies in roles[key].items()
                if name in answers
            ]
        )

    def _calibrate(self, pairs: Sequence[tuple[float, bool]]) -> None:
        """From what it answered, and the truth."""
        if pairs:
            probability, y = np.array([p for p, _ in pairs]), np.array([lies for _, lies in pairs])
            self._learned = self._learned.model_copy(update={"calibration": PlattScaling.fitted(probability, y)})

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        learned = self._learned
        if self.options.whole:
            found = self.player_posteriors([moment_of(example) for example in examples], progress)
            scores = [one.get(e.speaker, learned.prevalence) for one, e in zip(found, examples, strict=True)]
        else:
            answers = self._ask(self._about(examples), progress)
            scores = [learned.prevalence if p is None else float(learned.calibration(np.array(p))) for p in answers]
        score = np.array(scores, dtype=np.float64)
        return np.column_stack([1 - score, score])

    @property
    def judges_players(self) -> bool:
        return self.options.whole

    def player_posteriors(
        self, moments: Sequence[GameMoment], progress: Progress = silent
    ) -> list[Mapping[str, float]]:
        """For whole games: what it answers about each player, normalised in the game."""
        if not self.options.whole:
            return super().player_posteriors(moments, progress)
        found, unknown = list[Mapping[str, float]](), float(logit(self._learned.prevalence))
        for moment, told in zip(moments, self._tell(moments, progress), strict=True):
            names = moment.transcript.names
            odds = np.full(len(names), unknown)
            known = [at for at, name in enumerate(names) if name in told]
            odds[known] = self._learned.calibration.log_odds(np.array([told[names[at]] for at in known]))
            found.append(dict(zip(names, posterior(odds, moment.transcript.deceivers).tolist(), strict=True)))
        return found

    def _about(self, examples: Sequence[Example]) -> list[AboutStatement]:
        learned = self._learned
        return [
            AboutStatement(
                textualize(example, self.text), example.target, learned.prompt, learned.statements, self.text.view
            )
            for example in examples
        ]

    def _count(self, moment: GameMoment) -> int:
        """How many questions a game takes."""
        return len(asked_about(moment, self.text.view))

    def _about_game(self, moment: GameMoment) -> Iterator[tuple[AboutGame, Mapping[str, str]]]:
        """The questions about a game, and by the name of each player asked about what stands for it there."""
        learned, view = self._learned, self.text.view
        for judged in asked_about(moment, view):
            game = game_text(moment, self.text, judged)
            called = game.called if judged == EVERYBODY else {judged: game.called[judged]}
            players = tuple(sorted(called.values()))
            known = moment.transcript.deceivers
            yield AboutGame(game.text, players, known, learned.prompt, learned.games, view), called

    def _tell(self, moments: Sequence[GameMoment], progress: Progress) -> list[dict[str, float]]:
        """By moment, what it answers about each player: without those it was not asked about, and those of whom no
        answer could be used.
        """
        asked = [list(self._about_game(moment)) for moment in moments]
        answers = iter(self._ask([question for each in asked for question, _ in each], progress))
        return [
            {
                name: answer[token]
                for _, called in each
                if (answer := next(answers)) is not None
                for name, token in called.items()
            }
            for each in asked
        ]

    def _ask(self, questions: Sequence[JudgeQuestion[T]], progress: Progress) -> list[T | None]:
        """The answer to each question, each asked once however often it occurs; None for what could not be used."""
        stated = self.options.whole or self._learned.stated
        if not questions:
            return []
        found, answers = ask(self.options, questions, progress, stated, self._loaded, self._learned.own_cache)
        self._learned = self._learned.model_copy(update={"stated": found.stated})
        self._failed += found.failed
        self.notes = tuple(
            f"{count:,} answers of the judge could not be used ({why}); the share of training, "
            f"{self._learned.prevalence:.2f}, stands for them"
            for why, count in self._failed.most_common()
        )
        return answers

    def keep_replies_in(self, folder: Path | None) -> None:
        self.options = keeping_in(self.options, folder, self._loaded and self._learned.own_cache)

    def save(self, folder: Path) -> None:
        self._learned.write(folder / _FILE)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        """Paths in a stranger's options are not used, and `check_address` holds where it is asked."""
        detector = cls(text, options.model_copy(update={"prompt": "", "cache": ""}))
        detector._learned = LearnedJudge.read(folder / _FILE)
        detector._failed = Counter()
        detector._loaded = True
        return detector
