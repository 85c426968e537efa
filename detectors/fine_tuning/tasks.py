"""Several labels learned by one encoder: a head for each, where a label that is null is left out of the loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liescope.data_cards.tables import TARGETS
from liescope.detectors.examples import Example
from liescope.labeling.taxonomy import DeceptionType

HONEST, DECEPTIVE = "honest", "deceptive"
TASKS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(TARGETS, (HONEST, DECEPTIVE)),
    "type": tuple(str(kind) for kind in DeceptionType),
}
"""The classes of each task."""
UNKNOWN = -100


def named(tasks: str) -> tuple[str, ...]:
    """The tasks in an option, separated by commas. Raises ValueError for one that is none."""
    found = tuple(dict.fromkeys(task.strip() for task in tasks.split(",") if task.strip()))
    if odd := [task for task in found if task not in TASKS]:
        raise ValueError(f"{', '.join(odd)} is none of {', '.join(TASKS)}")
    return found


def class_names(others: Sequence[str]) -> list[str]:
    """The names of all classes: the two of the target, and those of each other task after its name."""
    return [HONEST, DECEPTIVE, *(f"{task}: {name}" for task in others for name in TASKS[task])]


def sizes(others: Sequence[str]) -> list[int]:
    """How many classes each head has, the target's first."""
    return [2, *(len(TASKS[task]) for task in others)]


def label_rows(examples: Sequence[Example], y: NDArray[np.bool_], others: Sequence[str]) -> NDArray[np.int64]:
    """(n, heads): the class of each example in each head, UNKNOWN where its label is null."""
    found = np.full((len(y), 1 + len(others)), UNKNOWN)
    found[:, 0] = y
    for head, task in enumerate(others, 1):
        for row, example in enumerate(examples):
            known = example.labels.get(task)
            if known is not None:
                found[row, head] = TASKS[task].index(known) if isinstance(known, str) else known
    return found


def loss_of(heads: Sequence[int], weights: Sequence[float]) -> Callable[..., Any]:
    """The mean cross-entropy of all known labels. weights: of the target's two classes."""

    def loss(outputs: Any, labels: Any, num_items_in_batch: Any = None) -> Any:
        import torch
        from torch.nn.functional import cross_entropy

        total = torch.zeros((), device=labels.device)
        for head, logits in enumerate(outputs.logits.float().split(list(heads), -1)):
            weight = None if head else torch.tensor(weights, device=labels.device)
            total = total + cross_entropy(logits, labels[:, head], weight, ignore_index=UNKNOWN, reduction="sum")
        known = (labels != UNKNOWN).sum() if num_items_in_batch is None else num_items_in_batch
        return total / known

    return loss


def class_weights(y: NDArray[np.bool_], balanced: bool) -> tuple[float, float]:
    """Weights of honest and deceptive: equal, or such that both classes weigh the same in all."""
    deceptive = float(y.mean())
    return (0.5 / (1 - deceptive), 0.5 / deceptive) if balanced and 0 < deceptive < 1 else (1.0, 1.0)
