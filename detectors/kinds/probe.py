"""A linear probe: the hidden states of a local causal language model at a statement's tokens, into a logistic
regression.

That a linear function of such states tells true from false, and honest from deceptive, was shown by Azaria and Mitchell
(2023), Marks and Tegmark (2023) and Goldowsky-Dill et al. of Apollo Research (2025), on what the model itself reads or
says. Here it reads what others said, whoever they are.

It reads the context and then the statement; the states are averaged over the statement's own tokens. One pass gives
several layers. The layer is chosen on statements of speaking models that the regression has not learned from, in games
that it has not learned from; on games alone where fewer than three models speak, or all of them in every game.

A model that is named by its Hub id is not kept with the detector; one that comes from a folder is copied into it. The
states of a fixed sentence are kept in either case, so that another model of the same name is noticed.

States are computed once: remembered while a model is loaded, and kept in a folder if one is named, as one safetensors
file for each statement, under the hash of the model, the text and the layers. A file that is damaged is computed again:
up to rounding, since a pass with other texts beside it, or on another processor, may add up in another order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.sentence_encoder import LOCAL, PART, kept_name, saved_name
from liescope.common.statistics import Bools, Floats, expit
from liescope.detectors.detector import Detector, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.examples import Example
from liescope.detectors.folds import by_game, by_unit
from liescope.detectors.language_model import LanguageModel, Passage, language_model
from liescope.detectors.logistic import TRAIN_AGAIN, ScaledLogistic, read_numbers, two_columns, write_numbers
from liescope.detectors.textualize import TextConfig, textualize

_AT_ONCE = 256
_MEMORY = 2**30  # bytes remembered of statements that are only scored
_NAME = "states"

States = NDArray[np.float16]
_remembered: WeakKeyDictionary[LanguageModel, dict[str, States]] = WeakKeyDictionary()


class Activations:
    """The states of one model at some layers. longest: tokens of a pass; cache: the folder, None for memory alone."""

    def __init__(self, model: LanguageModel, layers: Sequence[int], longest: int, cache: Path | None = None) -> None:
        self.model, self.layers, self.longest = model, tuple(layers), longest
        self._folder = cache and cache / model.fingerprint[:16]
        self._seen = _remembered.setdefault(model, {})

    def of(self, passages: Sequence[Passage], progress: Progress = silent, remember: bool = False) -> States:
        """(passages, layers, width) float16. remember: keep all of them; otherwise only while there is room.

        Raises UsageError if the cache cannot be written.
        """
        keys = [self._key(one) for one in passages]
        wanted = dict(zip(keys, passages, strict=True))
        found = {key: states for key in wanted if (states := self._find(key)) is not None}
        new = sorted((key for key in wanted if key not in found), key=lambda key: len("".join(wanted[key])))
        for start in range(0, len(new), _AT_ONCE):
            progress("reading hidden states", start, len(new))
            part = new[start : start + _AT_ONCE]
            states = self.model.states([wanted[key] for key in part], self.layers, self.longest)
            for key, one in zip(part, states, strict=True):
                found[key] = one
                self._keep(key, one)
        if new:
            progress("reading hidden states", len(new), len(new))
        held = sum(one.nbytes for one in (*self._seen.values(), *found.values()))
        if remember or held <= _MEMORY:
            self._seen |= found
        return np.stack([found[key] for key in keys])

    def _key(self, passage: Passage) -> str:
        return sha256(json.dumps([self.layers, self.longest, *passage]).encode()).hexdigest()

    def _file(self, key: str) -> Path | None:
        return self._folder and self._folder / key[:2] / f"{key}.safetensors"

    def _find(self, key: str) -> States | None:
        if key in self._seen:
            return self._seen[key]
        path = self._file(key)
        return _read(path, len(self.layers)) if path and path.is_file() else None

    def _keep(self, key: str, states: States) -> None:
        from safetensors.numpy import save

        if (path := self._file(key)) is None:
            return
        unfinished = path.with_name(f".{key}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.write_bytes(save({_NAME: np.ascontiguousarray(states)}))
            unfinished.replace(path)
        except OSError as error:
            why = error.strerror or error
            raise UsageError(f"{path.parent} cannot be written ({why}); choose another --cache") from error


def _read(path: Path, layers: int) -> States | None:
    """What `_keep` wrote; None for anything else."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        states = load(path.read_bytes())[_NAME]
    except (OSError, KeyError, ValueError, SafetensorError):
        return None
    sound = states.dtype == np.float16 and states.ndim == 2 and len(states) == layers and np.isfinite(states).all()
    return states if sound else None


