"""Asking a judge about many statements: many requests at once, each reply kept as it comes, an interrupt loses none.

Whether the endpoint gives log-probabilities is found out by the first request, alone. If it does, the judge answers
with one word and its score is that word's probability; if not, the judge states a number.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from liescope.common.errors import EndpointRefused, PlayerFailed, RunPaused
from liescope.detectors.evaluation.judge.answers import label_probability, stated_probability
from liescope.detectors.evaluation.judge.prompt import JudgePrompt
from liescope.detectors.evaluation.judge.replies import Kept, Replies, key_of
from liescope.detectors.protocol import Progress
from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.endpoint import FormatRefused
from liescope.generate.players.openai.player import OpenedModel
from liescope.generate.players.protocol import Attempt, PlayerContext

TOP = 20  # alternatives of each token that are asked for, the most that OpenAI gives
FRUITLESS = 20  # failures in a row, from the first request on, after which nothing more is asked
UNREADABLE = "no probability could be read in the reply"


@dataclass(frozen=True, slots=True)
class Item:
    """One statement to judge. text: as a detector reads it."""

    statement_id: str
    text: str
    target: str


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
class Asking:
    """One judge at work. scores: by place in the items; failed: statements without a score, by reason; found: replies
    that had been paid for before; stated: whether it states numbers, None while unknown.
    """

    model: OpenedModel
    prompt: JudgePrompt
    replies: Replies
    context: PlayerContext
    scores: dict[int, float] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    found: int = 0
    served: set[str] = field(default_factory=set)
    stated: bool | None = None
    _probe: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, items: Sequence[Item], progress: Progress) -> None:
        """Fill `scores` and `failed`. Raises RunPaused if it had to stop; what came by then is kept."""
        todo = iter(enumerate(items))
        progress(self._doing, 0, len(items))

        async def work() -> None:
            for place, item in todo:
                try:
                    self.context.halt.check()
                    await self._one(place, item)
                except RunPaused as error:
                    self.context.halt.set(error)
                    return
                progress(self._doing, len(self.scores) + self.failed.total(), len(items))

        async with asyncio.TaskGroup() as group:
            for _ in range(min(self.context.concurrency, len(items))):
                group.create_task(work())
        self.context.halt.check()

    @property
    def _doing(self) -> str:
        return f"asking {self.model.spec.label}"

    async def _one(self, place: int, item: Item) -> None:
        try:
            kept = await self._reply(place, item)
        except PlayerFailed as error:
            self._fail(str(error))
        else:
            self._score(place, kept)

    def _fail(self, reason: str) -> None:
        self.failed[reason] += 1
        if not self.scores and self.failed.total() >= FRUITLESS:
            raise EndpointRefused(f"{self.model.spec.label} answered none of {FRUITLESS} requests: {reason}")

    def _score(self, place: int, kept: Kept) -> None:
        sides = self.prompt.sides
        score = stated_probability(kept.content, sides) if self.stated else label_probability(kept.tokens, sides)
        if kept.served_model is not None:
            self.served.add(kept.served_model)
        if score is None:
            self.failed[UNREADABLE] += 1
        else:
            self.scores[place] = score

    async def _reply(self, place: int, item: Item) -> Kept:
        if self.stated is None:
            async with self._probe:
                if self.stated is None and (kept := await self._first(place, item)) is not None:
                    return kept
        return await self._asked(place, self._request(item, bool(self.stated)))

    async def _first(self, place: int, item: Item) -> Kept | None:
        """Find out whether there are log-probabilities; the reply if there are."""
        try:
            kept = await self._asked(place, self._request(item, stated=False))
        except FormatRefused:
            self.stated = True
            return None
        self.stated = not kept.tokens
        return None if self.stated else kept

    def _request(self, item: Item, stated: bool) -> dict[str, Any]:
        body = self.model.body(self.prompt.render(item.text, item.target, stated))
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
        self.replies.keep(key, self.model.spec.label, completion)
        return Kept(completion.content, completion.tokens, completion.served_model)
