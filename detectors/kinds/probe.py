"""A probe: a small head on the hidden states of a local causal language model at a statement.
That a linear function of such states separates true from false, and honest from deceptive, was shown by Azaria and
Mitchell (2023), Marks and Tegmark (2023) and Goldowsky-Dill et al. of Apollo Research (2025), for what the model itself
reads or says. Here it reads what others said as if it had said it: a statement passes through its chat template as its
own turn, and what was said before as the user's turns, but for the speaker's own; a chat keeps its roles. What is read
(`--read`) are the states at the statement's own tokens or the last of them, or those at the answer when it is asked
afterwards whether it lied (as Cooney et al. 2026 do), or that answer's probabilities, to one question or several (as
Pacchiardi et al. 2024 do). One pass gives several layers. The layer is chosen on statements of held-out speaking models
in held-out games; on held-out games alone where fewer than three models speak, or all of them in every game.

A model that is named by its Hub id is not kept with the detector; one that comes from a folder is copied into it. What
is read of a fixed sentence is kept in either case, so that another model of the same name is noticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from liescope.common.errors import BadData, UsageError
from liescope.common.sentence_encoder import LOCAL, PART, kept_name, saved_name
from liescope.common.statistics import Bools, Floats, expit
from liescope.common.text import ASSISTANT
from liescope.data_cards.tables.declare import DECEPTION_TYPES
from liescope.detectors.detector import Detector, DetectorOptions, Groups, Progress, Publication, silent
from liescope.detectors.detector_settings import WORDS
from liescope.detectors.examples import Example, place_of
from liescope.detectors.folds import Rows, leaving_out
from liescope.detectors.logistic import TRAIN_AGAIN, read_numbers, two_columns, write_numbers
from liescope.detectors.probing import language_model as lm
from liescope.detectors.probing.heads import ATTENTION, Checkpoint, Head, HeadName, States, learn
from liescope.detectors.probing.language_model import ANSWER, ASKS, EACH, SYSTEM, USER, YES_NO, Passage
from liescope.detectors.probing.styles import doubled
from liescope.detectors.text_form import TextConfig, clean, hide_roles, textualize, viewed
from liescope.games.core import Place

CHAT, TEXT = "chat", "text"
KEPT = "kept by players"
TYPES = DECEPTION_TYPES[1:]  # without none
_PROBE_FILE = "probe.npy"
_LIES = 10  # of a type, at least, for a head of its own
_PROBE = ("Who do you trust?", "I checked player1 last night and I trust player2.")
_MODELS = 3  # speaking models, at least, for the layer to be chosen on models that were held out
_APART = 0.1  # standard deviations; rounding to bf16 moves most of a state by less, another model by more


class ProbeOptions(DetectorOptions):
    """layer: after training, the one that was chosen; asked: after training, the questions, which are no option."""

    model: str = Field(default="", description="the language model that is read, a Hub id or a folder")
    layers: int = Field(default=8, ge=1, description="layers to choose among, evenly spaced")
    layer: int = Field(default=0, ge=0, description="the layer to use, 0 to choose on models that are held out")
    form: Literal["auto", "chat", "text"] = Field(
        default="auto", description="chat, through its chat template, or plain text; auto: chat if it has a template"
    )
    read: lm.Read = Field(
        default="tokens",
        description="tokens: a statement's states; last: that at its last token; answer: that at the answer to whether "
        "it was a lie; yes-no: that answer's log-odds",
    )
    questions: str = Field(
        default="", exclude=True, description="for answer and yes-no: several, or a TOML file of your own questions"
    )
    asked: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    states: str = Field(
        default="", description="learn from the states that players kept: the folder they name in states_to, or the run"
    )
    head: HeadName = Field(
        default="logistic", description="what reads the states: logistic, mean-difference, lda, mlp, attention"
    )
    by_type: Literal["single", "mean", "max"] = Field(
        default="single",
        description="single: one head for all lies; mean or max: of one for each type of deception that speakers "
        "report of ten lies or more",
    )
    styles: bool = Field(default=False, description="learn from each statement in a second, random style as well")
    strength: float = Field(
        default=0.01, gt=0, description="inverse of the penalty of logistic, mlp and attention, scikit-learn's C"
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
    _states: lm.Activations
    _heads: dict[str, Head]  # "" for all lies, and by type
    _latest: tuple[Sequence[Example], dict[str, Floats]] = ((), {})
    _told: tuple[str, ...] = ()
    _counts: Counter[str]
    _kept: Mapping[Place, lm.States] = {}

    def prepare(self) -> None:
        o = self.options
        lm.read_questions(o.questions)
        if o.states and (o.read in ASKS or self.text.view != WORDS):
            raise UsageError("players keep the states of what they said: use --states with --read tokens or last alone")
        if o.head == ATTENTION and (o.states or o.read != "tokens"):
            raise UsageError("attention weighs a statement's tokens: use --head attention with --read tokens alone")
        if o.states and o.styles:
            raise UsageError("players keep the states of words as they said them: leave --states or --styles out")

    def fit(self, examples: Sequence[Example], y: Bools, groups: Groups, progress: Progress = silent) -> Self:
        self._open()
        o, model, layers = self.options, self._states.model, self._states.layers
        if o.styles:
            examples, y, groups = doubled(examples, y, groups, o.seed)
        if o.states:
            rows = [at for at, one in enumerate(examples) if place_of(one) in self._kept]
            if y[rows].all() or not y[rows].any():
                raise UsageError(
                    f"{len(rows):,} of {len(y):,} statements have states in {o.states}, not of both classes"
                )
            left = f"probe: {len(y) - len(rows):,} of {len(y):,} statements have no kept states; not learned from"
            self._told = (left,) * (len(rows) < len(y))
            examples, y, groups = [examples[at] for at in rows], y[rows], groups[rows]
        states, layer = self._read(examples, progress, remember=True), layers[0]
        if len(layers) > 1:
            speakers = np.array([one.speaker_model for one in examples], np.str_)
            layer, left_out = self._best_layer(states, y, groups, speakers, progress)
            self._told += (f"probe: layer {layer} of {model.layers} is the best on {left_out}",)
        of = KEPT if o.states else ""
        self.options = o.model_copy(update={"layer": layer, "model": kept_name(o.model), "states": of})
        self._learn(self._chosen(states), y, groups, np.array([one.deception for one in examples]))
        self._tell()
        return self

    @classmethod
    def of(cls, text: TextConfig, options: ProbeOptions, head: Head) -> Self:
        """A detector with a head that others learned. Raises UsageError if the language model has no such states."""
        detector = cls(text, options)
        detector._open()
        found = {"layer": detector._states.layers[0], "model": kept_name(options.model)}
        detector.options = detector.options.model_copy(update=found)
        detector._heads = {"": head}
        width, reads = len(detector._probed()), head.arrays["mean"].size
        if width != reads:
            what = "questions" if options.read == YES_NO else f"numbers to a state of {options.model}"
            raise UsageError(f"the probe reads {reads:,} numbers, and there are {width:,} {what}")
        return detector

    def _open(self) -> None:
        """Settle of which language model and layers to read what, and how."""
        o = self.options
        questions = (o.asked or lm.read_questions(o.questions)) if o.read in ASKS else ()
        if o.questions and not questions:
            raise UsageError(f"nothing is asked with --read {o.read}; use --questions with --read {' or '.join(ASKS)}")
        model = lm.language_model(o.model)
        layers = candidates(model, o)
        if o.form == CHAT and not model.has_template:
            raise UsageError(f"{o.model} has no chat template; read plain text with --form text")
        form = (CHAT if model.has_template else TEXT) if o.form == "auto" else o.form
        self.options = o.model_copy(update={"form": form, "asked": questions})
        self._told, self._kept = (), {}
        self._set(model, self._keep(model, o.states) if o.states else layers)

    def _set(self, model: lm.LanguageModel, layers: tuple[int, ...]) -> None:
        o, self._counts = self.options, Counter()
        read = EACH if o.head == ATTENTION else o.read
        self._states = lm.Activations(model, layers, o.max_length, read, o.asked)

    def _keep(self, model: lm.LanguageModel, folder: str) -> tuple[int, ...]:
        """Use the states that players kept in a folder; their layers."""
        from liescope.generate.players.kept_states import states_said

        o = self.options
        layers, self._kept = states_said(folder, o.model, o.read == "last", o.layer)
        if layers[-1] > model.layers or any(one.shape[1] != model.width for one in self._kept.values()):
            raise UsageError(f"the kept states are not of {o.model}: its layers or their width are others")
        return layers

    def use_states(self, folder: str) -> None:
        if not self.options.states:
            super().use_states(folder)
        self._keep(self._states.model, folder)

    def _learn(self, states: States, y: Bools, groups: Groups, types: NDArray[np.str_]) -> None:
        """The head for all lies, and those for a type, which learn from no lie of another or an unknown one."""
        rows = {"": np.ones(len(y), bool)}
        if self.options.by_type != "single":
            counts = {kind: int((y & (types == kind)).sum()) for kind in TYPES}
            if not any(counts.values()):
                raise UsageError("no lie has a type of deception; play with --assess, or leave --by-type out")
            rows |= {kind: ~y | (types == kind) for kind, lies in counts.items() if lies >= _LIES}
            told = ", ".join(f"{kind} {counts[kind]:,}" for kind in rows if kind) or "none"
            self._told += (f"probe: types of deception with at least {_LIES} lies, and a head of their own: {told}",)
        self._heads = {kind: self._head(states[own], y[own], groups[own]) for kind, own in rows.items()}

    def _head(self, states: States, y: Bools, groups: Groups) -> Head:
        return learn(self.options.head, states, y, groups, self.options.strength, self.options.seed)

    def _best_layer(
        self, states: lm.States, y: Bools, groups: Groups, models: NDArray[np.str_], progress: Progress
    ) -> tuple[int, str]:
        """(the layer with the highest mean held-out AUROC, what was held out: speaking models, or else games)."""
        from sklearn.metrics import roc_auc_score

        left_out, folds, seed = "speaking models that were held out", list[tuple[Rows, Rows]](), self.options.seed
        if len(np.unique(models)) >= _MODELS:
            folds = leaving_out(models, groups, y, seed)
        if len(folds) < 2:
            left_out, folds = "games that were held out", leaving_out(groups, groups, y, seed)
        if not folds:
            raise UsageError("too few games to hold any out and choose a layer on them; name one with --layer")
        layers = self._states.layers
        found = np.zeros((len(layers), len(folds)))
        for done, (fold, at) in enumerate(product(range(len(folds)), range(len(layers)))):
            progress("choosing a layer", done, found.size)
            (of, out), layer = folds[fold], states[:, at].astype(np.float32)
            found[at, fold] = roc_auc_score(y[out], self._head(layer[of], y[of], groups[of]).odds(layer[out]))
        progress("choosing a layer", found.size, found.size)
        return layers[int(found.mean(axis=1).argmax())], left_out

    def predict_proba(self, examples: Sequence[Example], progress: Progress = silent) -> Floats:
        self._latest = examples, self._scores(examples, progress)
        return two_columns(self._latest[1][self.options.by_type])

    def parts(self, examples: Sequence[Example], progress: Progress = silent) -> Mapping[str, Floats]:
        """The score of the head for all lies beside those by type."""
        if self.options.by_type == "single":
            return {}
        return self._latest[1] if self._latest[0] is examples else self._scores(examples, progress)

    def _scores(self, examples: Sequence[Example], progress: Progress) -> dict[str, Floats]:
        """Each (n,): of the head for all lies, and of the mean log-odds and the highest of those for a type, or of the
        former where there are none.
        """
        odds = np.empty((len(self._heads), 0))
        if examples:
            chosen = self._chosen(self._read(examples, progress))
            odds = np.stack([head.odds(chosen) for head in self._heads.values()])
        types = odds[1:] if len(odds) > 1 else odds
        return {"single": expit(odds[0]), "mean": expit(types.mean(axis=0)), "max": expit(types.max(axis=0))}

    def save(self, folder: Path) -> None:
        o, model = self.options, self._states.model
        for kind, head in self._heads.items():
            head.write(folder / _file(kind))
        write_numbers(folder / _PROBE_FILE, self._probed())
        if o.model == LOCAL:
            model.copy_to(folder / PART)

    def write_for_others(self, folder: Path, threshold: float, trained_on: str) -> None:
        Checkpoint(self._heads[""], self.options.layer, threshold).write(folder, trained_on)

    @classmethod
    def load(cls, folder: Path, text: TextConfig, options: DetectorOptions) -> Self:
        detector = cls(text, options)
        o = detector.options
        model = lm.language_model(saved_name(folder, o.model, what="language model"))
        if not 1 <= o.layer <= model.layers:
            raise BadData(f"{folder} names the layer {o.layer} of {model.layers}; {TRAIN_AGAIN}")
        if o.form == "auto" or (o.form == CHAT and not model.has_template):
            raise BadData(f"{folder} does not say how its language model reads; {TRAIN_AGAIN}")
        if bool(o.asked) != (o.read in ASKS):
            raise BadData(f"{folder} does not say what it asks; {TRAIN_AGAIN}")
        detector._set(model, (o.layer,))
        now = detector._probed()
        kinds = [kind for kind in ("", *TYPES) if not kind or (folder / _file(kind)).is_file()]
        detector._heads = {kind: Head.read(folder / _file(kind), len(now), o.head) for kind in kinds}
        then = read_numbers(folder / _PROBE_FILE, now.shape)
        if np.median(np.abs(now - then) / detector._heads[""].arrays["spread"]) > _APART:
            raise BadData(
                f"the language model {o.model!r} is not the one that {folder} was trained with (its states for a fixed "
                "sentence differ); get that version, or train again"
            )
        return detector

    def _read(self, examples: Sequence[Example], progress: Progress, remember: bool = False) -> lm.States:
        kept = [self._kept.get(place) if self._kept and (place := place_of(one)) else None for one in examples]
        rows = [at for at, one in enumerate(kept) if one is None]
        passages = [passage(examples[at], self.text, self.options.form == CHAT) for at in rows]
        for at, one in zip(rows, self._states.of(passages, progress, remember) if rows else (), strict=True):
            kept[at] = one
        self._counts["read"] += len(examples)
        if self.options.states:
            self._counts["from text"] += len(rows)
        if self.options.read == ANSWER:
            self._counts["unanswered"] += sum(one in self._states.model.unanswered for one in passages)
        self._tell()
        return np.stack([one for one in kept if one is not None])

    def _chosen(self, states: lm.States) -> NDArray[np.float32]:
        """What is read of the layer that was chosen."""
        found: NDArray[np.float32] = states[:, self._states.layers.index(self.options.layer)].astype(np.float32)
        return found

    def _probed(self) -> NDArray[np.float32]:
        """(width,): what is read of a fixed sentence, of its tokens the mean."""
        asked, said = _PROBE
        state = self._chosen(self._states.of([Passage(((USER, asked),) if self.options.form == CHAT else "", said)]))
        mean: NDArray[np.float32] = np.nanmean(state.reshape(-1, state.shape[-1]), axis=0)
        return mean

    def _tell(self) -> None:
        of = f"of {self._counts['read']:,} statements"
        notes = {
            "unanswered": f"probe: about {self._counts['unanswered']:,} {of} the model answered neither yes nor no; "
            "the state before its answer stands for the answer's",
            "from text": f"probe: {self._counts['from text']:,} {of} were scored by their text, for want of states "
            "that were kept",
        }
        self.notes = (*self._told, *(note for what, note in notes.items() if self._counts[what]))


def passage(example: Example, config: TextConfig, chat: bool = False) -> Passage:
    """A statement and what stands before it. As a text its own words are the last line; as a chat they are the model's
    turn, as are the speaker's earlier statements, and all others are the user's.
    """
    if not chat:
        before, line, own = textualize(example, config).rpartition("\n")
        return Passage(before + line, own)
    said = list(example.context[-config.context :]) if config.context else []
    every = said + viewed(example.speaker, example.text, example.reasoning, config.view)
    if example.speaker == ASSISTANT:  # a chat keeps its roles
        lines = ["\n".join(map(clean, words.split("\n"))) for _, words in every]
        lines = [hide_roles(line) for line in lines] if config.mask_role_words else lines
    else:
        lines = textualize(example, config.model_copy(update={"speaker_tag": True})).split("\n")
    mine = [who == example.speaker or at >= len(said) for at, (who, _) in enumerate(every)]
    if example.speaker != ASSISTANT:
        lines = [line.partition(": ")[2] if own else line for line, own in zip(lines, mine, strict=True)]
    roles = [ASSISTANT if own else who if who == SYSTEM else USER for (who, _), own in zip(every, mine, strict=True)]
    return Passage(tuple(zip(roles[:-1], lines[:-1], strict=True)), lines[-1])


def _file(kind: str) -> str:
    return f"head{kind and '-'}{kind}.safetensors"


def candidates(model: lm.LanguageModel, o: ProbeOptions) -> tuple[int, ...]:
    """The layers to choose among, from the first to the last. Raises UsageError for a layer that does not exist."""
    if o.layer > model.layers:
        raise UsageError(f"{o.model} has {model.layers} layers; --layer {o.layer} is none of them")
    if o.layer or o.read == YES_NO:
        return (o.layer or model.layers,)
    return tuple(np.unique(np.linspace(1, model.layers, min(o.layers, model.layers)).round().astype(int)).tolist())
