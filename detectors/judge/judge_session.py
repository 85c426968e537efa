"""A judge asked in one go, as its options say: opened, asked, closed; what came is kept whatever happens."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import Field

from liescope.common.console import end_by
from liescope.common.errors import EndpointRefused, Interrupted, PlayerFailed, RunPaused, UsageError
from liescope.detectors.detector import DetectorOptions, Progress, silent
from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.endpoint import FormatRefused
from liescope.generate.players.openai.openai_player import OpenedModel, open_model, watch_start
from liescope.generate.players.openai.spec import BASE_URL, default_url, host_of, is_this_machine, read_spec
from liescope.generate.players.player_protocol import VIA_CACHE, Attempt, Halt, PlayerContext
from liescope.generate.players.reply_cache import ReplyCache, request_key
from liescope.generate.players.run_limits import Limits, limits_of
from liescope.generate.runs.open_run import finish

TOP = 20  # alternatives of each token that are asked for, the most that OpenAI gives
FRUITLESS = 20  # failures in a row, from the first request on, after which nothing more is asked
ATTEMPTS = 3
"""New replies to a question until one can be read."""
_MOST_KEPT = 60  # unread replies to a question, after which it is not asked again
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
UNREADABLE = "no probability could be read in the reply"
_ASK = Ask("judge", 0, "judge", AskKind.PEER_ASSESSMENT, 0, Phase.DISCUSSION)
"""Every question has the same place, so that equal ones have one reply, whichever statements are asked about; when it
is asked again, the next.
"""


class _Unread(Exception):
    """A reply that is no answer, and why."""


class JudgeQuestion(Protocol[T_co]):
    """Something to ask a judge."""

    def words(self, stated: bool) -> str | list[dict[str, str]]:
        """The prompt, or a conversation as chat messages. stated: whether to ask for numbers instead of a word."""
        ...

    def read(self, reply: Completion, stated: bool) -> T_co | None:
        """The answer in a reply; None if there is none."""
        ...


@dataclass(slots=True)
class Spent:
    """What the requests of this process have cost. answered: how many of them were; found: answers that had been paid
    for before; cost: None if another had no price or no counts.
    """

    requests: int = 0
    answered: int = 0
    found: int = 0
    tokens: int = 0
    cost: float | None = 0.0

    def add(self, attempt: Attempt) -> None:
        if attempt.via == VIA_CACHE:
            self.found += 1
            return
        self.requests += 1
        self.answered += not attempt.problem
        self.tokens += attempt.tokens
        if not attempt.problem or attempt.cost is not None:
            self.cost = None if self.cost is None or attempt.cost is None else self.cost + attempt.cost


@dataclass(slots=True)
class Asking(Generic[T]):
    """One judge at work. answers: by place in the questions; failed: questions without an answer, by reason; stated:
    whether it states numbers, None while unknown.
    """

    model: OpenedModel
    context: PlayerContext
    stated: bool | None = None
    answers: dict[int, T] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    served: set[str] = field(default_factory=set)
    _unread: int = 0
    _probe: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, questions: Sequence[JudgeQuestion[T]], progress: Progress) -> None:
        """Fill `answers` and `failed`. Raises RunPaused if it had to stop; what came by then is kept."""
        todo = iter(enumerate(questions))
        progress(self._doing, 0, len(questions))

        async def work() -> None:
            for place, question in todo:
                try:
                    self.context.halt.check()
                    await self._one(place, question)
                except RunPaused as error:
                    self.context.halt.set(error)
                    return
                progress(self._doing, len(self.answers) + self.failed.total(), len(questions))

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.context.limits.concurrency, len(questions))):
                group.create_task(work())
        self.context.halt.check()

    @property
    def _doing(self) -> str:
        return f"asking {self.model.spec.label}"

    async def _one(self, place: int, question: JudgeQuestion[T]) -> None:
        why, new = UNREADABLE, 0
        for step in range(_MOST_KEPT):
            ask = replace(_ASK, step=step)
            kept = self._is_kept(question, ask)
            if not kept and new == ATTEMPTS:
                break
            new += not kept
            try:
                self.answers[place] = self._read(question, await self._reply(question, ask))
            except PlayerFailed as error:
                why = str(error)
                break
            except _Unread as error:
                why = str(error)
                self._unread += not kept
                self._check_fruit(why)
            else:
                return
        self.failed[why] += 1
        self._check_fruit(why)

    def _check_fruit(self, why: str) -> None:
        if not self.answers and max(self.failed.total(), self._unread) >= FRUITLESS:
            raise EndpointRefused(f"{self.model.spec.label} answered none of {FRUITLESS} requests: {why}")

    def _is_kept(self, question: JudgeQuestion[T], ask: Ask) -> bool:
        """Whether there is a reply already. Raises what the cache raises."""
        cache = self.context.cache
        if cache is None:
            return False
        body = self._request(question, bool(self.stated))
        return cache.find(request_key(self.model.endpoint.base_url, body, self.context.draw(ask.game), ask)) is not None

    def _read(self, question: JudgeQuestion[T], reply: Completion) -> T:
        """The answer in a reply. Raises _Unread."""
        if reply.served_model is not None:
            self.served.add(reply.served_model)
        if reply.problem:
            raise _Unread(reply.problem)
        if reply.notes and self.stated:  # half a number is another number
            raise _Unread(reply.notes[0])
        answer = question.read(reply, bool(self.stated))
        if answer is None:
            raise _Unread(UNREADABLE)
        return answer

    async def _reply(self, question: JudgeQuestion[T], ask: Ask) -> Completion:
        if self.stated is None:
            async with self._probe:
                if self.stated is None and (reply := await self._first(question, ask)) is not None:
                    return reply
        return await self._complete(self._request(question, bool(self.stated)), ask)

    async def _first(self, question: JudgeQuestion[T], ask: Ask) -> Completion | None:
        """Find out whether there are log-probabilities; the reply if there are."""
        try:
            reply = await self._complete(self._request(question, stated=False), ask)
        except FormatRefused:
            self.stated = True
            return None
        self.stated = not reply.tokens
        return None if self.stated else reply

    def _request(self, question: JudgeQuestion[T], stated: bool) -> dict[str, Any]:
        body = self.model.body(question.words(stated))
        return body if stated else body | {"logprobs": True, "top_logprobs": TOP}

    async def _complete(self, body: dict[str, Any], ask: Ask) -> Completion:
        completion: Completion = await self.model.endpoint.complete(ask, body, self.model.price)
        return completion


KIND = "openai:"


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
    questions: Sequence[JudgeQuestion[T]],
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
    price: list[str] | None = Field(default=None, description="MODEL=PROMPT,COMPLETION per million tokens")
    max_cost: float | None = Field(default=None, ge=0, description="stop asking once this much money is spent")

    def limits(self) -> Limits:
        """Raises UsageError for a price that cannot be read, or a budget without one."""
        return limits_of(
            {
                "max_cost": self.max_cost,
                "price": self.price or (),
                "cache": self.cache or None,
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
    questions: Sequence[JudgeQuestion[T]],
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