_FILE, _PROBE_FILE = "head.npy", "probe.npy"
_PROBE = Passage("", "speaker: I checked player1 last night and I trust player2.")
_MODELS = 3  # speaking models, at least, for the layer to be chosen on models that were held out
_APART = 0.1  # standard deviations; rounding to bf16 moves most of a state by less, another model by more


class ProbeOptions(DetectorOptions):
    """layer: after training, the one that was chosen; cache: a folder of this machine, so it is not saved."""

    model: str = Field(default="", description="the language model that is read, a Hub id or a folder")
    layers: int = Field(default=8, ge=1, description="layers to choose among, evenly spaced")
    layer: int = Field(default=0, ge=0, description="the layer to use, 0 to choose on models that are held out")
    strength: float = Field(default=0.01, gt=0, description="inverse of the L2 penalty, scikit-learn's C")
    max_length: int = Field(default=512, ge=8, description="tokens of a pass: the statement, and what fits before it")
    cache: str = Field(
        default="", exclude=True, description="a folder that keeps hidden states, so that none is computed twice"
    )


class ProbeDetector(Detector):
    """A logistic regression over a language model's hidden states."""

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
    _head: ScaledLogistic

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        o = self.options
        model = language_model(o.model)
        layers = candidates(model, o)
        self._states = Activations(model, layers, o.max_length, Path(o.cache) if o.cache else None)
        states = self._states.of([passage(example, self.text) for example in examples], progress, remember=True)
        best = 0
        if len(layers) > 1:
            found, left_out = self._try_layers(states, y, groups, [one.speaker_model for one in examples], progress)
            best = int(found.argmax())
            self.notes = (f"probe: layer {layers[best]} of {model.layers} is the best on {left_out}",)
        self._head = ScaledLogistic.learned(_of_layer(states, best), y, o.strength)
        self.options = o.model_copy(update={"layer": layers[best], "cache": "", "model": kept_name(o.model)})
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
        head = ScaledLogistic.read(folder / _FILE, len(now))
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
        """((layers,) the mean AUROC on what was held out, what that was: speaking models, or else games)."""
        from sklearn.metrics import roc_auc_score

        models, rows = np.array(speakers, dtype=np.str_), np.arange(len(y))
        left_out, folds = "speaking models that were held out", by_unit(models, groups, y, rows)
        if len(np.unique(models)) < _MODELS or len(folds) < 2:
            left_out, folds = "games that were held out", by_game(groups, y, rows, self.options.seed)
        if not folds:
            raise UsageError("too few games to hold any out and choose a layer on them; name one with --layer")
        found = np.zeros((len(folds), states.shape[1]))
        for number, (learn, out) in enumerate(folds):
            for at in range(states.shape[1]):
                progress("choosing a layer", number * states.shape[1] + at, found.size)
                layer = _of_layer(states, at)
                head = ScaledLogistic.learned(layer[learn], y[learn], self.options.strength)
                found[number, at] = roc_auc_score(y[out], head.odds(layer[out]))
        progress("choosing a layer", found.size, found.size)
        return np.asarray(found.mean(axis=0)), left_out


def passage(example: Example, config: TextConfig) -> Passage:
    """A statement and what stands before it. Its own words are the last line of its text."""
    before, line, own = textualize(example, config).rpartition("\n")
    return Passage(before + line, own)


def candidates(model: LanguageModel, o: ProbeOptions) -> tuple[int, ...]:
    """The layers to choose among, from the first to the last. Raises UsageError for a layer that there is not."""
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
