"""A probe: a small head on the hidden states of a local causal language model at a statement's tokens.
That a linear function of such states separates true from false, and honest from deceptive, was shown by Azaria and
Mitchell (2023), Marks and Tegmark (2023) and Goldowsky-Dill et al. of Apollo Research (2025), for what the model itself
reads or says. Here it reads what others said: the context and then the statement; the states are averaged over the
statement's own tokens. One pass gives several layers. The layer is chosen on statements of held-out speaking models in
held-out games; on held-out games alone where fewer than three models speak, or all of them in every game.

A model that is named by its Hub id is not kept with the detector; one that comes from a folder is copied into it. The
states of a fixed sentence are kept in either case, so that another model of the same name is noticed.

States are computed once, and remembered while a model is loaded.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import BadData, MissingExtra, UsageError
from liescope.common.reading import Reading
from liescope.common.sentence_encoder import (
    LOCAL,
    PART,
    kept_name,
    read_transformer,
    saved_name,
    transformer_folder,
)
from liescope.common.statistics import Bools, Floats, expit
from liescope.detectors.detector import Detector, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.examples import Example
from liescope.detectors.folds import by_game, by_unit
from liescope.detectors.logistic import TRAIN_AGAIN, read_numbers, two_columns, write_numbers
from liescope.detectors.probing.heads import Head, HeadName, learn
from liescope.detectors.text_form import TextConfig, by_length, textualize

_CHOICES = "give the Hub id of a causal language model that you can reach, or its folder"
_WEIGHT_FILES = ("*.json", "*.txt", "*.model", "*.safetensors")
_BATCH_TOKENS = {"cpu": 2048, "cuda": 2**14}
_LARGEST = float(np.finfo(np.float16).max)


class Passage(NamedTuple):
    """before: what a model reads first; own: the words whose states are used."""

    before: str
    own: str


class LanguageModel:
    """A tokenizer and a model; made by `language_model`."""

    def __init__(self, folder: Path, tokenizer: Any, model: Any) -> None:
        self.folder = folder
        self.model = model
        self._tokenizer = tokenizer

    @property
    def layers(self) -> int:
        """How many layers there are; the last is number `layers`, and 0 would be the tokens' embeddings."""
        return int(self.model.config.get_text_config().num_hidden_layers)

    def states(self, passages: Sequence[Passage], layers: Sequence[int], longest: int) -> NDArray[np.float16]:
        """(passages, layers, width): the mean hidden state at the tokens of each passage's own words, of several layers
        from one pass. longest: tokens of a pass. Words before are cut if they do not fit; own words that do not fit are
        read in several passes.
        """
        import torch

        windows = [(at, *window) for at, one in enumerate(passages) for window in self._windows(one, longest)]
        lengths = [len(ids) for _, ids, _ in windows]
        width = self.model.config.get_text_config().hidden_size
        sums, counts = np.zeros((len(passages), len(layers), width), np.float32), np.zeros(len(passages), np.float32)
        for part in by_length(lengths, _BATCH_TOKENS[self.model.device.type]):
            ids, read = self._padded([windows[i][1] for i in part])
            own = read.float()
            for row, i in enumerate(part):
                own[row, : windows[i][2]] = 0
            with torch.inference_mode():
                # The body alone: the probabilities over next tokens would take more memory than all layers.
                hidden = self.model.base_model(
                    input_ids=ids, attention_mask=read, output_hidden_states=True, use_cache=False
                ).hidden_states
                pooled = [torch.einsum("bth,bt->bh", hidden[n].float(), own.to(hidden[n].device)) for n in layers]
            found = np.stack([one.cpu().numpy() for one in pooled], axis=1)
            at = [windows[i][0] for i in part]
            np.add.at(sums, at, found)
            np.add.at(counts, at, own.sum(1).cpu().numpy())
        return np.clip(sums / counts[:, None, None], -_LARGEST, _LARGEST).astype(np.float16)

    def copy_to(self, folder: Path) -> None:
        """Copy its files."""
        folder.mkdir(parents=True, exist_ok=True)
        for path in _files(self.folder):
            shutil.copyfile(path, folder / path.name)

    @property
    def _first(self) -> list[int]:
        return [] if self._tokenizer.bos_token_id is None else [self._tokenizer.bos_token_id]

    def _windows(self, passage: Passage, longest: int) -> Iterator[tuple[list[int], int]]:
        """Token ids of each pass, and where the own words begin in it."""
        first = self._first
        own = self._ids(passage.own) or [self._tokenizer.eos_token_id or 0]
        room = min(longest, self._most_tokens) - len(first)
        left = max(room - len(own), 0)
        begin = first + (self._ids(passage.before)[-left:] if left else [])
        yield begin + own[:room], len(begin)
        for start in range(room, len(own), room):
            yield first + own[start : start + room], len(first)

    @property
    def _most_tokens(self) -> int:
        return int(getattr(self.model.config.get_text_config(), "max_position_embeddings", None) or 2**20)

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self._tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

    def _padded(self, rows: Sequence[list[int]]) -> tuple[Any, Any]:
        """(ids, mask) as tensors; padding comes after the words, where a causal model's words cannot see it."""
        import torch

        ids = torch.zeros((len(rows), max(map(len, rows))), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        return ids.to(self.model.device), mask.to(self.model.device)


def language_model(name: str) -> LanguageModel:
    """The causal model of a Hub id or folder, loaded again only if its weights change: safetensors alone, none of its
    code; bf16 and spread over the GPUs where there are any.

    Raises UsageError if there is no such model, BadData if it is more than data or cannot be read, MissingExtra.
    """
    if not name:
        raise UsageError(f"no language model is named; {_CHOICES}, with --model")
    folder = transformer_folder(name, "language model", _CHOICES)
    return _loaded(folder, tuple(path.stat().st_mtime_ns for path in _files(folder)))


@lru_cache(maxsize=1)
def _loaded(folder: Path, _changed: tuple[int, ...]) -> LanguageModel:
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("torch", "train") from error
    gpu = torch.cuda.is_available()
    place: dict[str, Any] = {"dtype": torch.bfloat16, "device_map": "auto"} if gpu else {"dtype": torch.float32}
    with Reading(f"the language model {str(folder)!r}", _CHOICES):
        tokenizer, model, _ = read_transformer("AutoModelForCausalLM", folder, **place)
    return LanguageModel(folder, tokenizer, model.eval())


def _files(folder: Path) -> list[Path]:
    return sorted(path for pattern in _WEIGHT_FILES for path in folder.glob(pattern) if path.is_file())


_AT_ONCE = 256
_MEMORY = 2**30  # bytes to remember of statements that are only scored

States = NDArray[np.float16]
_Seen = dict[tuple[tuple[int, ...], int], dict[Passage, States]]  # activations, by layers and tokens of a pass
_remembered: WeakKeyDictionary[LanguageModel, _Seen] = WeakKeyDictionary()


class Activations:
    """The states of one model at some layers. longest: tokens of a pass."""

    def __init__(self, model: LanguageModel, layers: Sequence[int], longest: int) -> None:
        self.model, self.layers, self.longest = model, tuple(layers), longest
        self._seen = _remembered.setdefault(model, {}).setdefault((self.layers, longest), {})

    def of(self, passages: Sequence[Passage], progress: Progress = silent, remember: bool = False) -> States:
        """(passages, layers, width) float16. remember: keep all of them; else only while there is room."""
        new = sorted({one for one in passages if one not in self._seen}, key=lambda one: len("".join(one)))
        found: dict[Passage, States] = {}
        for start in range(0, len(new), _AT_ONCE):
            progress("reading hidden states", start, len(new))
            part = new[start : start + _AT_ONCE]
            found |= zip(part, self.model.states(part, self.layers, self.longest), strict=True)
        if new:
            progress("reading hidden states", len(new), len(new))
        states = np.stack([found[one] if one in found else self._seen[one] for one in passages])
        if remember or sum(one.nbytes for one in (*self._seen.values(), *found.values())) <= _MEMORY:
            self._seen |= found
        return states


_FILE, _PROBE_FILE = "head.safetensors", "probe.npy"
_PROBE = Passage("", "speaker: I checked player1 last night and I trust player2.")
_MODELS = 3  # speaking models, at least, for the layer to be chosen on models that were held out
_APART = 0.1  # standard deviations; rounding to bf16 moves most of a state by less, another model by more


class ProbeOptions(DetectorOptions):
    """layer: after training, the one that was chosen."""

    model: str = Field(default="", description="the language model that is read, a Hub id or a folder")
    layers: int = Field(default=8, ge=1, description="layers to choose among, evenly spaced")
    layer: int = Field(default=0, ge=0, description="the layer to use, 0 to choose on models that are held out")
    head: HeadName = Field(default="logistic", description="what reads the states: logistic, mean-difference, lda, mlp")
    strength: float = Field(
        default=0.01, gt=0, description="inverse of the penalty of logistic and mlp, scikit-learn's C"
    )
    max_length: int = Field(default=512, ge=8, description="tokens of a pass: the statement, and what fits before it")


class ProbeDetector(Detector):
    """A head over a language model's hidden states."""

    kind = "probe"
    options_type = ProbeOptions
    reads_reasoning = True
    folds = 3
    packages = ("scikit-learn", "torch", "transformers", "safetensors", "accelerate")
    extra = "train"
    publication = Publication(
        needs="It reads the hidden states of the language model named under `model` below, which is downloaded and run "
        "unless its weights are among the files (`local`).",
        built_on="model",
    )

    options: ProbeOptions
    _states: Activations
    _head: Head

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        o = self.options
        model = language_model(o.model)
        layers = candidates(model, o)
        self._states = Activations(model, layers, o.max_length)
        states = self._states.of([passage(example, self.text) for example in examples], progress, remember=True)
        best = 0
        if len(layers) > 1:
            found, left_out = self._try_layers(states, y, groups, [one.speaker_model for one in examples], progress)
            best = int(found.argmax())
            self.notes = (f"probe: layer {layers[best]} of {model.layers} is the best on {left_out}",)
        self._head = learn(o.head, _of_layer(states, best), y, groups, o.strength, o.seed)
        self.options = o.model_copy(update={"layer": layers[best], "model": kept_name(o.model)})
        return self

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        if not examples:
            return np.empty((0, 2))
        states = self._states.of([passage(example, self.text) for example in examples], progress)
        odds = self._head.odds(_of_layer(states, self._states.layers.index(self.options.layer)))
        return two_columns(expit(odds))

    def save(self, folder: Path) -> None:
        model = self._states.model
        self._head.write(folder / _FILE)
        write_numbers(folder / _PROBE_FILE, _probe(model, self.options))
        if self.options.model == LOCAL:
            model.copy_to(folder / PART)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        o = detector.options
        model = language_model(saved_name(folder, o.model, what="language model"))
        if not 1 <= o.layer <= model.layers:
            raise BadData(f"{folder} names the layer {o.layer} of {model.layers}; {TRAIN_AGAIN}")
        now = _probe(model, o)
        head = Head.read(folder / _FILE, len(now), o.head)
        then = read_numbers(folder / _PROBE_FILE, now.shape)
        if np.median(np.abs(now - then) / head.spread) > _APART:
            raise BadData(
                f"the language model {o.model!r} is not the one that {folder} was trained with (its states for a fixed "
                "sentence differ); get that version, or train again"
            )
        detector._states, detector._head = Activations(model, (o.layer,), o.max_length), head
        return detector

    def _try_layers(
        self, states: States, y: Bools, groups: Groups, speakers: Sequence[str], progress: Progress
    ) -> tuple[Floats, str]:
        """((layers,) the mean held-out AUROC, what was held out: speaking models, or else games)."""
        from sklearn.metrics import roc_auc_score

        o = self.options
        models, rows = np.array(speakers, dtype=np.str_), np.arange(len(y))
        left_out, folds = "speaking models that were held out", by_unit(models, groups, y, rows)
        if len(np.unique(models)) < _MODELS or len(folds) < 2:
            left_out, folds = "games that were held out", by_game(groups, y, rows, o.seed)
        if not folds:
            raise UsageError("too few games to hold any out and choose a layer on them; name one with --layer")
        found = np.zeros((len(folds), states.shape[1]))
        for number, (of, out) in enumerate(folds):
            for at in range(states.shape[1]):
                progress("choosing a layer", number * states.shape[1] + at, found.size)
                layer = _of_layer(states, at)
                head = learn(o.head, layer[of], y[of], groups[of], o.strength, o.seed)
                found[number, at] = roc_auc_score(y[out], head.odds(layer[out]))
        progress("choosing a layer", found.size, found.size)
        return np.asarray(found.mean(axis=0)), left_out


def passage(example: Example, config: TextConfig) -> Passage:
    """A statement and what stands before it. Its own words are the last line of its text."""
    before, line, own = textualize(example, config).rpartition("\n")
    return Passage(before + line, own)


def candidates(model: LanguageModel, o: ProbeOptions) -> tuple[int, ...]:
    """The layers to choose among, from the first to the last. Raises UsageError for a layer that does not exist."""
    if o.layer > model.layers:
        raise UsageError(f"{o.model} has {model.layers} layers; --layer {o.layer} is none of them")
    if o.layer:
        return (o.layer,)
    return tuple(np.unique(np.linspace(1, model.layers, min(o.layers, model.layers)).round().astype(int)).tolist())


def _probe(model: LanguageModel, o: ProbeOptions) -> NDArray[np.float32]:
    found: NDArray[np.float32] = _of_layer(model.states([_PROBE], [o.layer], o.max_length), 0)[0]
    return found


def _of_layer(states: NDArray[np.float16], at: int) -> NDArray[np.float32]:
    found: NDArray[np.float32] = states[:, at].astype(np.float32)
    return found
