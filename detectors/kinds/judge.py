"""A chat model as a detector, asked about every statement. The model itself is not trained: its answers about a few
training statements calibrate the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, TypeAdapter

from liescope.common.errors import UsageError
from liescope.common.reading import Strict, read_json
from liescope.common.statistics import Bools, Floats, expit, log_expit, logit
from liescope.detectors.detector import AsksChatModel, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.examples import Example
from liescope.detectors.judge.prompt import JudgePrompt, read_prompt
from liescope.detectors.logistic import TRAIN_AGAIN, two_columns
from liescope.detectors.text_form import TextConfig, textualize
from liescope.generate.players.run_limits import Limits

_FILE = "judge.json"
_LARGEST = 2**17  # bytes
_EDGE = 0.0025  # stated probabilities are kept so far from 0 and 1


class PlattScaling(Strict):
    """Platt scaling: the log-odds of an answer, times slope, plus intercept (Platt 1999). A slope below 0 is not
    learned.
    """

    slope: Annotated[float, Field(ge=0, le=100)] = 1.0
    intercept: Annotated[float, Field(ge=-100, le=100)] = 0.0

    @classmethod
    def fitted(cls, probability: Floats, y: Bools) -> Self:
        """The scaling under which probabilities, (n,), fit labels, (n,), best. With few answers it stays near slope 1
        and intercept 0, the means of normal priors with variance 1.
        """
        from scipy.optimize import minimize

        odds, sign = cls().log_odds(probability), np.where(y, 1.0, -1.0)

        def loss(at: Floats) -> float:
            return float(((at - (1, 0)) ** 2).sum() / 2 - log_expit(sign * (at[0] * odds + at[1])).sum())

        slope, intercept = minimize(loss, (1.0, 0.0), bounds=((0, 100), (-100, 100)), method="L-BFGS-B").x
        return cls(slope=float(slope), intercept=float(intercept))

    def log_odds(self, probability: Floats) -> Floats:
        return np.asarray(self.slope * logit(np.clip(probability, _EDGE, 1 - _EDGE)) + self.intercept)


class LearnedJudge(Strict):
    """prompt: the one asked with; prevalence: the share of what was learned from that deceives; stated: whether the
    model states numbers, None if it was not asked; own_cache: whether its user named a folder for its replies.
    """

    prompt: JudgePrompt
    prevalence: Annotated[float, Field(gt=0, lt=1)]
    calibration: PlattScaling = PlattScaling()
    stated: bool | None = None
    own_cache: bool = False


class JudgeOptions(DetectorOptions):
    """cache and prompt name a folder and a file of this machine and are not saved; the prompt is, word for word."""

    model: str = Field(default="", description="the chat model: openai:NAME, openai:NAME@URL or local:FOLDER")
    cache: str = Field(default="", exclude=True, description=Limits.model_fields["cache"].description)
    price: list[str] | None = Field(default=None, description=Limits.model_fields["price"].description)
    max_cost: float | None = Field(default=None, ge=0, description=Limits.model_fields["max_cost"].description)
    prompt: str = Field(default="", exclude=True, description="a TOML file with another prompt")
    fit_limit: int = Field(
        default=100, ge=0, le=100_000, description="requests that its calibration is learned from, 0 for none"
    )

    def limits(self) -> Limits:
        """Raises UsageError for a price that cannot be read, or a budget without one."""
        return Limits.of({"max_cost": self.max_cost, "price": self.price or (), "cache": self.cache or None})


class JudgeDetector(AsksChatModel):
    """A chat model, its prompt and a calibration. An unusable answer scores the prevalence in training, and a note says
    so; it never counts as honest.
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

    def prepare(self) -> None:
        from liescope.detectors.judge.asking import check_model  # with everything that requests need

        check_model(self.options.model, self.options.limits())

    def requests(self, learn: Sequence[Example], score: Sequence[Example]) -> int:
        from liescope.detectors.judge.local_model import is_local

        if is_local(self.options.model):
            return 0
        # One more finds out whether there are log-probabilities. Folds may ask about equal statements apart.
        return min(self.options.fit_limit, len(learn)) + len(score) + bool(learn)

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        """Raises UsageError without a model, or if it cannot be opened; RunPaused if it cannot be asked for now."""
        from liescope.detectors.judge.asking import check_model

        o = self.options
        check_model(o.model, None)
        prompt = read_prompt(Path(o.prompt) if o.prompt else None, self.text.view)
        self._failed = Counter()
        self._learned = LearnedJudge(prompt=prompt, prevalence=float(y.mean()), own_cache=bool(o.cache))
        games = np.random.default_rng(o.seed).permutation(np.unique(groups))
        asked = np.concatenate([np.flatnonzero(groups == game) for game in games])[: o.fit_limit]
        told = np.array(self._ask([examples[row] for row in asked], progress), dtype=np.float64)  # NaN for no answer
        read = ~np.isnan(told)
        if read.any():
            calibration = PlattScaling.fitted(told[read], y[asked][read])
            self._learned = self._learned.model_copy(update={"calibration": calibration})
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        learned, told = self._learned, np.array(self._ask(examples, progress), dtype=np.float64)
        score = np.where(np.isnan(told), learned.prevalence, expit(learned.calibration.log_odds(told)))
        return two_columns(score)

    def _ask(self, examples: Sequence[Example], progress: Progress) -> list[float | None]:
        """The answer about each statement; None for an unusable one. Equal questions are asked once."""
        from liescope.detectors.judge.asking import SPENT, ask_judge, check_model

        if not examples:
            return []
        o, learned = self.options, self._learned
        check_model(o.model, None, saved=self._loaded)
        self.keep_replies_in(Path(o.cache) if o.cache else None)
        view = self.text.view
        asked = [learned.prompt.about_statement(textualize(one, self.text), one.target, view) for one in examples]
        once, say = {question: at for at, question in enumerate(dict.fromkeys(asked))}, progress is not silent
        found = ask_judge(o.model, [*once], o.limits(), progress, stated=learned.stated, spent=SPENT[o.model], say=say)
        self._learned = learned.model_copy(update={"stated": found.stated})
        self._failed += found.failed
        self.notes = tuple(
            f"{count:,} answers of the judge could not be used ({why}); the share of training, "
            f"{learned.prevalence:.2f}, stands for them"
            for why, count in self._failed.most_common()
        )
        return [found.answers.get(once[question]) for question in asked]

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
        detector._failed, detector._loaded = Counter(), True
        return detector
