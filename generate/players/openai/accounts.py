"""What came of each request, made safe to keep, counted in the budget and logged, whether or not it was answered."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from liescope.games.core import Ask
from liescope.generate.players.openai.budget import Budget, Usage
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.kept import find_completion
from liescope.generate.players.openai.secrets import Secrets
from liescope.generate.players.openai.verdict import Trouble, Verdict, judge
from liescope.generate.players.openai.wire import Response
from liescope.generate.players.parsing.clean import storable
from liescope.generate.players.protocol import VIA_CACHE, Attempt, PlayerContext, Price
from liescope.generate.players.reply_cache import ReplyCache

_KEPT = 2000  # characters kept of a response without an answer


class Accounts:
    """Of one endpoint. secrets: hidden in whatever is kept."""

    def __init__(self, host: str, context: PlayerContext, secrets: Secrets) -> None:
        self.budget = context.shared.once(Budget, lambda: Budget(context))
        self._host = host
        self._context = context
        self._activity = context.activity.at(host)
        self._secrets = secrets

    def outcome(
        self,
        ask: Ask,
        body: Mapping[str, Any],
        price: Price | None,
        number: int,
        response: Response | Trouble,
        latency: float | None = None,
        via: str | None = None,
    ) -> Verdict:
        """What came of a request, counted and logged."""
        verdict: Verdict = response if isinstance(response, Trouble) else judge(response, body)
        raw = "" if isinstance(response, Trouble) else response.text[:_KEPT]
        cost = None
        if isinstance(verdict, Completion):
            verdict = self._without_keys(verdict)
            raw, cost = verdict.content or verdict.refusal, verdict.usage.cost(price)
            self.budget.spend(verdict.usage, price, (sum(len(part["content"]) for part in body["messages"]), len(raw)))
            self._activity.saved += verdict.usage.saved(price)
        else:
            verdict = replace(verdict, problem=self._secrets.hide(verdict.problem))
        self.log(ask, body, number, verdict, raw, cost, latency, via)
        return verdict

    def kept(self, cache: ReplyCache, key: str, ask: Ask, body: Mapping[str, Any], number: int) -> Completion | None:
        """The answer that was kept, and is logged as such."""
        completion = find_completion(cache, key)
        if completion is not None:
            completion = self._without_keys(completion)
            raw = completion.content or completion.refusal
            self.log(ask, body, number, completion, raw, cost=0.0, via=VIA_CACHE)
        return completion

    def log(
        self,
        ask: Ask,
        body: Mapping[str, Any],
        number: int,
        verdict: Verdict,
        raw: str,
        cost: float | None,
        latency: float | None = None,
        via: str | None = None,
    ) -> None:
        answer = verdict if isinstance(verdict, Completion) else None
        usage = Usage() if answer is None else answer.usage
        self._context.log(
            Attempt(
                game=ask.game,
                step=ask.step,
                seat=ask.seat,
                attempt=number,
                raw=raw,
                problem=verdict.problem,
                prompt_tokens=usage.prompt,
                cached_tokens=usage.cached,
                completion_tokens=usage.completion,
                cost=cost,
                latency_ms=latency,
                request=dict(body),
                response_id=None if answer is None else answer.response_id,
                served_model=None if answer is None else answer.served_model,
                host="" if via == VIA_CACHE else self._host,
                via=via,
            )
        )

    def safe(self, response: Response) -> Response:
        """A response without keys, in a form that can be stored."""
        return replace(response, text=self._secrets.hide(storable(response.text)))

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
