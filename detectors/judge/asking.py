"""Asking a judge many questions at once: open, ask, close; replies are kept whatever happens."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from liescope.common.console import end_by
from liescope.common.errors import EndpointRefused, Interrupted, PlayerFailed, RunPaused, UsageError
from liescope.detectors.detector import Progress
from liescope.detectors.judge.local_model import ask_local, is_local, local_spec
from liescope.detectors.judge.prompt import ATTEMPTS, FRUITLESS, Answers, Question
from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.endpoint import FormatRefused
from liescope.generate.players.openai.openai_player import OpenedModel, open_model, watch_start
from liescope.generate.players.openai.spec import BASE_URL, default_url, host_of, is_this_machine, read_spec
from liescope.generate.players.player_protocol import VIA_CACHE, Attempt, Halt, PlayerContext
from liescope.generate.players.reply_cache import ReplyCache, request_key
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.play import finish

KIND = "openai:"
TOP = 20  # alternatives to ask for of each token, the most that OpenAI gives
_FORMS = "such as openai:gpt-4.1-mini or local:FOLDER"
_MOST_KEPT = 60  # a question is dropped after so many unreadable replies
_ASK = Ask("judge", 0, "judge", AskKind.PEER_ASSESSMENT, 0, Phase.DISCUSSION)
"""Every question has the same place, so that equal ones have one reply, whichever statements are asked about; when it
is asked again, the next.
"""


class _Unread(Exception):
    """A reply that is no answer, and why."""


@dataclass(slots=True)
class Spent:
    """What the requests of this process have cost. answered: how many got an answer; found: answers already paid for;
    cost: None if another had no price or no counts.
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


SPENT: defaultdict[str, Spent] = defaultdict(Spent)
"""What this process has spent, by model: a budget holds for all folds of a training together."""


@dataclass(slots=True, kw_only=True)
class Asking(Answers):
    """One judge at an endpoint, at work."""

    model: OpenedModel
    context: PlayerContext
    _unread: int = 0
    _probe: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, questions: Sequence[Question], progress: Progress) -> None:
        """Fill `answers` and `failed`. Raises RunPaused if it had to stop; replies so far are kept."""
        todo, doing = iter(enumerate(questions)), f"asking {self.label}"
        progress(doing, 0, len(questions))

        async def work() -> None:
            for place, question in todo:
                try:
                    self.context.halt.check()
                    await self._one(place, question)
                except RunPaused as error:
                    self.context.halt.set(error)
                    return
                progress(doing, len(self.answers) + self.failed.total(), len(questions))

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.context.limits.concurrency, len(questions))):
                group.create_task(work())
        self.context.halt.check()

    async def _one(self, place: int, question: Question) -> None:
        new, why = 0, ""
        for step in range(_MOST_KEPT):
            ask = replace(_ASK, step=step)
            key = request_key(self.model.endpoint.base_url, self._body(question), self.context.draw(ask.game), ask)
            kept = self.context.cache is not None and self.context.cache.find(key) is not None
            if not kept and new == ATTEMPTS:
                break
            new += not kept
            try:
                self.answers[place] = self._read(question, await self._reply(question, ask))
            except _Unread as error:
                why = str(error)
                self._unread += not kept
                self._check_fruit(why)
            except PlayerFailed as error:
                why = str(error)
                break
            else:
                return
        self.failed[why] += 1
        self._check_fruit(why)

    def _check_fruit(self, why: str) -> None:
        if not self.answers and max(self.failed.total(), self._unread) >= FRUITLESS:
            raise EndpointRefused(f"{self.label} answered none of {FRUITLESS} requests: {why}")

    def _read(self, question: Question, reply: Completion) -> tuple[float, ...]:
        """The answer in a reply. Raises _Unread."""
        if reply.served_model is not None:
            self.served.add(reply.served_model)
        if reply.problem or (reply.notes and self.stated):  # a truncated number is a different number
            raise _Unread(reply.problem or reply.notes[0])
        answer = question.read(reply, bool(self.stated))
        if answer is None:
            raise _Unread("no probability could be read in the reply")
        return answer

    async def _reply(self, question: Question, ask: Ask) -> Completion:
        """The reply to one question. The first request finds out whether there are log-probabilities."""
        if self.stated is None:
            async with self._probe:
                if self.stated is None:
                    try:
                        reply = await self._complete(question, ask)
                    except FormatRefused:
                        self.stated = True
                    else:
                        self.stated = not reply.tokens
                        if reply.tokens:
                            return reply
        return await self._complete(question, ask)

    def _body(self, question: Question) -> dict[str, Any]:
        if self.stated:
            return self.model.body(question.number)
        return self.model.body(question.labels[0]) | {"logprobs": True, "top_logprobs": TOP}

    async def _complete(self, question: Question, ask: Ask) -> Completion:
        return await self.model.endpoint.complete(ask, self._body(question), self.model.price)


