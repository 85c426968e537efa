"""The loss as it falls, and the step at which it was least on what was kept aside."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from liescope.common.errors import UsageError
from liescope.detectors.protocol import Progress

Losses = list[dict[str, float]]
"""Points of the curves, in order: `step`, `epoch`, and one of `training` (the mean since the last point), `held_out`,
and `refit` (as `training`, once the number of steps is chosen and all is learned from).
"""


def following(progress: Progress) -> Any:
    """A callback of the Trainer that reports its progress. It raises UsageError for a loss that is no number."""
    from transformers import TrainerCallback

    def on_step_end(_args: Any, state: Any, _control: Any, **_more: Any) -> None:
        progress("fine-tuning", state.global_step, state.max_steps)

    def on_log(_args: Any, _state: Any, _control: Any, logs: dict[str, float], **_more: Any) -> None:
        if not all(math.isfinite(logs[key]) for key in logs.keys() & {"loss", "eval_loss"}):
            raise UsageError("the fine-tuning diverged: its loss is no longer a number; lower --lr")

    found: Any = TrainerCallback()
    found.on_step_end, found.on_log = on_step_end, on_log
    return found


def curve(history: Sequence[dict[str, float]], name: str) -> Losses:
    """The points in a history of the Trainer. name: of the loss on what it learns from."""
    return [
        {"step": float(point["step"]), "epoch": float(point["epoch"]), as_: float(point[key])}
        for point in history
        for key, as_ in (("loss", name), ("eval_loss", "held_out"))
        if key in point
    ]


def best_step(history: Sequence[dict[str, float]]) -> int:
    """The step of a history at which the loss on what was kept aside is least; the first of several."""
    checks = [point for point in history if "eval_loss" in point]
    return int(min(checks, key=lambda point: point["eval_loss"])["step"])
