"""A judge asked in one go, as its options say: opened, asked, closed; what came is kept whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from liescope.common.console import end_by
from liescope.common.errors import Interrupted, RunPaused, UsageError
from liescope.detectors.judge.asking import Asking, Question, Spent
from liescope.detectors.protocol import DetectorOptions, Progress, silent
from liescope.generate.players.openai.openai_player import open_model, watch_start
from liescope.generate.players.openai.spec import BASE_URL, default_url, host_of, is_this_machine, read_spec
from liescope.generate.players.player_protocol import Halt, PlayerContext
from liescope.generate.players.reply_cache import ReplyCache
from liescope.generate.players.run_limits import Limits, limits_of
from liescope.generate.runs.open_run import finish

KIND = "openai:"
T = TypeVar("T")


def default_cache() -> Path:
    """The folder of judges' replies, in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache"
    return Path(base) / "liescope" / "replies"


def check_spec(spec: str) -> None:
    """Raises UsageError for what is no chat model."""
    if not spec:
        raise UsageError("no chat model is named; give one such as openai:gpt-4.1-mini (--model; --judge of evaluate)")
    if not spec.startswith(KIND):
        raise UsageError(f"a judge is a chat model such as openai:gpt-4.1-mini; {spec!r} is none")
    asked = read_spec(spec.removeprefix(KIND))
    if asked.options.persona or asked.extra:
        raise UsageError("the options persona and extra name files for players of a game; a judge has --prompt FILE")


def check_address(spec: str) -> None:
    """Raises UsageError if a model that somebody else saved would send what it is given to an address that is neither
    on this machine nor the one in OPENAI_BASE_URL, or OpenAI's.
    """
    url = read_spec(spec.removeprefix(KIND)).base_url
    if url and not is_this_machine(host_of(url)) and host_of(url) != host_of(default_url()):
        raise UsageError(
            f"this saved detector sends the statements that it is given to {host_of(url)}; if you mean it, set "
            f"{BASE_URL} to {url}"
        )


def check_model(spec: str, limits: Limits) -> None:
    """Find out before any work whether a model can be asked at all. Nobody is asked.

    Raises UsageError for what is no chat model, a key that is missing or may not be sent, and a budget without a price.
    """
    check_spec(spec)

    async def work() -> None:
        model = open_model(spec.removeprefix(KIND), PlayerContext(limits=limits, log=lambda _: None, game=""))
        await model.endpoint.close()

    finish(lambda _: work(), say=False)


def ask_judge(
    spec: str,
    questions: Sequence[Question[T]],
    limits: Limits,
    progress: Progress,
    *,
    stated: bool | None = None,
    spent: Spent | None = None,
    say: bool = False,
) -> Asking[T]:
    """Ask a model every question. limits: with a folder of kept replies; stated: whether the model states numbers, None
    if that is to be found out; spent: what has been spent of the limits before, and is added to; say: whether to write
    about an interrupt to standard error.

    Raises UsageError for a model or folder that cannot be opened, RunPaused if the model cannot be asked for now, and
    KeyboardInterrupt (SystemExit for other signals); every reply that came is kept.
    """
    folder = limits.cache or default_cache()
    spent = spent or Spent()

    async def work(halt: Halt) -> Asking[T]:
        with ReplyCache(folder) as cache:
            context = PlayerContext(
                limits=limits,
                log=spent.add,
                game="",
                halt=halt,
                spent_tokens=spent.tokens,
                spent_cost=spent.cost or 0.0,
                cache=cache,
                batches=folder / "batches" if limits.batch else None,
            )
            asking: Asking[T] = Asking(open_model(spec.removeprefix(KIND), context), context, stated)
            endpoint, before = asking.model.endpoint, spent.answered
            activity = context.activity.at(endpoint.host)

            def waited() -> bool:
                return spent.answered == before and bool(activity.under_way or activity.queued or spent.requests)

            start = asyncio.create_task(watch_start(endpoint, halt, waited))
            try:
                await asking.ask(questions, progress)
            finally:
                start.cancel()
                await asyncio.gather(start, return_exceptions=True)
                await endpoint.close()
        return asking

    try:
        return finish(work, say)
    except Interrupted as asked:
        if say:
            sys.stderr.write(f"\nstopped; run the same command again: replies are kept in {folder}\n")
        raise end_by(asked.number) from None
    except RunPaused as error:
        raise type(error)(f"{error}; replies so far are kept in {folder}") from error


_SPENT: defaultdict[str, Spent] = defaultdict(Spent)
"""What this process has spent, by model: a budget holds for all folds of a training together."""


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
            {
                "max_cost": self.max_cost,
                "price": self.price or (),
                "cache": self.cache or None,
                "batch": self.batch,
            },
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
