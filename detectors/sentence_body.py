"""The body of the kinds that embed sentences: a sentence-transformers model, where it is from and where it is kept.

It may be tuned on labelled statements first: those of one label are drawn together, those of two are put apart. That
is the first half of SetFit (Tunstall et al. 2022, "Efficient few-shot learning without prompts"), with the
contrastive loss of Hadsell, Chopra and LeCun (2006). The two statements of a pair are from two games, so that what a
game is about tells nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import BUNDLED_ID, LOCAL, encoder_folder, is_hub_id, load_encoder
from liescope.detectors.detector import TRAIN_AGAIN, DetectorOptions, Progress, silent
from liescope.detectors.examples import Example
from liescope.detectors.fine_tuning.loop import following
from liescope.detectors.textualize import CutTexts, TextConfig, fit_plain, fit_texts

PART = "encoder"
"""The folder of a model's own encoder. On the Hub its files are at the root, where plain libraries look for them."""

_PROBE_FILE = "probe.npy"
_PROBE = "speaker: I checked player1 last night and I trust player2."
_MEMORY = 100_000
_NO_LIMIT = 2**20


class BodyOptions(DetectorOptions):
    """encoder: "" for the bundled all-MiniLM-L6-v2."""

    encoder: str = Field(default="", description="a Hub id or a folder instead of the bundled all-MiniLM-L6-v2")
    batch_size: int = Field(default=64, ge=1, description="statements at a time")
    tune_pairs: int = Field(
        default=0, ge=0, description="pairs of statements, of one label or of two, to tune the encoder on first"
    )


_Options = TypeVar("_Options", bound=BodyOptions)


def own_encoder(folder: Path) -> Path:
    """Where a model keeps its own encoder: in a folder of its own, or, if it comes from the Hub, beside model.json."""
    return folder / PART if (folder / PART).is_dir() else folder


def encoder_id(encoder: str) -> str | None:
    """The Hub id of the encoder that an option names; None for one that came from a folder."""
    return BUNDLED_ID if not encoder else encoder if is_hub_id(encoder) and encoder != LOCAL else None


class SentenceEncoder:
    """A sentence-transformers model that remembers what it has embedded, so that folds share the work."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._seen: dict[str, NDArray[np.float32]] = {}

    def read(self, examples: Sequence[Example], config: TextConfig) -> CutTexts:
        """The texts of statements, within the encoder's limit."""
        return fit_texts(examples, config, self._model.tokenizer, self._model.max_seq_length or _NO_LIMIT)

    def fitted(self, texts: Sequence[str]) -> CutTexts:
        """Parts of statements, within the encoder's limit."""
        return fit_plain(texts, self._model.tokenizer, self._model.max_seq_length or _NO_LIMIT)

    @property
    def width(self) -> int:
        """How many numbers an embedding has."""
        return int(self.embed([_PROBE], 1).shape[1])

    def embed(
        self, texts: Sequence[str], batch_size: int, progress: Progress = silent, remember: bool = False
    ) -> NDArray[np.float32]:
        """(n, width) float32. An embedding depends on its text alone up to rounding of the last digits (padding).

        remember: keep every embedding; otherwise only while there is room, so that a stream of any length can be
        scored.
        """
        new = sorted({text for text in texts if text not in self._seen}, key=len)
        fresh: dict[str, NDArray[np.float32]] = {}
        step = 4 * batch_size
        for start in range(0, len(new), step):
            progress("embedding statements", start, len(new))
            part = new[start : start + step]
            vectors = self._model.encode(
                part, batch_size=batch_size, convert_to_numpy=True, show_progress_bar=False, precision="float32"
            )
            fresh.update(zip(part, vectors.astype(np.float32), strict=True))
        if new:
            progress("embedding statements", len(new), len(new))
        found = np.stack([fresh[text] if text in fresh else self._seen[text] for text in texts])
        if remember or len(self._seen) + len(fresh) <= _MEMORY:
            self._seen |= fresh
        return found

    def save(self, folder: Path, name: str) -> None:
        """Write into a detector's folder how it embeds a fixed sentence and, if the detector calls it `LOCAL`, its
        weights as safetensors, with vocabulary and settings.
        """
        np.save(folder / _PROBE_FILE, self.embed([_PROBE], 1), allow_pickle=False)
        if name == LOCAL:
            self._model.save(str(folder / PART), create_model_card=False, safe_serialization=True)


def sentence_encoder(folder: Path) -> SentenceEncoder:
    """The encoder in a folder, loaded again only if its weights change. Raises MissingExtra, UsageError."""
    weights = folder / "model.safetensors"
    return _loaded(folder, weights.stat().st_mtime_ns if weights.is_file() else 0)


@lru_cache(maxsize=2)
def _loaded(folder: Path, _changed: int) -> SentenceEncoder:
    return SentenceEncoder(load_encoder(folder))


