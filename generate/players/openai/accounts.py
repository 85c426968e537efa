"""What came of each request, made safe to keep, counted in the budget and logged, whether or not it was answered."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from liescope.common.errors import BudgetSpent
from liescope.games.core import Ask
from liescope.generate.players.openai.completion import CHARACTERS_A_TOKEN, Completion, TokenUsage
from liescope.generate.players.openai.spec import Secrets
from liescope.generate.players.openai.verdict import Response, Trouble, Verdict, judge
from liescope.generate.players.player_protocol import VIA_CACHE, Attempt, PlayerContext
from liescope.generate.players.reply_cache import ReplyCache
from liescope.generate.players.run_limits import Price

_KEPT = 2000  # characters kept of a response without an answer
_FIRST_ANSWER = 200.0  # tokens of an answer of a kind that was not answered before
_WEIGHT = 0.05  # of each answer in the mean
_COMPLETION: TypeAdapter[Completion] = TypeAdapter(Completion)


@dataclass(frozen=True, slots=True)
class Request:
    """One request for the answer to an ask. body: its JSON, without keys; number: from 1, of those for the ask; via:
    None if it is sent now.
    """

    ask: Ask
    body: Mapping[str, Any]
    price: Price | None
    number: int = 1
    via: str | None = None

    @property
    def model(self) -> str:
        return str(self.body.get("model"))

    @property
    def kind(self) -> Hashable:
        """What its latency and its tokens may be compared with."""
        return self.model, self.ask.kind

    @property
    def characters(self) -> int:
        """Of the prompt."""
        return sum(len(part["content"]) for part in self.body["messages"])


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens and money."""

    tokens: float
    cost: float

    def __add__(self, other: Spending) -> Spending:
        return Spending(self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Spending) -> Spending:
        return Spending(self.tokens - other.tokens, self.cost - other.cost)


class Budget:
    """Counts what is spent, and what requests under way will probably cost: near a limit they wait for each other, so
    that it is exceeded by a wrong estimate at most. Those under way when it is reached still complete, and count.
    """

    def __init__(self, context: PlayerContext) -> None:
        self.tokens = context.spent_tokens
        self.cost = context.spent_cost
        self._max_tokens: float | None = context.limits.max_tokens
        self._max_cost = context.limits.max_cost
        self._under_way = 0
        self._held = Spending(0.0, 0.0)
        self._ended = asyncio.Event()  # a request under way has ended

    def check(self) -> None:
        """Raises BudgetSpent if nothing more may be spent."""
        for spent, limit, what in ((self.tokens, self._max_tokens, "tokens"), (self.cost, self._max_cost, "money")):
            if limit is not None and spent >= limit:
                raise used_up(what, limit, spent)

    @asynccontextmanager
    async def request(self, prompt: float, completion: float, price: Price | None) -> AsyncIterator[None]:
        """Wait until there is room for a request of so many tokens beside those under way; inside the context, it is
        under way.

        Raises BudgetSpent if nothing more may be spent.
        """
        money = 0.0 if price is None else (prompt * price.prompt + completion * price.completion) / 1e6
        expected = Spending(prompt + completion, money)
        self.check()
        while self._under_way and not self._has_room(expected):
            self._ended.clear()
            await self._ended.wait()
            self.check()
        self._under_way += 1
        self._held += expected
        try:
            yield
        finally:
            self._under_way -= 1
            self._held -= expected
            self._ended.set()

    def _has_room(self, expected: Spending) -> bool:
        limits = (
            (self.tokens, self._held.tokens + expected.tokens, self._max_tokens),
            (self.cost, self._held.cost + expected.cost, self._max_cost),
        )
        return all(limit is None or spent + more <= limit for spent, more, limit in limits)

    def spend(self, usage: TokenUsage, price: Price | None, characters: tuple[int, int]) -> None:
        """Count one answer. characters: lengths of prompt and answer, used to estimate missing counts."""
        sent, came = characters
        prompt = sent // CHARACTERS_A_TOKEN if usage.prompt is None else usage.prompt
        completion = came // CHARACTERS_A_TOKEN if usage.completion is None else usage.completion
        self.tokens += prompt + completion
        self.cost += TokenUsage(prompt, usage.cached, completion).cost(price) or 0.0


def used_up(what: str, limit: float, spent: float) -> BudgetSpent:
    """The error for a budget of which nothing is left. what: "tokens" or "money"."""
    return BudgetSpent(
        f"the run's budget of {limit:,.10g} in {what} is used up ({spent:,.10g} spent); finished games are kept, and "
        "the same command with a larger budget goes on"
    )


