"""Cheap scorers that know only one thing about a statement, and the words with names and role words masked or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from liescope.common.statistics import Floats
from liescope.detectors.audit.bench import Bools, Probe
from liescope.detectors.audit.data import CONTEXT, Audited
from liescope.detectors.evaluation.controls import CONTROLS, K_OF_N, FitPredict, logistic_on, with_k_of_n
from liescope.detectors.examples import Example
from liescope.detectors.folds import Rows
from liescope.detectors.kinds.tfidf import TfidfOptions, vectorizer
from liescope.detectors.textualize import TextConfig, textualize

OPENING = 3
"""How many words the probe of openings reads."""

MASKED, NAMED = "words, names masked", "words, names kept"
ROLES_MASKED, NAMED_ROLES_MASKED = "words, names and role words masked", "words, role words masked"
WORDS = {
    NAMED: TextConfig(mask_names=False),
    MASKED: TextConfig(),
    NAMED_ROLES_MASKED: TextConfig(mask_names=False, mask_role_words=True),
    ROLES_MASKED: TextConfig(mask_role_words=True),
}
"""The four readings of the same words. `MASKED` is what detectors read by default."""
TAGGED = "speaker's name and words"
OPENINGS = f"first {OPENING} words"
ROLE_ORACLE = "role oracle"
SHARE_IN_GAME = "share in the game"
"""What stands for k of n, the deceivers of a game's players, where the target is not the role."""


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A probe that knows nothing of the words. subject, moral: the parts of its sentence, with its verb."""

    name: str
    subject: str
    moral: str


LEARNED_NOTHING = "a detector at {value:.2f} may have learned nothing more"
SHORTCUTS = {
    K_OF_N: Shortcut(
        K_OF_N,
        "Knowing how many of how many players deceive, and not who, reaches",
        "a detector at {value:.2f} over all games may know nothing within one",
    ),
    SHARE_IN_GAME: Shortcut(
        SHARE_IN_GAME,
        "Knowing what share of a game's labelled statements is deceptive, and not which, reaches",
        "a detector at {value:.2f} over all games may know nothing within one",
    ),
    "length": Shortcut("length", "Length alone reaches", LEARNED_NOTHING),
    "position": Shortcut("position", "The place in the game alone reaches", LEARNED_NOTHING),
    "round": Shortcut("round", "Day, phase and round alone reach", LEARNED_NOTHING),
    "audience": Shortcut("audience", "How many hear it alone reaches", LEARNED_NOTHING),
    "model": Shortcut(
        "model", "The speaking model alone reaches", "a detector at {value:.2f} may know only who writes how"
    ),
    "name": Shortcut("name", "The speaker's name alone reaches", "roles are not dealt evenly to names"),
    "game": Shortcut(
        "game", "The game and its condition alone reach", "a detector at {value:.2f} may know only the rules"
    ),
    "others' words": Shortcut(
        "others' words",
        "What others said before, without the statement itself, reaches",
        "a detector that reads context can repeat what the table thinks",
    ),
    ROLE_ORACLE: Shortcut(
        ROLE_ORACLE,
        "The speaker's role alone reaches",
        "this target can be had by finding out roles, without reading for lies",
    ),
}


def table_probes(data: Audited) -> dict[str, Probe]:
    """The probes that read columns, by the names in SHORTCUTS; only those that can differ between statements."""
    table = with_k_of_n(data.table, data.target)
    made: dict[str, tuple[FitPredict, tuple[str, ...]]] = {
        K_OF_N if data.target == "role" else SHARE_IN_GAME: (CONTROLS[K_OF_N], (K_OF_N,)),
        "length": (CONTROLS["length"], ("text",)),
        "position": (CONTROLS["position"], ("position",)),
        "round": (logistic_on(_columns("day", "phase", "round"), one_hot=True), ("day", "phase", "round")),
        "audience": (logistic_on(_listeners, one_hot=True), ("audience",)),
        "model": (CONTROLS["model_identity"], ("speaker_model",)),
        "name": (logistic_on(_columns("speaker"), one_hot=True), ("speaker",)),
        "game": (logistic_on(_columns(*_RULES), one_hot=True), _RULES),
    }
    if data.target != "role":
        made[ROLE_ORACLE] = (CONTROLS["role_oracle"], ("label_role",))
    return {name: _probe(fit, table) for name, (fit, reads) in made.items() if table.select(reads).unique().height > 1}


_MOST_LISTENERS = 20
_RULES = ("game", "condition", "run", "prompt_version")


def word_probe(texts: Sequence[str], seed: int) -> Probe:
    """TF-IDF of texts as in the detector of that name. The words are counted once, over all texts and without labels;
    each call fits only the classifier. Without a word that occurs twice, every score is the prevalence.
    """
    from liescope.detectors.logistic import fit_quietly, logistic

    options = TfidfOptions(seed=seed)
    try:
        features: Any = vectorizer(options).fit_transform(texts)
    except ValueError:
        return lambda learn, score, y: np.full(len(score), y[learn].mean())

    def probe(learn: Rows, score: Rows, y: Bools) -> Floats:
        model = logistic(options.strength, seed)
        fit_quietly(model, features[learn], y[learn])
        return np.asarray(model.predict_proba(features[score])[:, 1], dtype=np.float64)

    return probe


def texts_of(examples: Sequence[Example]) -> Iterator[tuple[str, list[str]]]:
    """(name, texts) of everything that is read as words."""
    for name, config in WORDS.items():
        yield name, [textualize(example, config) for example in examples]
    yield OPENINGS, [opening(textualize(example, TextConfig()), OPENING) for example in examples]
    yield TAGGED, [textualize(example, TextConfig(mask_names=False, speaker_tag=True)) for example in examples]
    yield "others' words", [_others(example) for example in examples]


def opening(text: str, words: int) -> str:
    """The first words of a text."""
    return " ".join(text.split()[:words])


def _others(example: Example) -> str:
    """What the others had said, from the view of the hidden statement: its speaker is `speaker` there."""
    said = tuple(turn for turn in example.context if turn[0] != example.speaker)
    return textualize(replace(example, text="", context=said), TextConfig(context=CONTEXT)) if said else ""


def _probe(fit: FitPredict, table: pl.DataFrame) -> Probe:
    return lambda learn, score, y: fit(table[learn], y[learn], table[score], 0)


def _listeners(table: pl.DataFrame) -> pl.DataFrame:
    return table.select(pl.col("audience").list.len().clip(upper_bound=_MOST_LISTENERS))


def _columns(*names: str) -> Callable[[pl.DataFrame], pl.DataFrame]:
    return lambda table: table.select(pl.col(name).cast(pl.String).fill_null("") for name in names)
