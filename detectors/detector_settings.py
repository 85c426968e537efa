"""The settings of the functions of detectors and of their commands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Annotated, TypedDict

from liescope.common.settings import Setting, like
from liescope.data_cards.tables import TARGETS
from liescope.detectors.calibrate import COVERAGE, METHODS, TEMPERATURE
from liescope.detectors.detector import MAX_SEED
from liescope.detectors.detector_registry import DETECTORS
from liescope.detectors.examples import VIEWS, WORDS
from liescope.generate.players.run_limits import RunSettings

_ROLE_OR_GOLD = "role, or gold where only the source labels"
_TEXT = "The text that a detector sees"
_JUDGE = "Chat models beside the detectors"

AnyPath = str | os.PathLike[str]
Seed = Annotated[int, Setting("Random seed.", 0, at_least=0, at_most=MAX_SEED, metavar="N")]
KeepLost = Annotated[
    bool, Setting("Use statements whose text was lost before it was published, too.", False, flag="--keep-lost")
]


class TrainSettings(TypedDict, total=False):
    """What `train` takes, beside the options of the kind."""

    target: Annotated[
        str | None, Setting(f"What to predict: {', '.join(TARGETS)}.", shown=_ROLE_OR_GOLD, choices=TARGETS)
    ]
    context: Annotated[
        int, Setting("How many earlier statements of the game to include before each.", 0, at_least=0, metavar="N")
    ]
    mask_names: Annotated[bool, Setting("Replace players' names by tokens.", True, group=_TEXT)]
    mask_role_words: Annotated[bool, Setting("Replace words for roles and teams.", False, group=_TEXT)]
    speaker_tag: Annotated[bool, Setting("Put the speaker before the words.", False, group=_TEXT)]
    view: Annotated[
        str,
        Setting(
            f"{', '.join(VIEWS[:-1])} or {VIEWS[-1]}: what was said, or what the speaker thought before it.",
            WORDS,
            group=_TEXT,
        ),
    ]
    folds: Annotated[
        int | None,
        Setting(
            "Folds of the cross-validation by game, 0 for none; each kind has its default.", at_least=0, metavar="N"
        ),
    ]
    calibrate: Annotated[
        str,
        Setting(
            f"How scores are made probabilities, by the folds: {', '.join(METHODS)}.", TEMPERATURE, choices=METHODS
        ),
    ]
    seed: Seed
    keep_lost: KeepLost
    overwrite: Annotated[bool, Setting("Replace an existing model at --out.", False, flag="--overwrite")]


class ScoreSettings(TypedDict, total=False):
    """What every way of scoring takes."""

    coverage: Annotated[
        float,
        Setting(
            "How much of either class the verdicts may not get wrong: more, and more abstain.",
            COVERAGE,
            at_least=0.5,
            at_most=0.99,
        ),
    ]
    reasons: Annotated[
        int, Setting("Name N words or claims that weigh most in each score.", 0, at_least=0, metavar="N")
    ]


class EvaluateSettings(TypedDict, total=False):
    """What `evaluate` takes."""

    split: Annotated[
        str | None,
        Setting(
            "out-of-fold (each group by what learned from others), test or all.",
            shown="out-of-fold on its own corpus of at most 2,000 groups, else test; all of another corpus",
            choices=("out-of-fold", "test", "all"),
        ),
    ]
    observers: Annotated[bool, Setting("Compare with the players' own judgement.", False, flag="--observers")]
    people: Annotated[
        AnyPath | None,
        Setting("Label Studio's export (JSON or JSON_MIN) of tasks that people answered.", metavar="FILE"),
    ]
    seed: Seed
    keep_lost: KeepLost
    judge: Annotated[
        Sequence[str],
        Setting("A chat model to set beside the detectors, as in openai:NAME; may be repeated.", (), group=_JUDGE),
    ]
    judge_limit: Annotated[int | None, Setting("How many statements, drawn by whole games.", at_least=1, group=_JUDGE)]
    judge_view: Annotated[
        Sequence[str],
        Setting(
            f"What a judge is shown: {', '.join(VIEWS[:-1])} or {VIEWS[-1]}; may be repeated.",
            (WORDS,),
            shown=WORDS,
            group=_JUDGE,
        ),
    ]
    judge_prompt: Annotated[AnyPath | None, Setting("A TOML file with another prompt.", group=_JUDGE)]
    judge_cache: Annotated[
        AnyPath | None,
        Setting("The folder that keeps every reply.", shown="in the user's cache folder", group=_JUDGE),
    ]
    price: Annotated[Sequence[str], like(RunSettings, "price", group=_JUDGE)]
    max_cost: Annotated[float | None, like(RunSettings, "max_cost", help="Stop asking at this cost.", group=_JUDGE)]
    currency: Annotated[str, like(RunSettings, "currency", group=_JUDGE)]
    allow_key: Annotated[Sequence[str], like(RunSettings, "allow_key", group=_JUDGE)]
    overwrite: Annotated[
        bool,
        Setting("Replace an evaluation of other detectors or another corpus at --out.", False, flag="--overwrite"),
    ]


class BenchSettings(TypedDict, total=False):
    """What `bench` takes."""

    data: Annotated[
        AnyPath | None,
        Setting(
            "The folder with the suite's files.",
            shown="the suite's own folder; for those of Liescope the working folder",
            metavar="FOLDER",
        ),
    ]
    leave_out: Annotated[
        Sequence[str],
        Setting(
            "What detectors learn without, and are measured on: task or model; may be repeated.",
            ("task", "model"),
            shown="both",
            metavar="PART",
        ),
    ]
    context: Annotated[
        int, Setting("Turns before each statement, for kinds that learn here.", 0, at_least=0, metavar="N")
    ]
    view: Annotated[
        Sequence[str],
        Setting(
            "What kinds that learn here, and chat models as judges, read of a statement: words, reasoning or both; may "
            "be repeated, to compare views on the statements that keep reasoning.",
            (WORDS,),
            shown=WORDS,
            metavar="VIEW",
            choices=VIEWS,
        ),
    ]
    seed: Seed
    judge_limit: Annotated[int | None, like(EvaluateSettings, "judge_limit")]
    judge_prompt: Annotated[AnyPath | None, like(EvaluateSettings, "judge_prompt")]
    judge_cache: Annotated[AnyPath | None, like(EvaluateSettings, "judge_cache")]
    price: Annotated[Sequence[str], like(EvaluateSettings, "price")]
    max_cost: Annotated[float | None, like(EvaluateSettings, "max_cost")]
    currency: Annotated[str, like(EvaluateSettings, "currency")]
    allow_key: Annotated[Sequence[str], like(EvaluateSettings, "allow_key")]
    overwrite: Annotated[bool, Setting("Replace an existing report at --out.", False, flag="--overwrite")]


class TransferSettings(TypedDict, total=False):
    """What `transfer` takes, beside the options of the detectors."""

    suite: Annotated[
        AnyPath | None,
        Setting("Data sets in place of corpora: chat, games, all, or a TOML file of your own.", metavar="SUITE"),
    ]
    data: Annotated[AnyPath | None, Setting("The folder with the files of the suite.", shown="the working folder")]
    detector: Annotated[
        Sequence[str],
        Setting("A kind of detector; may be repeated.", ("tfidf",), shown="tfidf", metavar="KIND", choices=DETECTORS),
    ]
    target: Annotated[
        Sequence[str],
        Setting(
            f"{', '.join(TARGETS)}, and CORPUS=TARGET for one corpus; may be repeated.",
            (),
            shown=_ROLE_OR_GOLD,
            choices=TARGETS,
        ),
    ]
    context: Annotated[
        int | None,
        Setting("Earlier statements before each; else chosen on inner folds.", at_least=0, metavar="N"),
    ]
    mask_role_words: Annotated[bool, Setting("Replace words for roles and teams.", False, flag="--mask-role-words")]
    protocols: Annotated[
        Sequence[str],
        Setting("left-out or pair, to skip the other.", (), shown="both", flag="--only", metavar="PROTOCOL"),
    ]
    labels: Annotated[
        str | Sequence[int],
        Setting("Learn from so many games of a unit that is left out too: 30,100,300.", "", metavar="N,…"),
    ]
    seed: Seed


class AuditSettings(TypedDict, total=False):
    """What `audit` takes."""

    target: Annotated[str | None, Setting(f"The label: {', '.join(TARGETS)}.", shown=_ROLE_OR_GOLD, choices=TARGETS)]
    split: Annotated[
        str,
        Setting(
            "out-of-fold (folds by game over the whole corpus), train-test (its own split), or both.",
            "both",
            choices=("out-of-fold", "train-test", "both"),
        ),
    ]
    seed: Seed