def saved_encoder(folder: Path, name: str) -> SentenceEncoder:
    """The encoder that a saved detector names, if it is the one that the detector was trained with. Raises BadData."""
    encoder = _named_encoder(folder, name)
    now = encoder.embed([_PROBE], 1)
    with Reading(folder / _PROBE_FILE, TRAIN_AGAIN):
        probe = np.load(folder / _PROBE_FILE, allow_pickle=False)
    if probe.shape != now.shape or probe.dtype.kind != "f" or not np.allclose(probe, now, atol=1e-3):
        raise BadData(
            f"the encoder {name or 'all-MiniLM-L6-v2'!r} is not the one that {folder} was trained with (it embeds "
            "a fixed sentence differently); install that version, or train again"
        )
    return encoder


def kept(options: _Options) -> _Options:
    """The options of a detector that has learned: an encoder that nobody else has is in its own folder."""
    own = options.tune_pairs > 0 or (bool(options.encoder) and Path(options.encoder).is_dir())
    return options.model_copy(update={"encoder": LOCAL}) if own else options


def _named_encoder(folder: Path, name: str) -> SentenceEncoder:
    """The encoder that a saved detector names: the bundled one, a Hub id, or the one in its own folder."""
    if name == LOCAL:
        part = own_encoder(folder)
        if not (part / "modules.json").is_file():
            raise BadData(f"{part} holds no encoder, so the model folder is damaged; train the detector again")
        return sentence_encoder(encoder_folder(str(part)))
    if name and not is_hub_id(name):
        raise BadData(
            f"{folder} names the folder {name[:100]!r} as its encoder, but a model may name only the bundled encoder "
            "or a Hub id; train it again, and the weights are kept in the model's own folder"
        )
    return sentence_encoder(encoder_folder(name))


_RATE, _BATCH = 2e-5, 16  # SetFit's


def draw_pairs(
    y: NDArray[np.bool_], groups: NDArray[np.str_], pairs: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(pairs,) rows of the first and of the second statement of each pair: in turn two honest ones, two deceptive ones,
    and one of each, twice. Raises UsageError if the statements of one label are all of one game.
    """
    rows = [np.flatnonzero(y == label) for label in (False, True)]
    if min(len(np.unique(groups[own])) for own in rows) < 2:
        raise UsageError("pairs need statements of either label in two games or more; leave --tune-pairs out")
    rng, turn = np.random.default_rng(seed), np.arange(pairs) % 4
    labels = (np.isin(turn, (1, 2)), np.isin(turn, (1, 3)))
    first, second = (np.empty(pairs, dtype=np.int64) for _ in labels)
    wrong = np.ones(pairs, dtype=bool)
    while wrong.any():
        for drawn, label in zip((first, second), labels, strict=True):
            either = [rng.choice(own, pairs) for own in rows]
            drawn[wrong] = np.where(label, either[1], either[0])[wrong]
        wrong = groups[first] == groups[second]
    return first, second


def tuned(
    texts: Sequence[str],
    y: NDArray[np.bool_],
    groups: NDArray[np.str_],
    options: BodyOptions,
    progress: Progress,
    rate: float = _RATE,
) -> SentenceEncoder:
    """The encoder of the options, tuned on their number of pairs. Repeatable on one CPU by their seed. texts: within
    the encoder's limit; rate: of learning. Raises UsageError, and what opening an encoder raises.
    """
    model = load_encoder(encoder_folder(options.encoder))

    import torch
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
    from sentence_transformers.sentence_transformer.losses import ContrastiveLoss
    from transformers import PrinterCallback

    class _Trainer(SentenceTransformerTrainer):  # type: ignore[misc]
        def add_model_card_callback(self, _default_args: dict[str, Any]) -> None:
            """No card is made of it, and none would show statements of a corpus."""

    first, second = draw_pairs(y, groups, options.tune_pairs, options.seed)
    data = Dataset.from_dict(
        {
            "first": [texts[i] for i in first],
            "second": [texts[i] for i in second],
            "label": (y[first] == y[second]).astype(float).tolist(),
        }
    )
    with tempfile.TemporaryDirectory(prefix="liescope-") as scratch:
        trainer = _Trainer(
            model=model,
            args=SentenceTransformerTrainingArguments(
                output_dir=scratch,
                num_train_epochs=1,
                learning_rate=rate,
                per_device_train_batch_size=_BATCH,
                seed=options.seed,
                dataloader_pin_memory=torch.cuda.is_available(),
                save_strategy="no",
                logging_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=data,
            loss=ContrastiveLoss(model),
            callbacks=[following(progress)],
        )
        trainer.remove_callback(PrinterCallback)  # it prints, but standard output belongs to the command
        trainer.train()
    return SentenceEncoder(model.eval())
