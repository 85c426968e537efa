"""The options of detectors that ask a chat model, and how they ask it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from liescope.common.errors import UsageError
from liescope.detectors.judge.asking import Asking, Question, Spent
from liescope.detectors.judge.session import ask_judge, check_address, check_spec
from liescope.detectors.options import DetectorOptions
from liescope.detectors.protocol import Progress, silent
from liescope.generate.runs.limits import Limits, limits_of

_SPENT: defaultdict[str, Spent] = defaultdict(Spent)
"""What this process has spent, by model: a budget holds for all folds of a training together."""
T = TypeVar("T")


class AskingOptions(DetectorOptions):
    """cache is a folder of this machine, so it is not saved."""

    model: str = Field(default="", description="the chat model, as in openai:NAME or openai:NAME@URL")
    cache: str = Field(default="", exclude=True, description="the folder that keeps every reply")
    batch: bool = Field(
        default=False, exclude=True, description="send requests in files of many, for part of the price"
    )
    price: list[str] | None = Field(default=None, description="MODEL=PROMPT,COMPLETION per million tokens")
    max_cost: float | None = Field(default=None, ge=0, description="stop asking once this much money is spent")

    def limits(self) -> Limits:
        """Raises UsageError for a price that cannot be read, or a budget without one."""
        return limits_of(
            prompts="full", max_cost=self.max_cost, price=self.price or (), cache=self.cache or None, batch=self.batch
        )


Options = TypeVar("Options", bound=AskingOptions)


def keeping_in(o: Options, folder: Path | None, own_cache: bool) -> Options:
    """The options with a folder for replies. Raises UsageError if there is none and the one that was named in training,
    whose path is not saved, would silently be another.
    """
    if folder is not None:
        return o.model_copy(update={"cache": str(folder)})
    if own_cache and not o.cache:
        raise UsageError(
            "this detector was trained with a folder for the replies of its chat model, whose path is not saved; "
            "name that folder, or another: --cache FOLDER (--judge-cache of evaluate)"
        )
    return o


def ask(
    o: AskingOptions,
    questions: Sequence[Question[T]],
    progress: Progress,
    stated: bool | None,
    saved: bool,
    own_cache: bool = False,
) -> tuple[Asking[T], list[T | None]]:
    """How the asking went, and the answer to each question, asked once however often it occurs; None for what could not
    be used. stated: whether the model states its answers, None while unknown; saved: somebody else may have chosen the
    options; own_cache: whoever trained it named a folder for its replies, whose path is not saved.

    Raises UsageError for a model that cannot be opened or may not be asked, and for a saved one whose folder of replies
    is not named again; RunPaused if it cannot be asked for now.
    """
    check_spec(o.model)
    if saved:
        check_address(o.model)
        keeping_in(o, None, own_cache)
    keys = [json.dumps(question.words(bool(stated))) for question in questions]
    once = dict(zip(keys, questions, strict=True))
    found = ask_judge(
        o.model,
        list(once.values()),
        o.limits(),
        progress,
        stated=stated,
        spent=_SPENT[o.model],
        say=progress is not silent,
    )
    answers = {key: found.answers.get(at) for at, key in enumerate(once)}
    return found, [answers[key] for key in keys]
