"""A transformer encoder fine-tuned to classify statements, alone or with other labels of theirs beside the target."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator
from scipy.special import softmax

from liescope.detectors.batches import distinct
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning import tasks
from liescope.detectors.fine_tuning.detector import FineTunedDetector
from liescope.detectors.fine_tuning.held_out import held_out_rows
from liescope.detectors.fine_tuning.loop import Items, fine_tune
from liescope.detectors.fine_tuning.options import FineTuningOptions
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.truncation import Fitted, fit_texts


class EncoderOptions(FineTuningOptions):
    """tasks: after training, those beside the target."""

    batch_size: int = Field(default=32, ge=1, description="statements at a time")
    max_length: int = Field(default=256, ge=8, description="tokens read of a statement with its context")
    balanced: bool = Field(default=False, description="honest and deceptive statements weigh the same in all")
    tasks: str = Field(
        default="", description=f"labels to learn beside the target, as role,claim: any of {', '.join(tasks.TASKS)}"
    )

    @field_validator("tasks")
    @classmethod
    def _known(cls, given: str) -> str:
        return ",".join(tasks.named(given))


class EncoderDetector(FineTunedDetector):
    """A fine-tuned encoder."""

    kind = "encoder"
    options_type = EncoderOptions
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
        others = [task for task in tasks.named(self.options.tasks) if {task} != asked]
        o = self.options = self.options.model_copy(update={"tasks": ",".join(others)})
        self._begin()
        read = self._read(examples)
        self.notes = read.notes
        known = tasks.label_rows(examples, y, others)
        rows = self._rows(read.texts)
        learn, check = held_out_rows(examples, y, groups, o.held_out, o.seed)
        every = [{**row, "labels": labels} for row, labels in zip(rows, known.tolist(), strict=True)]
        known[:, 1:] = tasks.UNKNOWN  # the number of steps is the target's
        aside = [{**rows[i], "labels": known[i].tolist()} for i in check]
        tuned = fine_tune(
            self._begin,
            Items(every, [every[i] for i in learn], aside, DataCollatorWithPadding(self._tokenizer)),
            tasks.loss_of(tasks.sizes(others), tasks.class_weights(y, o.balanced)),
            o,
            o.batch_size,
            progress,
            train_sampling_strategy="group_by_length",
        )
        return self._finish(tuned, [examples[i] for i in check])

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        return self._heads(examples, progress)[0]

    def predict_tasks(self, examples: Sequence[Example], progress: Progress = silent) -> dict[str, NDArray[np.float64]]:
        """By task learned beside the target, (n, classes): the probability of each class, in the order of
        `liescope.detectors.fine_tuning.tasks.TASKS`.
        """
        return dict(zip(tasks.named(self.options.tasks), self._heads(examples, progress)[1:], strict=True))

    def _heads(self, examples: Sequence[Example], progress: Progress) -> list[NDArray[np.float64]]:
        texts, place = distinct(self._read(examples).texts)
        ends = np.cumsum(tasks.sizes(tasks.named(self.options.tasks)))[:-1]
        logits = self._logits(self._rows(texts), progress)[place]
        return [softmax(part, axis=1) for part in np.split(logits, ends, axis=1)]

    def _classes(self) -> list[str]:
        return tasks.class_names(tasks.named(self.options.tasks))

    def _read(self, examples: Sequence[Example]) -> Fitted:
        return fit_texts(examples, self.text, self._tokenizer, self._limit(self.options.max_length))
