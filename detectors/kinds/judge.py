"""A chat model as a detector, asked about every statement. The model itself is not trained: its answers about a few
training statements calibrate the others.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, TypeAdapter

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Strict, read_json
from liescope.common.statistics import Bools, Floats, expit, logit
from liescope.detectors.detector import AsksChatModel, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.examples import Example
from liescope.detectors.judge.calibration import EDGE, LearnedModel, agreement, mean_odds
from liescope.detectors.judge.prompt import RUBRIC, JudgePrompt, read_prompt
from liescope.detectors.logistic import TRAIN_AGAIN, two_columns
from liescope.detectors.text_form import TextConfig, textualize
from liescope.generate.players.run_limits import Limits

_FILE = "judge.json"
_LARGEST = 2**17  # bytes


class LearnedJudge(Strict):
    """prompt: the one asked with; prevalence: the share of what was learned from that deceives; models: the judges, in
    the order of their names; own_cache: whether its user named a folder for its replies.
    """

    prompt: JudgePrompt
    prevalence: Annotated[float, Field(gt=0, lt=1)]
    models: tuple[LearnedModel, ...]
    own_cache: bool = False


class JudgeOptions(DetectorOptions):
    """cache and prompt name a folder and a file of this machine and are not saved; the prompt is, word for word."""

    model: str = Field(
        default="",
        description="the chat model: openai:NAME, openai:NAME@URL or local:FOLDER; several (A,B) judge as one",
    )
    cache: str = Field(default="", exclude=True, description=Limits.model_fields["cache"].description)
    price: list[str] | None = Field(default=None, description=Limits.model_fields["price"].description)
    max_cost: float | None = Field(default=None, ge=0, description=Limits.model_fields["max_cost"].description)
    prompt: str = Field(default="", exclude=True, description=f"a TOML file with another prompt, or {RUBRIC}")
    fit_limit: int = Field(
        default=100, ge=0, le=100_000, description="requests that its calibration is learned from, 0 for none"
    )

    @property
    def models(self) -> list[str]:
        """The specs of the judges."""
        return re.split(r",(?=[a-z]+:)", self.model)

    def limits(self) -> Limits:
        """Raises UsageError for a price that cannot be read, or a budget without one."""
        return Limits.of({"max_cost": self.max_cost, "price": self.price or (), "cache": self.cache or None})


class JudgeDetector(AsksChatModel):
    """Chat models, their prompt and what was learned about each. The score is the mean of their calibrated log-odds. An
    unusable answer leaves the score to the others; where all are, it is the prevalence in training, and a note says so:
    it never counts as honest.
    """

    kind = "judge"
    options_type = JudgeOptions
    reads_reasoning = True
    folds = 0
    packages = ("scipy",)
    publication = Publication(
        needs="It asks the chat model named under `model` below: its server, and a key if that wants one, have to be "
        "at hand, and statements cost requests; a `local:` one is loaded, and downloaded if need be."
    )

    options: JudgeOptions
    _learned: LearnedJudge
    _failed: Counter[str]
    _loaded = False
    _last: tuple[Sequence[Example], list[Floats]] = (), []

    def prepare(self) -> None:
        from liescope.detectors.judge.asking import check_model  # with everything that requests need

        for model in self.options.models:
            check_model(model, self.options.limits())

    def requests(self, learn: Sequence[Example], score: Sequence[Example]) -> int:
        from liescope.detectors.judge.local_model import is_local

        # One more finds out whether there are log-probabilities. Folds may ask about equal statements apart.
        once = min(self.options.fit_limit, len(learn)) + len(score) + bool(learn)
        return once * sum(not is_local(model) for model in self.options.models)

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        """Raises UsageError without a model, or if it cannot be opened; RunPaused if it cannot be asked for now."""
        from liescope.detectors.judge.asking import check_model

        o = self.options
        for model in o.models:
            check_model(model, None)
        prompt = read_prompt(Path(o.prompt) if o.prompt else None, self.text.view)
        self._failed = Counter()
        none = LearnedModel.learned(prompt.criteria, np.empty((0, max(len(prompt.criteria), 1))), y[:0])
        models = (none,) * len(o.models)
        self._learned = LearnedJudge(prompt=prompt, prevalence=float(y.mean()), models=models, own_cache=bool(o.cache))
        games = np.random.default_rng(o.seed).permutation(np.unique(groups))
        asked = np.concatenate([np.flatnonzero(groups == game) for game in games])[: o.fit_limit]
        told = self._ask([examples[row] for row in asked], progress)
        learned = [
            LearnedModel.learned(prompt.criteria, own, y[asked]).model_copy(update={"stated": one.stated})
            for one, own in zip(self._learned.models, told, strict=True)
        ]
        self._learned = self._learned.model_copy(update={"models": tuple(learned)})
        self.notes = self._unusable()
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        odds = self._odds(examples, progress)
        self.notes = self._unusable()
        if (judges := odds.shape[1]) > 1 and examples:
            self.notes += (f"{judges} judges, {agreement(odds)} ({len(odds):,} statements)",)
        return two_columns(self._probability(mean_odds(odds)))

    def parts(self, examples: Sequence[Example], progress: Progress = silent) -> Mapping[str, Floats]:
        odds, told = self._odds(examples, progress), np.array(self._ask(examples, progress))
        judges = {f"judge_{at}": column for at, column in enumerate(odds.T, 1)} if odds.shape[1] > 1 else {}
        names = [one.name for one in self._learned.prompt.criteria]
        each = {name: mean_odds(logit(told[:, :, at].T, EDGE)) for at, name in enumerate(names)}
        return {name: self._probability(one) for name, one in (judges | each).items()}

    def _probability(self, odds: Floats) -> Floats:
        return np.where(np.isnan(odds), self._learned.prevalence, expit(odds))

    def _odds(self, examples: Sequence[Example], progress: Progress) -> Floats:
        """(n, judges): the calibrated log-odds of each, NaN for an unusable answer."""
        told = self._ask(examples, progress)
        return np.column_stack([one.log_odds(own) for one, own in zip(self._learned.models, told, strict=True)])

    def _ask(self, examples: Sequence[Example], progress: Progress) -> list[Floats]:
        """By judge, (n, criteria) the answers about each statement, NaN for an unusable one. Equal questions are asked
        once.
        """
        from liescope.detectors.judge.asking import SPENT, ask_judge, check_model

        if self._last[0] == examples and self._last[1]:
            return self._last[1]
        o, learned, width = self.options, self._learned, max(len(self._learned.prompt.criteria), 1)
        if not examples:
            return [np.empty((0, width)) for _ in o.models]
        for model in o.models:
            check_model(model, None, saved=self._loaded)
        self.keep_replies_in(Path(o.cache) if o.cache else None)
        view = self.text.view
        asked = [learned.prompt.about_statement(textualize(one, self.text), one.target, view) for one in examples]
        once, say = {question: at for at, question in enumerate(dict.fromkeys(asked))}, progress is not silent
        told, models = list[Floats](), list[LearnedModel]()
        none = (np.nan,) * width
        for model, own in zip(o.models, learned.models, strict=True):
            found = ask_judge(model, [*once], o.limits(), progress, stated=own.stated, spent=SPENT[o.model], say=say)
            models.append(own.model_copy(update={"stated": found.stated}))
            self._failed += found.failed
            told.append(np.array([found.answers.get(once[question], none) for question in asked], dtype=np.float64))
        self._learned = learned.model_copy(update={"models": tuple(models)})
        self._last = examples, told
        return told

    def _unusable(self) -> tuple[str, ...]:
        others = "those of others, or " * (len(self._learned.models) > 1)
        return tuple(
            f"{count:,} answers of the judge could not be used ({why}); {others}the share of training, "
            f"{self._learned.prevalence:.2f}, stands for them"
            for why, count in self._failed.most_common()
        )

    def keep_replies_in(self, folder: Path | None) -> None:
        if folder is None and self._loaded and self._learned.own_cache and not self.options.cache:
            raise UsageError(
                "this detector was trained with a folder for the replies of its chat model, whose path is not saved; "
                "name that folder, or another: --cache FOLDER (--judge-cache of evaluate)"
            )
        if folder is not None:
            self.options = self.options.model_copy(update={"cache": str(folder)})

    def save(self, folder: Path) -> None:
        (folder / _FILE).write_text(self._learned.model_dump_json(indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        """Paths in a stranger's options are not used, and a stranger's address is asked only as `check_model` says."""
        detector = cls(text, options.model_copy(update={"prompt": "", "cache": ""}))
        detector._learned = read_json(folder / _FILE, TypeAdapter(LearnedJudge), _LARGEST, TRAIN_AGAIN)
        criteria, models = detector._learned.prompt.criteria, detector._learned.models
        if [len(one.weights) for one in models] != [max(len(criteria), 1)] * len(detector.options.models):
            raise BadData(f"{folder / _FILE} is not of these models and criteria; {TRAIN_AGAIN}")
        detector._failed, detector._loaded = Counter(), True
        return detector
