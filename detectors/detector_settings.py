"""The options of the functions of detectors and of their commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from liescope.common.settings import Option, OptionsModel, Several, Switch
from liescope.data_cards.tables import TARGETS
from liescope.detectors.detector_registry import DETECTORS
from liescope.generate.importers.column_names import ChatColumns, TextColumn
from liescope.generate.importers.table_importer import Header
from liescope.generate.players.run_limits import AllowKey, Currency, Limits, Prices

WORDS, REASONING, BOTH = "words", "reasoning", "both"
VIEWS = (WORDS, REASONING, BOTH)
"""What a detector reads of a statement: what was said, what its speaker thought before, or both."""
NONE, TEMPERATURE = "none", "temperature"
METHODS = (TEMPERATURE, NONE)
COVERAGE = 0.9
TASK = "task"
UNITS = {"model": "speaker_model", "game": "game", "corpus": "corpus", "source": "source", TASK: "task"}
"""The units that can be left out, by the column that names them; the corpus is the task where it names none."""
MAX_SEED = 2**32 - 1
_N = Option(metavar="N")
_TARGET = Option(shown="role, or gold where only the source labels", choices=TARGETS, closed=True)
_VIEWS = f"{', '.join(VIEWS[:-1])} or {VIEWS[-1]}"
_VIEW = Option(shown=WORDS, metavar="VIEW", choices=VIEWS, closed=True)
_ONLY = Option(flag="--only", shown="both", metavar="PROTOCOL", choices=("left-out", "pair"), closed=True)
_STYLES = Field(default=False, description="Score the same statements in eight other styles, too.")


class _Seeded(OptionsModel):
    seed: Annotated[int, _N] = Field(default=0, ge=0, le=MAX_SEED, description="Random seed.")


class _Text(OptionsModel):
    heading: ClassVar[str] = "The text that a detector sees"

    mask_names: bool = Field(default=True, description="Replace players' names by tokens.")
    mask_role_words: bool = Field(default=False, description="Replace words for roles and teams.")
    speaker_tag: bool = Field(default=False, description="Put the speaker before the words.")
    view: Annotated[str, _VIEW] = Field(
        default=WORDS, description=f"{_VIEWS}: what was said, or what the speaker thought before it."
    )


class TrainSettings(_Text, _Seeded):
    """What `train` takes, beside the options of the kind."""

    pairs: Annotated[str | None, Option(metavar="FILE")] = Field(
        default=None,
        description="Instructed pairs to learn from in place of a corpus: a file of them, or bundled.",
    )
    ordinary: Annotated[str | None, Option(metavar="CHATS")] = Field(
        default=None,
        description="Ordinary chats to choose a threshold for 1% false positives on: a file, a corpus, USER/NAME on "
        "the Hub, or bundled.",
    )
    target: Annotated[str | None, _TARGET] = Field(default=None, description=f"What to predict: {', '.join(TARGETS)}.")
    context: Annotated[int, _N] = Field(
        default=0, ge=0, description="How many earlier statements of the game to include before each."
    )
    folds: Annotated[int | None, _N] = Field(
        default=None, ge=0, description="Folds of the cross-validation by game, 0 for none; each kind has its default."
    )
    calibrate: Annotated[str, Option(choices=METHODS, closed=True)] = Field(
        default=TEMPERATURE, description=f"How the folds calibrate scores to probabilities: {', '.join(METHODS)}."
    )
    overwrite: Switch = Field(default=False, description="Replace an existing model at --out.")


_STATES = Option(metavar="PATH")
_OF_STATES = "For probes that learned from states that players kept: the folder of these."


class ImportProbeSettings(OptionsModel):
    """What `import probe` takes."""

    model: str = Field(default="", description="The language model whose states it reads, where its card names none.")
    checkpoint: str = Field(default="", description="One of its sweep.json instead of the default.")
    read: Annotated[str | None, Option(shown="by the name: tokens for apollo-…, answer for dyl-…")] = Field(
        default=None, description="What it reads: tokens, last, answer or yes-no, as of `train probe`."
    )
    questions: str = Field(default="", description="For answer and yes-no: a TOML file of the questions that it knows.")
    form: str = Field(default="auto", description="chat or text, as of `train probe`.")
    max_length: int = Field(default=2048, ge=8, description="Tokens of a pass.")
    target: Annotated[str, Option(choices=TARGETS, closed=True)] = Field(
        default="gold", description="The label that it is compared with."
    )
    context: Annotated[int, _N] = Field(default=20, ge=0, description="Earlier statements before each.")
    overwrite: Switch = Field(default=False, description="Replace an existing model at --out.")


class ScoreSettings(ChatColumns, TextColumn):
    """What every way of scoring takes."""

    states: Annotated[str | None, _STATES] = Field(default=None, description=_OF_STATES)

    coverage: float = Field(
        default=COVERAGE,
        ge=0.5,
        le=0.99,
        description="Share of each class that verdicts may not get wrong; the higher, the more abstain.",
    )
    reasons: Annotated[int, _N] = Field(
        default=0, ge=0, description="Name N words or claims that weigh most in each score."
    )


class ScoreFileSettings(ScoreSettings, Header):
    """What scoring a file takes."""

    cache: Annotated[Path | None, Option(metavar="PATH")] = Field(
        default=None, description="For kinds that ask a chat model: the folder that keeps every reply."
    )
    part: Annotated[str | None, Option(metavar="K/N")] = Field(
        default=None, description="Score only the K-th of N shares of the file."
    )
    overwrite: Switch = Field(default=False, description="Replace an existing file at --out.")


class _Judges(OptionsModel):
    heading: ClassVar[str] = "Chat models beside the detectors"

    judge_limit: int | None = Field(default=None, ge=1, description="How many statements, drawn by whole games.")
    judge_prompt: Path | None = Field(default=None, description="A TOML file with another prompt, or rubric.")
    judge_cache: Annotated[Path | None, Option(shown="in the user's cache folder")] = Field(
        default=None, description="The folder that keeps every reply."
    )
    price: Prices = ()
    max_cost: float | None = Field(default=None, ge=0, description="Stop asking at this cost.")
    currency: Currency = "USD"
    allow_key: AllowKey = ()

    def limits(self) -> Limits:
        """The limits on asking judges."""
        shared = {name: getattr(self, name) for name in ("price", "max_cost", "currency", "allow_key")}
        return Limits.of({**shared, "cache": self.judge_cache})


class EvaluateSettings(_Judges, _Seeded):
    """What `evaluate` takes."""

    heading: ClassVar[str] = ""

    split: Annotated[
        str | None,
        Option(
            shown="out-of-fold on its own corpus of at most 2,000 groups, else test; all of another corpus",
            choices=("out-of-fold", "test", "all"),
            closed=True,
        ),
    ] = Field(default=None, description="out-of-fold (each group by what learned from others), test or all.")
    states: Annotated[str | None, _STATES] = Field(default=None, description=_OF_STATES)
    styles: Switch = _STYLES
    observers: Switch = Field(default=False, description="Compare with the players' own judgement.")
    people: Annotated[Path | None, Option(metavar="FILE")] = Field(
        default=None, description="Label Studio's export (JSON or JSON_MIN) of tasks that people answered."
    )
    judge: Several = Field(
        default=(),
        description="A chat model to set beside the detectors: openai:NAME or local:FOLDER; may be repeated.",
    )
    judge_view: Annotated[Several, _VIEW] = Field(
        default=(WORDS,), description=f"What a judge is shown: {_VIEWS}; may be repeated."
    )
    overwrite: Switch = Field(default=False, description="Replace an existing report at --out.")


class BenchSettings(_Judges, _Seeded):
    """What `bench` takes."""

    data: Annotated[
        Path | None, Option(shown="the suite's own folder; for those of Liescope the working folder", metavar="FOLDER")
    ] = Field(default=None, description="The folder with the suite's files.")
    styles: Switch = _STYLES
    leave_out: Annotated[Several, Option(shown="both", metavar="PART", choices=("task", "model"), closed=True)] = Field(
        default=("task", "model"),
        description="What detectors learn without, and are measured on: task or model; may be repeated.",
    )
    context: Annotated[int, _N] = Field(
        default=0, ge=0, description="Turns before each statement, for kinds that learn here."
    )
    view: Annotated[Several, _VIEW] = Field(
        default=(WORDS,),
        description="What kinds that learn here, and judges, read: words, reasoning or both; may be repeated, to "
        "compare views on the statements that keep reasoning.",
    )
    overwrite: Switch = Field(default=False, description="Replace an existing report at --out.")


class TransferSettings(_Seeded):
    """What `transfer` takes, beside the options of the detectors."""

    by: Annotated[Several, Option(metavar="UNIT", choices=UNITS, closed=True)] = Field(
        default=(),
        description="The units: model (who speaks), game (the rules), corpus, source or task (of a conversation or "
        "text, else its corpus; the default of a suite); may be repeated.",
    )
    suite: Annotated[Path | None, Option(metavar="SUITE")] = Field(
        default=None, description="Data sets in place of corpora: chat, games, all, or a TOML file of your own."
    )
    data: Annotated[Path | None, Option(shown="the working folder")] = Field(
        default=None, description="The folder with the files of the suite."
    )
    detector: Annotated[Several, Option(shown="tfidf", metavar="KIND", choices=DETECTORS)] = Field(
        default=("tfidf",), description="A kind of detector; may be repeated."
    )
    target: Annotated[Several, Option(shown=_TARGET.shown, choices=TARGETS)] = Field(
        default=(), description=f"{', '.join(TARGETS)}, and CORPUS=TARGET for one corpus; may be repeated."
    )
    context: Annotated[int, _N] = Field(default=0, ge=0, description="Earlier statements before each.")
    mask_role_words: Switch = Field(default=False, description="Replace words for roles and teams.")
    protocols: Annotated[Several, _ONLY] = Field(default=(), description="left-out or pair, to skip the other.")


class AuditSettings(_Seeded):
    """What `audit` takes."""

    target: Annotated[str | None, _TARGET] = Field(default=None, description=f"The label: {', '.join(TARGETS)}.")
    split: Annotated[str, Option(choices=("out-of-fold", "train-test", "both"), closed=True)] = Field(
        default="both",
        description="out-of-fold (folds by game over the whole corpus), train-test (its own split), or both.",
    )
    most: Annotated[int, _N] = Field(
        default=100_000, ge=0, description="Statements, in whole games drawn at random; 0 for all."
    )
