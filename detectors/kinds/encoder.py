"""A transformer encoder fine-tuned to classify statements."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from liescope.common import sentence_encoder as encoders
from liescope.common.errors import UsageError
from liescope.common.reading import Reading
from liescope.common.statistics import Bools, Floats
from liescope.detectors.detector import Detector, DetectorOptions, Groups, Progress, Publication, StepsChosen, silent
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning import body, processes
from liescope.detectors.fine_tuning.batches import Tokens
from liescope.detectors.fine_tuning.loop import Body, FineTuningOptions, Items, Losses, fine_tune
from liescope.detectors.folds import held_out_rows
from liescope.detectors.logistic import TRAIN_AGAIN
from liescope.detectors.precision import Precision, computing, device, dtype_of, to_learn_in, to_score_in
from liescope.detectors.text_form import CutTexts, TextConfig, by_length, distinct, fit_texts

CLASSES = ("honest", "deceptive")
LOSSES_FILE = "losses.json"
_BATCH_TOKENS = {"cpu": 2048, "cuda": 2**16}
_FILES = {".json", ".txt", ".safetensors", ".model"}


class EncoderDetector(Detector):
    """A fine-tuned encoder of single statements. Its weights are saved as safetensors in the model's own folder."""

    kind = "encoder"
    options_type = FineTuningOptions
    reads_reasoning = True
    folds = 3
    packages = ("torch", "transformers")
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
    _limit: int
    _base: Path

    def __init__(self, text: TextConfig, options: DetectorOptions) -> None:
        super().__init__(text, options)
        if self.options.lora:
            self.publication = Publication(
                needs="It is an encoder, named under `encoder` below, with low-rank updates beside it (`adapter`); the "
                "encoder is downloaded unless it is among the files (`local`).",
                built_on="encoder",
            )

    def prepare(self) -> None:
        """Raises UsageError for options that this machine or other options do not allow, MissingExtra."""
        o = self.options
        processes.check_started()
        to_learn_in(o.precision, device())
        if o.quantize:
            if not o.lora:
                raise UsageError("weights in few bits cannot learn, only LoRA updates beside them; add --lora 8")
            body.check_can_quantise()

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        self.prepare()
        processes.join()
        precision = to_learn_in(self.options.precision, device())
        o = self.options = self.options.model_copy(update={"precision": precision})
        begun = [self._begin()]
        read = self._read(examples)
        self.notes = read.notes
        models = np.array([example.speaker_model for example in examples])
        learn, check = held_out_rows(models, y, groups, o.aside, o.seed)
        items = Items(self._rows(read.texts), y, groups, learn, check)
        del read
        found = fine_tune(lambda: begun.pop() if begun else self._begin(), items, o, precision, progress)
        self._model, (self.losses, steps, planned), self.chosen = *found, None
        if len(check):
            aside = {*models[check]} - {*models[learn]} or {*models[check]}
            self.chosen = StepsChosen(
                steps=steps,
                planned=planned,
                statements=len(check),
                games=len(np.unique(groups[check])),
                models=tuple(sorted(map(str, aside))),
            )
            self.notes = (*self.notes, self.chosen.words())
        self.options = o.model_copy(update={"encoder": encoders.kept_name(o.encoder)})
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        from scipy.special import softmax

        texts, place = distinct(self._read(examples).texts)
        return np.asarray(softmax(self._logits(self._rows(texts), progress)[place], axis=1))

    def _read(self, examples: Sequence[Example]) -> CutTexts:
        return fit_texts(examples, self.text, self._tokenizer, self._limit)

    def _begin(self) -> Body:
        """Read the encoder and give it a new head. Raises UsageError, BadData."""
        from transformers import set_seed

        o = self.options
        set_seed(o.seed)
        with Reading(f"the encoder {o.encoder!r}", encoders.CHOICES):
            self._base = encoders.encoder_folder(o.encoder)
            return self._open(self._base, to_learn_in(o.precision, device()), new=True)

    def _open(self, folder: Path, precision: Precision, new: bool) -> Body:
        """Read an encoder, with a new head or its own."""
        o = self.options
        dtype = dtype_of(precision if o.lora else "fp32")
        self._tokenizer, model, fresh = body.read_body(folder, CLASSES if new else None, o.attention, dtype, o.quantize)
        self._limit = body.limit(self._tokenizer, model, o.max_length)
        return model, fresh

    def _rows(self, texts: Sequence[str]) -> Tokens:
        """What the encoder reads of each text, which must be within its limit: on a GPU in few shapes, each of which
        has its costs.
        """
        return Tokens.of(self._tokenizer, texts, 8 if device().type == "cuda" else None)

    def _logits(self, rows: Tokens, progress: Progress) -> Floats:
        """(n, outputs) for what the encoder reads, rows of one length together, shared among the processes of a
        training.
        """
        import torch

        there = self._model.device
        precision, notes = to_score_in(self.options.precision, there)
        self.notes = tuple(dict.fromkeys((*self.notes, *notes)))
        if precision == "fp32" and not self.options.quantize:
            self._model.float()  # of LoRA, whose base was read for another device
        found, done = np.zeros((len(rows), self._model.config.num_labels)), 0
        rank, of = processes.place()
        with torch.inference_mode(), computing(precision, there):
            for part in list(by_length(rows.lengths.tolist(), _BATCH_TOKENS[there.type]))[rank::of]:
                batch = {name: one.to(there) for name, one in rows.batch(part).items()}
                found[part] = self._model(**batch).logits.double().cpu().numpy()
                done += len(part) * of
                progress("scoring statements", min(done, len(rows)), len(rows))
        return processes.summed(found, there)

    def save(self, folder: Path) -> None:
        (folder / LOSSES_FILE).write_text(json.dumps(self.losses, indent=0, allow_nan=False) + "\n", encoding="utf-8")
        if not processes.is_first():
            return
        o = self.options
        if not o.lora:
            self._model.save_pretrained(folder / encoders.PART)
            self._tokenizer.save_pretrained(folder / encoders.PART)
            return
        body.save_adapter(folder / body.ADAPTER, self._model, self._tokenizer, encoders.encoder_id(o.encoder) or "")
        if o.encoder == encoders.LOCAL:
            others = [path.name for path in self._base.iterdir() if path.is_dir() or path.suffix not in _FILES]
            shutil.copytree(self._base, folder / encoders.PART, ignore=lambda *_: others, copy_function=shutil.copyfile)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        o = detector.options
        precision, _ = to_score_in(o.precision, device())
        if o.lora:
            if o.quantize:
                body.check_can_quantise()
            detector._base = encoders.encoder_folder(encoders.saved_name(folder, o.encoder))
            with Reading(folder, TRAIN_AGAIN):
                model, new = detector._open(detector._base, precision, new=True)
                model = body.load_adapter(folder / body.ADAPTER, model, detector._tokenizer, o.lora, new, o.encoder)
        else:
            for needed in ("config.json", "model.safetensors"):
                path = Path(encoders.saved_name(folder, encoders.LOCAL, needed))
            encoders.check_encoder(path)
            with Reading(path, TRAIN_AGAIN):
                model, _ = detector._open(path, precision, new=False)
                if model.config.num_labels != len(CLASSES):
                    raise ValueError(f"it has {model.config.num_labels} classes, not {len(CLASSES)}")
            for weight in model.parameters():
                # aligned in memory as in training, so that scores are equal to the last bit
                weight.data = weight.data.clone()
        detector._model = model.to(device()).eval()
        return detector
