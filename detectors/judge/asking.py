"""Asking a judge many questions: many requests at once, each reply kept as it comes, an interrupt loses none.

A reply that cannot be read is kept like any other, and the question is asked again. What was kept unread before costs
nothing and ends nothing: after it, the question is asked as often as one that is new.

Whether the endpoint gives log-probabilities is found out by the first request, alone. If it does, the judge answers
with one word and its score is that word's probability; if not, the judge states what it thinks.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Protocol, TypeVar

from liescope.common.errors import EndpointRefused, PlayerFailed, RunPaused
from liescope.detectors.protocol import Progress
from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.endpoint import FormatRefused
from liescope.generate.players.openai.openai_player import OpenedModel
from liescope.generate.players.player_protocol import VIA_CACHE, Attempt, PlayerContext
from liescope.generate.players.reply_cache import request_key

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


class Question(Protocol[T_co]):
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

    async def ask(self, questions: Sequence[Question[T]], progress: Progress) -> None:
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

    async def _one(self, place: int, question: Question[T]) -> None:
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

    def _is_kept(self, question: Question[T], ask: Ask) -> bool:
        """Whether there is a reply already. Raises what the cache raises."""
        cache = self.context.cache
        if cache is None:
            return False
        body = self._request(question, bool(self.stated))
        return cache.find(request_key(self.model.endpoint.base_url, body, self.context.draw(ask.game), ask)) is not None

    def _read(self, question: Question[T], reply: Completion) -> T:
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

    async def _reply(self, question: Question[T], ask: Ask) -> Completion:
        if self.stated is None:
            async with self._probe:
                if self.stated is None and (reply := await self._first(question, ask)) is not None:
                    return reply
        return await self._complete(self._request(question, bool(self.stated)), ask)

    async def _first(self, question: Question[T], ask: Ask) -> Completion | None:
        """Find out whether there are log-probabilities; the reply if there are."""
        try:
            reply = await self._complete(self._request(question, stated=False), ask, now=True)
        except FormatRefused:
            self.stated = True
            return None
        self.stated = not reply.tokens
        return None if self.stated else reply

    def _request(self, question: Question[T], stated: bool) -> dict[str, Any]:
        body = self.model.body(question.words(stated))
        return body if stated else body | {"logprobs": True, "top_logprobs": TOP}

    async def _complete(self, body: dict[str, Any], ask: Ask, now: bool = False) -> Completion:
        completion: Completion = await self.model.endpoint.complete(ask, body, self.model.price, now=now)
        return completion
