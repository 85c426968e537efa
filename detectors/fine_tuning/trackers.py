"""Where the Trainer reports the curves of a training: TensorBoard, Weights & Biases, MLflow, or another that it knows.
Each training of a command is a run of its own: one per fold, one that chooses the number of steps, and the final one.
Keys are the trackers' own affair: they read them from their environment.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from liescope.common.errors import UsageError

_DIRECTORY = "TENSORBOARD_LOGGING_DIR"
_TENSORBOARD, _WANDB = "tensorboard", "wandb"
_BY_PIP = (_TENSORBOARD, _WANDB, "mlflow")
_RUNS = count(1)


def told(line: str, part: str, folder: Path | None) -> dict[str, Any]:
    """The Trainer's arguments for tracking one training, `part`: the trackers in an option and the name of its run.
    Raises UsageError, also for TensorBoard without a folder.
    """
    names = trackers_in(line)
    if _TENSORBOARD in names and folder is None and _DIRECTORY not in os.environ:
        raise UsageError(f"nothing keeps TensorBoard's curves here; set {_DIRECTORY} to a folder for them")
    run = f"{time.strftime('%Y%m%d-%H%M%S')}-{next(_RUNS):02}-{part}"
    return {"report_to": list(names), "run_name": run} if names else {"report_to": "none"}


@contextmanager
def followed(trainer: Any, folder: Path | None) -> Iterator[None]:
    """For the time of a training, give TensorBoard a folder of its own, in `folder` unless its environment variable
    names one, and finish the run that Weights & Biases began.
    """
    from transformers.integrations import TensorBoardCallback

    where = Path(os.environ[_DIRECTORY]).expanduser() if _DIRECTORY in os.environ else folder
    for callback in trainer.callback_handler.callbacks:
        if isinstance(callback, TensorBoardCallback) and where:
            callback.logging_dir = str(where / trainer.args.run_name)
    wandb = sys.modules.get(_WANDB) if _WANDB in trainer.args.report_to else None
    others = wandb.run if wandb else None
    try:
        yield
    finally:
        if wandb and wandb.run is not None and wandb.run is not others:
            wandb.finish()


def trackers_in(line: str) -> tuple[str, ...]:
    """The trackers in an option, separated by commas, all of them usable. Raises UsageError for one that
    transformers does not know, or that is not installed.
    """
    from transformers.integrations import integration_utils

    known = integration_utils.INTEGRATION_TO_CALLBACK
    names = tuple(dict.fromkeys(name for part in line.split(",") if (name := part.strip()) not in ("", "none")))
    for name in names:
        if name not in known:
            there = ", ".join(sorted(known))
            raise UsageError(f"--report-to {name[:50]!r} is nothing that transformers reports to; there are {there}")
        if name in _BY_PIP and not getattr(integration_utils, f"is_{name}_available")():
            raise UsageError(f"--report-to {name} needs its package; install it with: pip install {name}")
        try:
            known[name]()
        except (ImportError, RuntimeError) as error:
            raise UsageError(f"--report-to {name} cannot be used here ({str(error).strip()[:300]})") from error
    return names