def find_completion(cache: ReplyCache, key: str) -> Completion | None:
    """The completion kept under a key. Raises BadData if what is kept is none."""
    text = cache.find(key)
    if text is None:
        return None
    try:
        return _COMPLETION.validate_json(text, strict=True)
    except ValidationError:
        raise cache.damaged() from None


def keep_completion(cache: ReplyCache, key: str, completion: Completion) -> None:
    cache.keep(key, _COMPLETION.dump_json(completion).decode())


class Accounts:
    """Of one endpoint. secrets: hidden in whatever is kept."""

    def __init__(self, host: str, context: PlayerContext, secrets: Secrets) -> None:
        self.budget = context.shared.once(Budget, lambda: Budget(context))
        self._host = host
        self._context = context
        self._activity = context.activity.at(host)
        self._secrets = secrets

    def outcome(self, request: Request, response: Response | Trouble, latency: float | None = None) -> Verdict:
        """What came of a request, counted and logged. latency: milliseconds."""
        verdict: Verdict = response if isinstance(response, Trouble) else judge(response, request.body)
        raw = "" if isinstance(response, Trouble) else response.text[:_KEPT]
        cost = None
        if isinstance(verdict, Completion):
            verdict = self._without_keys(verdict)
            raw, cost = verdict.said, verdict.usage.cost(request.price)
            self.budget.spend(verdict.usage, request.price, (request.characters, len(raw)))
            self._activity.saved += verdict.usage.saved(request.price)
        else:
            verdict = replace(verdict, problem=self._secrets.hide(verdict.problem))
        self.log(request, verdict, raw, cost, latency)
        return verdict

    def kept(self, cache: ReplyCache, key: str, request: Request) -> Completion | None:
        """The answer that was kept, and is logged as such."""
        completion = find_completion(cache, key)
        if completion is not None:
            completion = self._without_keys(completion)
            self.log(replace(request, via=VIA_CACHE), completion, completion.said, cost=0.0)
        return completion

    def log(
        self, request: Request, verdict: Verdict, raw: str = "", cost: float | None = None, latency: float | None = None
    ) -> None:
        answer = verdict if isinstance(verdict, Completion) else None
        usage = TokenUsage() if answer is None else answer.usage
        self._context.log(
            Attempt(
                game=request.ask.game,
                step=request.ask.step,
                seat=request.ask.seat,
                attempt=request.number,
                raw=raw,
                problem=verdict.problem,
                prompt_tokens=usage.prompt,
                cached_tokens=usage.cached,
                completion_tokens=usage.completion,
                cost=cost,
                latency_ms=latency,
                request=dict(request.body),
                response_id=None if answer is None else answer.response_id,
                served_model=None if answer is None else answer.served_model,
                host="" if request.via == VIA_CACHE else self._host,
                via=request.via,
            )
        )

    def _without_keys(self, completion: Completion) -> Completion:
        """Decoding may reveal keys that were hidden by escapes in the response, as may decoding the content again."""
        hide = self._secrets.hide
        return replace(
            completion,
            content=hide(completion.content),
            thinking=hide(completion.thinking),
            refusal=hide(completion.refusal),
            response_id=completion.response_id and hide(completion.response_id),
            served_model=completion.served_model and hide(completion.served_model),
        )


def in_short(problem: str) -> str:
    """The status code of a problem, or its beginning if it has none, so that equal problems can be counted."""
    status = re.search(r"\b[345]\d\d\b", problem)
    return status[0] if status else problem[:60]


class TokenEstimate:
    """Of the requests to one host."""

    def __init__(self) -> None:
        self._a_character = 1 / CHARACTERS_A_TOKEN
        self._answers: dict[Hashable, float] = {}

    def of(self, request: Request) -> tuple[float, float]:
        """Tokens of the prompt and of the answer."""
        return request.characters * self._a_character, self._answers.get(request.kind, _FIRST_ANSWER)

    def learn(self, request: Request, usage: TokenUsage) -> None:
        """What a request took."""
        characters, kind = request.characters, request.kind
        if usage.prompt is not None and characters > 0:
            self._a_character += _WEIGHT * (usage.prompt / characters - self._a_character)
        if usage.completion is not None:
            before = self._answers.get(kind, float(usage.completion))
            self._answers[kind] = before + _WEIGHT * (usage.completion - before)
