"""A transformer encoder fine-tuned to classify statements, alone or with other labels of theirs beside the target.

Each label has a head, and one that is null is left out of the loss.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from scipy.special import softmax

from liescope.data_cards.tables import TARGETS
from liescope.detectors.detector import Progress, silent
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning.fine_tuned import FineTunedDetector, held_out_rows
from liescope.detectors.fine_tuning.loop import FineTuningOptions, Items, fine_tune
from liescope.detectors.textualize import CutTexts, distinct, fit_texts
from liescope.games.taxonomy import DeceptionType

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


class EncoderOptions(FineTuningOptions):
    """tasks: after training, those beside the target."""

    batch_size: int = Field(default=32, ge=1, description="statements at a time")
    max_length: int = Field(default=256, ge=8, description="tokens read of a statement with its context")
    balanced: bool = Field(default=False, description="honest and deceptive statements weigh the same in all")
    tasks: str = Field(
        default="", description=f"labels to learn beside the target, as role,claim: any of {', '.join(TASKS)}"
    )

    @field_validator("tasks")
    @classmethod
    def _known(cls, given: str) -> str:
        return ",".join(named(given))


class EncoderDetector(FineTunedDetector):
    """A fine-tuned encoder of single statements."""

    kind = "encoder"
    options_type = EncoderOptions
    reads_reasoning = True
    presets = MappingProxyType(
        {
            "best": {"context": 5, "epochs": 6.0, "max_length": 512},
            "fast": {"epochs": 1.0, "max_length": 128},
            "tiny": {"epochs": 1.0, "max_length": 64, "max_steps": 50, "held_out": 0.0},
        }
    )
    plain_use = """from transformers import pipeline

classify = pipeline("text-classification", {repo}, top_k=None)
score = {{one["label"]: one["score"] for one in classify([{text}])[0]}}
print(score["deceptive"] / (score["honest"] + score["deceptive"]))
"""

    options: EncoderOptions

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        from transformers import DataCollatorWithPadding

        asked = {example.target for example in examples}
        others = [task for task in named(self.options.tasks) if {task} != asked]
        o = self.options = self.options.model_copy(update={"tasks": ",".join(others)})
        self._begin()
        read = self._read(examples)
        self.notes = read.notes
        known = label_rows(examples, y, others)
        rows = self._rows(read.texts)
        learn, check = held_out_rows(examples, y, groups, o.aside, o.seed)
        every = [{**row, "labels": labels} for row, labels in zip(rows, known.tolist(), strict=True)]
        known[:, 1:] = UNKNOWN  # the number of steps is the target's
        aside = [{**rows[i], "labels": known[i].tolist()} for i in check]
        tuned = fine_tune(
            self._begin,
            Items(every, [every[i] for i in learn], aside, DataCollatorWithPadding(self._tokenizer)),
            loss_of(sizes(others), class_weights(y, o.balanced)),
            o,
            o.batch_size,
            progress,
            self._trackers(),
            train_sampling_strategy="group_by_length",
        )
        return self._finish(tuned, [examples[i] for i in check])

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        return self._heads(examples, progress)[0]

    def predict_tasks(self, examples: Sequence[Example], progress: Progress = silent) -> dict[str, NDArray[np.float64]]:
        """By task learned beside the target, (n, classes): the probability of each class, in the order of
        `liescope.detectors.fine_tuning.TASKS`.
        """
        return dict(zip(named(self.options.tasks), self._heads(examples, progress)[1:], strict=True))

    def _heads(self, examples: Sequence[Example], progress: Progress) -> list[NDArray[np.float64]]:
        texts, place = distinct(self._read(examples).texts)
        ends = np.cumsum(sizes(named(self.options.tasks)))[:-1]
        logits = self._logits(self._rows(texts), progress)[place]
        return [softmax(part, axis=1) for part in np.split(logits, ends, axis=1)]

    def _classes(self) -> list[str]:
        return class_names(named(self.options.tasks))

    def _read(self, examples: Sequence[Example]) -> CutTexts:
        return fit_texts(examples, self.text, self._tokenizer, self._limit(self.options.max_length))
