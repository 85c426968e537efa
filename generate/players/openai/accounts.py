"""What came of each request, made safe to keep, counted in the budget and logged, whether or not it was answered."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from liescope.games.core import Ask
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.spec import Secrets
from liescope.generate.players.openai.verdict import Response, Trouble, Verdict, judge
from liescope.generate.players.player_protocol import VIA_CACHE, Attempt, PlayerContext
from liescope.generate.players.run_limits import CHARACTERS_A_TOKEN, Price, TokenUsage

_KEPT = 2000  # characters kept of a response without an answer
_FIRST_ANSWER = 200.0  # tokens of an answer of a kind that was not answered before
_WEIGHT = 0.05  # of each answer in the mean
_COMPLETION: TypeAdapter[Completion] = TypeAdapter(Completion)


@dataclass(frozen=True, slots=True)
class Request:
    """One request for the answer to an ask. body: its JSON, without keys; number: from 1, of those for the ask."""

    ask: Ask
    body: Mapping[str, Any]
    price: Price | None
    number: int = 1

    @property
    def model(self) -> str:
        return str(self.body.get("model"))

    @property
    def kind(self) -> Hashable:
        """What its latency and its tokens may be compared with."""
        return self.model, self.ask.kind

    @property
    def characters(self) -> int:
        """The length of the prompt."""
        return sum(len(message["content"]) for message in self.body["messages"])


class Accounts:
    """The accounts of one endpoint. secrets: hidden in whatever is kept."""

    def __init__(self, host: str, context: PlayerContext, secrets: Secrets) -> None:
        self._host = host
        self._context = context
        self._activity = context.activity.at(host)
        self._secrets = secrets

    def outcome(self, request: Request, response: Response | Trouble, latency: float | None = None) -> Verdict:
        """What came of a request, counted and logged. latency: milliseconds."""
        verdict: Verdict = response if isinstance(response, Trouble) else judge(response, request.body)
        raw, cost = "" if isinstance(response, Trouble) else response.text[:_KEPT], None
        if isinstance(verdict, Completion):
            verdict = self._without_keys(verdict)
            raw, cost = verdict.said, verdict.usage.cost(request.price)
            self._context.budget.spend(verdict.usage, request.price, (request.characters, len(raw)))
            self._activity.saved += verdict.usage.saved(request.price)
        else:
            verdict = replace(verdict, problem=self._secrets.hide(verdict.problem))
        self._log(request, verdict, raw=raw, cost=cost, latency_ms=latency, host=self._host)
        return verdict

    def kept(self, key: str, request: Request) -> Completion | None:
        """The answer that the reply cache holds under a key; it is logged as such. Raises BadData if it is none."""
        cache = self._context.cache
        if cache is None or (text := cache.find(key)) is None:
            return None
        try:
            completion = self._without_keys(_COMPLETION.validate_json(text, strict=True))
        except ValidationError:
            raise cache.damaged() from None
        self._log(request, completion, raw=completion.said, cost=0.0, via=VIA_CACHE)
        return completion

    def keep(self, key: str, completion: Completion) -> None:
        """Put an answer into the reply cache, if there is one."""
        if self._context.cache is not None:
            self._context.cache.keep(key, _COMPLETION.dump_json(completion).decode())

    def _log(self, request: Request, verdict: Verdict, **facts: Any) -> None:
        if isinstance(verdict, Completion):
            usage = verdict.usage
            facts |= {
                "prompt_tokens": usage.prompt,
                "cached_tokens": usage.cached,
                "completion_tokens": usage.completion,
                "response_id": verdict.response_id,
                "served_model": verdict.served_model,
            }
        place = request.ask.game, request.ask.step, request.ask.seat, request.number
        self._context.log(Attempt(*place, problem=verdict.problem, request=dict(request.body), **facts))

    def _without_keys(self, completion: Completion) -> Completion:
        """Decoding may reveal keys that were hidden by escapes in the response, as may decoding the content again."""
        names = ("content", "thinking", "refusal", "response_id", "served_model")
        given = {name: text for name in names if (text := getattr(completion, name))}
        hidden: dict[str, Any] = {name: self._secrets.hide(text) for name, text in given.items()}
        return replace(completion, **hidden)


class TokenEstimate:
    """How many tokens a request to one host will take, learned from those before."""

    def __init__(self) -> None:
        self._a_character = 1 / CHARACTERS_A_TOKEN
        self._answers: dict[Hashable, float] = {}

    def of(self, request: Request) -> tuple[float, float]:
        """Tokens of the prompt and of the answer."""
        return request.characters * self._a_character, self._answers.get(request.kind, _FIRST_ANSWER)

    def learn(self, request: Request, usage: TokenUsage) -> None:
        """What a request took."""
        if usage.prompt is not None and request.characters > 0:
            self._a_character += _WEIGHT * (usage.prompt / request.characters - self._a_character)
        if usage.completion is not None:
            before = self._answers.get(request.kind, float(usage.completion))
            self._answers[request.kind] = before + _WEIGHT * (usage.completion - before)