def check_model(spec: str, limits: Limits | None, saved: bool = False) -> None:
    """Find out before any work whether a model can be asked at all. Sends nothing. limits: None to check the spec
    alone; saved: somebody else may have chosen the model, so its address has to be this machine's, the one in
    OPENAI_BASE_URL or OpenAI's.

    Raises UsageError for anything but a chat model, a key that is missing or may not be sent, and a budget without a
    price.
    """
    if not spec:
        raise UsageError(f"no chat model is named; give one {_FORMS} (--model; --judge of evaluate)")
    if is_local(spec):
        local_spec(spec)
        return
    if not spec.startswith(KIND):
        raise UsageError(f"a judge is a chat model {_FORMS}; {spec!r} is none")
    asked = read_spec(spec.removeprefix(KIND))
    if asked.options.persona or asked.options.extra or asked.options.remembers:
        raise UsageError("the options persona, extra and memory are for players of a game; a judge has --prompt FILE")
    url = asked.base_url
    if saved and url and not is_this_machine(host_of(url)) and host_of(url) != host_of(default_url()):
        raise UsageError(
            f"this saved detector sends the statements that it is given to {host_of(url)}; if you mean it, set "
            f"{BASE_URL} to {url}"
        )

    async def work() -> None:
        context = PlayerContext(limits=limits or Limits(), log=lambda _: None, game="")
        await open_model(spec.removeprefix(KIND), context).endpoint.close()

    if limits is not None:
        finish(lambda _: work(), say=False)


def ask_judge(
    spec: str,
    questions: Sequence[Question],
    limits: Limits,
    progress: Progress,
    *,
    stated: bool | None = None,
    spent: Spent | None = None,
    say: bool = False,
) -> Answers:
    """Ask a model every question. limits: with a folder of kept replies, else one in the user's cache folder; stated:
    whether the model states numbers, None to find out; spent: what was already spent of the limits, updated here; say:
    whether to write about an interrupt to standard error.

    Raises UsageError for a model or folder that cannot be opened, RunPaused if the model cannot be asked for now, and
    KeyboardInterrupt (SystemExit for other signals); every reply that came is kept.
    """
    base = os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache"
    folder, spent = limits.cache or Path(base) / "liescope" / "replies", spent or Spent()
    if is_local(spec):
        with ReplyCache(folder) as kept:
            answers, found = ask_local(spec, questions, kept, _ASK, progress)
        spent.found += found
        return answers

    async def work(halt: Halt) -> Asking:
        before = spent.answered
        with ReplyCache(folder) as cache:
            context = PlayerContext(spent.add, "", limits=limits, halt=halt, cache=cache)
            context = replace(context, spent_tokens=spent.tokens, spent_cost=spent.cost or 0.0)
            numbers = True if any(one.criteria for one in questions) else stated
            model = open_model(spec.removeprefix(KIND), context)
            priced = model.price is not None
            asking = Asking(label=model.spec.label, priced=priced, stated=numbers, model=model, context=context)
            endpoint = model.endpoint
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
