"""What a judge learned, as JSON: its prompt, the examples in it, the calibration of its answers, and what asking came
to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from scipy.special import expit, log_expit, logit

from liescope.common.reading import read_json
from liescope.detectors.judge.prompt import JudgePrompt
from liescope.detectors.protocol import TRAIN_AGAIN

_STRICT = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_LARGEST = 2**23  # bytes
_EDGE = 0.0025  # of the probabilities that a model states, 0 and 1 among them
Floats = NDArray[np.float64]


class Calibration(BaseModel):
    """Platt's: the log-odds of an answer, times slope, plus intercept (Platt 1999). A slope below 0 is not learned."""

    model_config = _STRICT

    slope: Annotated[float, Field(ge=0, le=100)] = 1.0
    intercept: Annotated[float, Field(ge=-100, le=100)] = 0.0

    @classmethod
    def fitted(cls, probability: Floats, y: NDArray[np.bool_]) -> Self:
        """Of probabilities and labels, each (n,). With few answers it stays near slope 1 and intercept 0: either is a
        normal prior's mean, of variance 1.
        """
        from scipy.optimize import minimize

        odds, sign = _log_odds(probability), np.where(y, 1.0, -1.0)

        def loss(at: Floats) -> float:
            return float(((at - (1, 0)) ** 2).sum() / 2 - log_expit(sign * (at[0] * odds + at[1])).sum())

        slope, intercept = minimize(loss, (1.0, 0.0), bounds=((0, 100), (-100, 100)), method="L-BFGS-B").x
        return cls(slope=float(slope), intercept=float(intercept))

    def log_odds(self, probability: Floats) -> Floats:
        return self.slope * _log_odds(probability) + self.intercept

    def __call__(self, probability: Floats) -> Floats:
        return np.asarray(expit(self.log_odds(probability)))


def _log_odds(probability: Floats) -> Floats:
    return np.asarray(logit(np.clip(probability, _EDGE, 1 - _EDGE)))


class Learned(BaseModel):
    """prompt: the one asked with; statements or games: the examples in it, word for word; prevalence: the share of the
    statements of training that are deceptive, or with whole games of the players; stated: whether the model states
    numbers, None if it was not asked; own_cache: whether its user named a folder for its replies.
    """

    model_config = _STRICT

    prompt: JudgePrompt
    statements: tuple[tuple[str, bool], ...] = ()
    games: tuple[tuple[str, tuple[tuple[str, bool], ...]], ...] = ()
    prevalence: Annotated[float, Field(gt=0, lt=1)]
    calibration: Calibration = Calibration()
    stated: bool | None = None
    own_cache: bool = False

    def write(self, path: Path) -> None:
        path.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises BadData for what `write` never writes."""
        return read_json(path, TypeAdapter(cls), _LARGEST, TRAIN_AGAIN)


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """What asking a judge came to. how: "log-probability" of its answer, or "stated confidence"; statements: asked
    about; failed: those without a score, by reason; found: replies in the cache; requests, tokens, cost: of this time,
    cost None without a price.
    """

    name: str
    how: str
    served_models: tuple[str, ...]
    statements: int
    failed: Mapping[str, int]
    found: int
    requests: int
    tokens: int
    cost: float | None
    currency: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def sentences(self) -> list[str]:
        """What to tell the user about it."""
        cost = "" if self.cost is None else f", {self.cost:.4f} {self.currency}"
        said = [
            f"{self.name}: {self.how}; {self.statements:,} statements, {self.found:,} replies kept from before, "
            f"{self.requests:,} requests, {self.tokens:,} tokens{cost}"
        ]
        return said + [f"{self.name}: {count:,} statements have no score ({why})" for why, count in self.failed.items()]
