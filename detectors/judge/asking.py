"""Asking a judge many questions: many requests at once, each reply kept as it comes, an interrupt loses none.

Whether the endpoint gives log-probabilities is found out by the first request, alone. If it does, the judge answers
with one word and its score is that word's probability; if not, the judge states what it thinks.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

from liescope.common.errors import EndpointRefused, PlayerFailed, RunPaused
from liescope.detectors.judge.replies import Kept, Replies, key_of
from liescope.detectors.protocol import Progress
from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.endpoint import FormatRefused
from liescope.generate.players.openai.player import OpenedModel
from liescope.generate.players.protocol import Attempt, PlayerContext

TOP = 20  # alternatives of each token that are asked for, the most that OpenAI gives
FRUITLESS = 20  # failures in a row, from the first request on, after which nothing more is asked
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
UNREADABLE = "no probability could be read in the reply"


class Question(Protocol[T_co]):
    """Something to ask a judge."""

    def words(self, stated: bool) -> str | list[dict[str, str]]:
        """The prompt, or a conversation as chat messages. stated: whether to ask for numbers instead of a word."""
        ...

    def read(self, reply: Kept, stated: bool) -> T_co | None:
        """The answer in a reply; None if there is none."""
        ...


@dataclass(slots=True)
class Spent:
    """What the requests of this process have cost. cost: None if an answer had no price or no counts."""

    requests: int = 0
    tokens: int = 0
    cost: float | None = 0.0

    def add(self, attempt: Attempt) -> None:
        self.requests += 1
        self.tokens += (attempt.prompt_tokens or 0) + (attempt.completion_tokens or 0)
        if not attempt.problem or attempt.cost is not None:
            self.cost = None if self.cost is None or attempt.cost is None else self.cost + attempt.cost


@dataclass(slots=True)
class Asking(Generic[T]):
    """One judge at work. answers: by place in the questions; failed: questions without an answer, by reason; found:
    replies that had been paid for before; stated: whether it states numbers, None while unknown.
    """

    model: OpenedModel
    replies: Replies
    context: PlayerContext
    stated: bool | None = None
    answers: dict[int, T] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    found: int = 0
    served: set[str] = field(default_factory=set)
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
            for _ in range(min(self.context.concurrency, len(questions))):
                group.create_task(work())
        self.context.halt.check()

    @property
    def _doing(self) -> str:
        return f"asking {self.model.spec.label}"

    async def _one(self, place: int, question: Question[T]) -> None:
        try:
            kept = await self._reply(place, question)
        except PlayerFailed as error:
            self._fail(str(error))
        else:
            self._read(place, question, kept)

    def _fail(self, reason: str) -> None:
        self.failed[reason] += 1
        if not self.answers and self.failed.total() >= FRUITLESS:
            raise EndpointRefused(f"{self.model.spec.label} answered none of {FRUITLESS} requests: {reason}")

    def _read(self, place: int, question: Question[T], kept: Kept) -> None:
        if kept.served_model is not None:
            self.served.add(kept.served_model)
        answer = question.read(kept, bool(self.stated))
        if answer is None:
            self._fail(UNREADABLE)
        else:
            self.answers[place] = answer

    async def _reply(self, place: int, question: Question[T]) -> Kept:
        if self.stated is None:
            async with self._probe:
                if self.stated is None and (kept := await self._first(place, question)) is not None:
                    return kept
        return await self._asked(place, self._request(question, bool(self.stated)))

    async def _first(self, place: int, question: Question[T]) -> Kept | None:
        """Find out whether there are log-probabilities; the reply if there are."""
        try:
            kept = await self._asked(place, self._request(question, stated=False))
        except FormatRefused:
            self.stated = True
            return None
        self.stated = not kept.tokens
        return None if self.stated else kept

    def _request(self, question: Question[T], stated: bool) -> dict[str, Any]:
        body = self.model.body(question.words(stated))
        return body if stated else body | {"logprobs": True, "top_logprobs": TOP}

    async def _asked(self, place: int, body: dict[str, Any]) -> Kept:
        key = key_of(self.model.url, body)
        kept = self.replies.find(key)
        if kept is not None:
            self.found += 1
            return kept
        ask = Ask("judge", place, "judge", AskKind.PEER_ASSESSMENT, 0, Phase.DISCUSSION)
        completion: Completion = await self.model.endpoint.complete(ask, body, self.model.price)
        if completion.problem:
            raise PlayerFailed(completion.problem)
        if completion.notes and "logprobs" not in body:  # half a number is another number
            raise PlayerFailed(completion.notes[0])
        self.replies.keep(key, self.model.spec.label, completion)
        return Kept(completion.content, completion.tokens, completion.served_model)
