"""The loss as it falls, the best epoch, and when to stop waiting for a better one."""

from __future__ import annotations

import math
from typing import Any

from liescope.common.errors import UsageError
from liescope.detectors.protocol import Progress

Losses = list[dict[str, float]]
"""Points of the curves, in order: `step`, `epoch`, and `training` (the mean since the last point) or `held_out`."""


class Epochs:
    """Follows a training. losses: its curves so far."""

    def __init__(self, patience: int, progress: Progress) -> None:
        """patience: epochs without a better held-out loss after which training stops, 0 for never."""
        self.losses: Losses = []
        self._patience, self._progress = patience, progress
        self._least, self._waited = math.inf, 0
        self._best: dict[str, Any] = {}

    def callback(self) -> Any:
        """The Trainer callback that tells it what happens."""
        from transformers import TrainerCallback

        def on_step_end(_args: Any, state: Any, _control: Any, **_more: Any) -> None:
            self._progress("fine-tuning", state.global_step, state.max_steps)

        def on_log(_args: Any, state: Any, control: Any, logs: Any, model: Any, **_more: Any) -> None:
            self._logged(state, control, logs, model)

        following: Any = TrainerCallback()
        following.on_step_end, following.on_log = on_step_end, on_log
        return following

    def restore_best(self, model: Any) -> None:
        """Give the model the weights of its best epoch, if games were kept aside to tell."""
        import torch

        with torch.no_grad():
            for name, weight in model.named_parameters():
                if name in self._best:
                    weight.copy_(self._best[name])

    def _logged(self, state: Any, control: Any, logs: dict[str, float], model: Any) -> None:
        for key, name in (("loss", "training"), ("eval_loss", "held_out")):
            if key in logs:
                if not math.isfinite(logs[key]):
                    raise UsageError("the fine-tuning diverged: its loss is no longer a number; lower --lr")
                at = {"step": float(state.global_step), "epoch": float(state.epoch)}
                self.losses.append({**at, name: float(logs[key])})
        if "eval_loss" not in logs:
            return
        if logs["eval_loss"] < self._least:
            self._least, self._waited = logs["eval_loss"], 0
            learned = ((name, weight) for name, weight in model.named_parameters() if weight.requires_grad)
            self._best = {name: weight.detach().cpu().clone() for name, weight in learned}
        else:
            self._waited += 1
            control.should_training_stop |= 0 < self._patience <= self._waited
