"""One endpoint: pace, patience and accounts around the SDK's client; and the outcome of each request, counted and
logged.

Every request passes through here: it is found in the cache, or it waits for its turn, is sent, and sent again after
trouble. There is no fixed number of attempts. A rate limit or an outage is waited out for as long as the run's patience
lasts; then the run pauses, and no game has failed. Only refusals count, since they would come again.
"""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from liescope.common.errors import EndpointRefused, EndpointSilent, PlayerFailed
from liescope.games.core import Ask, Reply
from liescope.generate.players.openai.completion import Completion, billed
from liescope.generate.players.openai.pace import Pace, RequestTurn
from liescope.generate.players.openai.spec import Key, Secrets, host_of
from liescope.generate.players.openai.verdict import FORMS, Came, Refusal, Scope, Trouble, Verdict, adapted, verdict_of
from liescope.generate.players.player_protocol import VIA_CACHE, Attempt, EndpointFacts, PlayerContext
from liescope.generate.players.reply_cache import request_key
from liescope.generate.players.run_limits import CHARACTERS_A_TOKEN, Price, TokenUsage

_KEPT = 2000  # characters kept of a response that is not an answer
_FIRST_ANSWER = 200.0  # expected tokens of the first answer of a kind
_WEIGHT = 0.05  # weight of each answer in the mean
_COMPLETION: TypeAdapter[Completion] = TypeAdapter(Completion)
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds before one request is sent again
ASK_TRIES = 5  # refusals of one request after which it gets no answer
# Wordless answers in a row after which a model is given up: at first, and once an answer had words.
FIRST_WORDLESS, MOST_WORDLESS = 8, 20
# refusals in a row after which a player that once got answers is given up; others are given up at once
PLAYER_TRIES = 10
# So many prompts with the same tokens, whose lengths differ by so many characters, show that a server cuts them.
_STILL, _GROWN = 4, 200
NO = "none"
_STRIKES = 2  # so many requests in a row were refused with the format and answered without
_MOST_SERVED = 8
QUESTION = 'Reply with one JSON object and nothing else: {"ready": true}'


def pause(failures: int) -> float:
    """Seconds to wait after so many failures of one request while others succeed: doubled each time up to LONGEST_WAIT,
    and spread, so that requests that failed together do not come back together.
    """
    return min(FIRST_WAIT * 2.0 ** min(failures - 1, 30), LONGEST_WAIT) * random.uniform(0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Request:
    """One request for the answer to an ask. body: its JSON, without keys; number: among those for the ask, from 1."""

    ask: Ask
    body: Mapping[str, Any]
    price: Price | None
    number: int = 1

    @property
    def model(self) -> str:
        return str(self.body.get("model"))

    @property
    def kind(self) -> Hashable:
        """The kind whose latencies and tokens are comparable."""
        return self.model, self.ask.kind

    @property
    def characters(self) -> int:
        """The length of the prompt."""
        return sum(len(message["content"]) for message in self.body["messages"])


class TokenEstimate:
    """How many tokens a request to one host will take, learned from earlier ones."""

    def __init__(self) -> None:
        self._a_character = 1 / CHARACTERS_A_TOKEN
        self._answers: dict[Hashable, float] = {}

    def of(self, request: Request) -> tuple[float, float]:
        """Tokens of the prompt and of the answer."""
        return request.characters * self._a_character, self._answers.get(request.kind, _FIRST_ANSWER)

    def learn(self, request: Request, usage: TokenUsage) -> None:
        """Learn what a request took."""
        if usage.prompt is not None and request.characters > 0:
            self._a_character += _WEIGHT * (usage.prompt / request.characters - self._a_character)
        if usage.completion is not None:
            before = self._answers.get(request.kind, float(usage.completion))
            self._answers[request.kind] = before + _WEIGHT * (usage.completion - before)


@dataclass(slots=True)
class Trials:
    """How one model is doing at an endpoint, or one request to it. since: `time.monotonic` of the first failure after
    the last answer; failures, refusals: in a row; wordless: answers in a row without a word; spoke: whether one had
    words; same: the last trouble and how often it came in a row; form: what requests have to be adapted to; most: the
    most tokens of a prompt, lengths: the characters of those that had so many; fewer: whether any had fewer.
    """

    answered: bool = False
    since: float | None = None
    failures: int = 0
    refusals: int = 0
    wordless: int = 0
    spoke: bool = False
    same: tuple[str, int] = ("", 0)
    form: set[Scope] = field(default_factory=set)
    fewer: bool = False
    most: int = 0
    lengths: list[int] = field(default_factory=list)

    def cuts(self, characters: int, tokens: int | None) -> bool:
        """Whether the server cuts prompts, this one among them: its tokens stand still while prompts grow."""
        if tokens is None or tokens < self.most:
            self.fewer = self.fewer or tokens is not None
            return False
        if tokens > self.most:
            self.fewer, self.most, self.lengths = self.fewer or self.most > 0, tokens, []
        self.lengths = sorted({*self.lengths, characters})
        return self.fewer and len(self.lengths) >= _STILL and self.lengths[-1] - self.lengths[0] >= _GROWN

    def succeed(self) -> None:
        self.answered, self.since, self.refusals = True, None, 0

    def failing_for(self) -> float:
        """Seconds since the first failure in a row, which may be this one."""
        now = time.monotonic()
        self.since = now if self.since is None else self.since
        return now - self.since


class FormatRefused(PlayerFailed):
    """The endpoint refused a request with an extra (structured output, log-probabilities); it may succeed without.

    made: the attempts so far.
    """

    def __init__(self, problem: str, made: int) -> None:
        super().__init__(problem)
        self.made = made


class FormatSupport:
    """What is known about one model at an endpoint, above all whether it supports JSON schemas (`facts.json`): found by
    the preflight or the first requests that need one, stored in the run, and never overturned by a single failure.

    learn: called with the facts whenever some are new.
    """

    def __init__(self, facts: EndpointFacts, learn: Callable[[EndpointFacts], None]) -> None:
        self.facts = facts
        self._learn = learn
        self._strikes = 0

    def accepted(self, form: str) -> None:
        self._strikes = 0
        self.found(json=form)

    def refused(self) -> None:
        """A request was refused with its format, and answered without."""
        self._strikes += 1
        if self._strikes >= _STRIKES:
            self.found(json=NO)

    def found(self, **facts: Any) -> None:
        """Note facts, by the names of `EndpointFacts`; known ones are not overwritten."""
        self._note(**{name: value for name, value in facts.items() if getattr(self.facts, name) is None})

    def noted(self, matter: str, words: str) -> None:
        """Note, in words, how the model is asked or what it does."""
        self._note(notes={**self.facts.notes, matter: words})

    def served(self, model: str | None) -> None:
        """Note the name that the endpoint gave for the model."""
        names = self.facts.served_models
        if model is not None and model not in names and len(names) < _MOST_SERVED:
            self._note(served_models=(*names, model))

    def _note(self, **facts: Any) -> None:
        known, self.facts = self.facts, replace(self.facts, **facts)
        if self.facts != known:
            self._learn(self.facts)


class Endpoint:
    """One base URL with one key, for all the players of a run that use it; made by `Endpoint.of`.

    It belongs to the event loop of its first request.
    """

    def __init__(self, base_url: str, key: Key, context: PlayerContext) -> None:
        from liescope.generate.players.openai.client import Client  # the SDK takes half a second to load

        self.base_url = base_url
        self.host = host_of(base_url)
        self.users = 0
        shared = context.shared
        self._secrets = shared.once(Secrets, Secrets)
        self._secrets.add(key.secret)
        make = lambda: Pace(self.host, context.halt, context.activity, context.limits.concurrency)  # noqa: E731
        self._pace = shared.once(Pace, make, self.host)
        self._estimate = shared.once(TokenEstimate, TokenEstimate, self.host)
        self._key = key
        self._context = context
        self._activity = context.activity.at(self.host)
        self._models = defaultdict[str, Trials](Trials)
        self._client = Client(base_url, key.secret, self._secrets.hide, context.limits.concurrency)

    @classmethod
    def of(cls, context: PlayerContext, base_url: str, key: Key) -> Endpoint:
        """The run's endpoint for that URL and key. Each caller closes it once; the last one closes the client."""
        endpoint = context.shared.once(cls, lambda: cls(base_url, key, context), (base_url, key.secret))
        endpoint.users += 1
        return endpoint

    def support(self, model: str) -> FormatSupport:
        """What is known about a model here; what the run knew before is taken up."""
        place, facts = (self.host, model), self._context.facts

        def make() -> FormatSupport:
            known = next((one for one in facts if (one.host, one.model) == place), EndpointFacts(*place))
            self._models[model].form |= {scope for scope in FORMS if scope.value in known.notes}
            self._activity.noted |= {(model, matter): words for matter, words in known.notes.items()}
            return FormatSupport(known, self._context.learn)

        return self._context.shared.once(FormatSupport, make, place)

    async def close(self) -> None:
        self.users -= 1
        if self.users == 0:
            self._context.shared.drop(Endpoint, (self.base_url, self._key.secret))
            await self._client.close()

    async def complete(self, ask: Ask, body: Mapping[str, Any], price: Price | None, made: int = 0) -> Completion:
        """The answer to a chat completion request, from the cache or new. made: earlier attempts at this ask.

        Raises PlayerFailed if this request cannot be answered (FormatRefused if an extra may be the cause),
        EndpointRefused if no request for this model will be answered, EndpointSilent if none was answered for too long,
        BudgetSpent if nothing more may be spent.
        """
        request = Request(ask, self._secrets.without(body), price, made + 1)
        key = self._place(request, self._context.draw(ask.game))
        completion = self._kept(key, request)
        if completion is None:
            completion = await self._asked(request)
            self._keep(key, completion)
        return completion

    def _place(self, request: Request, draw: str) -> str:
        """The request's place in the reply cache, if there is one."""
        return request_key(self.base_url, request.body, draw, request.ask) if self._context.cache else ""

    async def _asked(self, request: Request) -> Completion:
        """A new answer."""
        model, own = self._models[request.model], Trials()
        while True:
            verdict, turn, request = await self._attempt(request, self._context.limits.seconds)
            if isinstance(verdict, Completion):
                self._check_words(verdict, model)
                return verdict
            if isinstance(verdict, Refusal):
                if verdict.scope is Scope.FORMAT:
                    raise FormatRefused(verdict.problem, request.number)
                await self._after_refusal(verdict, own, model)
            else:
                await self._after_trouble(verdict, own, model, turn)
                await self._check_own(verdict, own, request)
            # Problems are grouped by status, or else by how their text begins.
            status = re.search(r"\b[345]\d\d\b", verdict.problem)
            self._activity.retries[status[0] if status else verdict.problem[:60]] += 1
            request = replace(request, number=request.number + 1)

    def _check_words(self, answer: Completion, model: Trials) -> None:
        """Raises EndpointRefused after many wordless answers in a row, since each of them costs money."""
        model.succeed()
        model.wordless = model.wordless + 1 if answer.wordless else 0
        model.spoke = model.spoke or not answer.wordless
        if model.wordless >= (MOST_WORDLESS if model.spoke else FIRST_WORDLESS):
            raise EndpointRefused(f"{self.base_url}: {model.wordless} answers in a row hold no word; {answer.wordless}")

    async def _after_refusal(self, refusal: Refusal, own: Trials, model: Trials) -> None:
        """Wait before sending the request again, or raise. own: of this request."""
        own.refusals += 1
        if refusal.scope is Scope.PLAYER:
            model.refusals += 1
            if not model.answered or model.refusals >= PLAYER_TRIES:
                raise self.refused(refusal)
        elif own.refusals >= ASK_TRIES:
            raise PlayerFailed(refusal.problem)
        await self._context.halt.sleep(pause(own.refusals))

    async def _after_trouble(self, trouble: Trouble, own: Trials, model: Trials, turn: RequestTurn) -> None:
        """Notify the pace and wait before sending the request again; raise if patience has run out."""
        patience = self._context.limits.patience  # seconds
        if (silence := model.failing_for()) >= patience:
            silent = EndpointSilent(
                f"{self.base_url} has given no answer for {silence:.0f} s; the last time, {trouble.problem} "
                "(--give-up-after says how long to wait)",
                self.host,
            )
            self._pace.give_up(silent)
            raise silent
        if trouble.limited:
            self._pace.limited(turn, trouble.asked, trouble.problem)
            return
        self._pace.failed(turn, trouble.asked, trouble.problem, trouble.overloaded)
        if (alone := own.failing_for()) >= patience and model.answered:
            raise PlayerFailed(f"no answer to one request in {alone:.0f} s: {trouble.problem}")
        if not self._pace.down:
            own.failures += 1
            await self._context.halt.sleep(pause(own.failures))

    async def _check_own(self, trouble: Trouble, own: Trials, request: Request) -> None:
        """Raises PlayerFailed if a request failed alike so often that it is its own fault: the same model answers a
        small question.
        """
        before, times = own.same
        own.same = trouble.problem, times + 1 if trouble.problem == before else 1
        if trouble.own and own.same[1] >= ASK_TRIES:
            own.same = "", 0
            small = {**request.body, "messages": [{"role": "user", "content": QUESTION}]}
            small.pop("response_format", None)
            verdict, *_ = await self._attempt(replace(request, body=small), self._context.limits.seconds)
            if isinstance(verdict, Completion):
                raise PlayerFailed(
                    f"it fails alike each of {ASK_TRIES} times, and small questions do not: {trouble.problem}"
                )

    async def ask_once(self, request: Request, seconds: float) -> Verdict:
        """The outcome of one request, which is never repeated. seconds: for the request.

        Raises RunPaused if the run is ending.
        """
        request = replace(request, body=self._secrets.without(request.body))
        key = self._place(request, request.ask.game)
        if (kept := self._kept(key, request)) is not None:
            return kept
        verdict, turn, request = await self._attempt(request, seconds)
        if isinstance(verdict, Completion):
            self._models[request.model].succeed()
            self._keep(key, verdict)
        elif isinstance(verdict, Trouble) and verdict.limited:
            self._pace.limited(turn, verdict.asked, verdict.problem)
        return verdict

    def safe(self, reply: Reply) -> Reply:
        """A reply without the keys of the run."""
        return self._secrets.hide_in_reply(reply)

    async def models(self, seconds: float) -> Came:
        """The endpoint's list of models, or why it did not come."""
        return await self._client.models(seconds)

    def refused(self, refusal: Refusal) -> EndpointRefused:
        """The error that says what to do about a refusal of every request."""
        check = "name the variable that holds its key with ?key_env=VARIABLE"
        if self._key.variable:
            check = f"check the environment variable {self._key.variable}"
        return EndpointRefused(f"{self.base_url}: {refusal.problem}; {refusal.advice or check}")

    async def _attempt(self, request: Request, limit: float) -> tuple[Verdict, RequestTurn, Request]:
        """Make one request, again at once in another form if the endpoint wants that; return its outcome, its turn and
        how it was sent. limit: seconds.
        """
        model = self._models[request.model]
        while True:
            request = replace(request, body=adapted(request.body, model.form))
            tokens = self._estimate.of(request)
            async with self._pace.turn() as turn, self._context.budget.request(*tokens, request.price):
                self._context.halt.check()
                began = time.perf_counter()
                response = await self._client.chat(request.body, limit)
                seconds = time.perf_counter() - began
            verdict = self._outcome(request, response, seconds * 1000)
            if not (isinstance(verdict, Refusal) and verdict.scope in FORMS):
                break
            self._adapt(request.model, verdict.scope)
            request = replace(request, number=request.number + 1)
        if isinstance(verdict, Completion):
            if verdict.streamed:
                self._adapt(request.model, Scope.STREAM)
            if model.cuts(request.characters, verdict.usage.prompt):
                verdict = replace(verdict, cut=True)
                words = f"{request.model}: its server cuts prompts at {model.most:,} tokens; give it a longer context"
                self._note(request.model, "cut", words)
            if verdict.thinking:
                self._note(request.model, "reasoning", f"{request.model} gives its reasoning apart from its words")
            self._estimate.learn(request, verdict.usage)
            self._pace.answered(turn, request.kind, seconds)
        return verdict, turn, request

    def _adapt(self, model: str, scope: Scope) -> None:
        self._models[model].form.add(scope)
        self._note(model, scope.value, f"{model} {FORMS[scope][0]}")

    def _note(self, model: str, matter: str, words: str) -> None:
        """Tell, and keep in the run, what a reader of the games should know of how a model is asked."""
        self._activity.noted[model, matter] = words
        self.support(model).noted(matter, words)

    def _outcome(self, request: Request, response: Came, latency: float) -> Verdict:
        """The outcome of a request, counted, logged and safe to keep. latency: milliseconds."""
        verdict: Verdict = response if isinstance(response, Trouble) else verdict_of(response, request.body)
        raw, cost = "" if isinstance(response, Trouble) else response.text[:_KEPT], None
        paid = TokenUsage()
        if isinstance(verdict, Completion):
            verdict = self._without_keys(verdict)
            raw, cost, paid = verdict.said, verdict.usage.cost(request.price), verdict.usage
            self._context.budget.spend(verdict.usage, request.price, (request.characters, len(raw)))
            self._activity.saved += verdict.usage.saved(request.price)
        else:
            verdict = replace(verdict, problem=self._secrets.hide(verdict.problem))
            if not isinstance(response, Trouble) and (usage := billed(response.text)).counted:
                # paid for, although it cannot be used
                cost, paid = usage.cost(request.price), usage
                self._context.budget.spend(usage, request.price, (0, 0))
        self._log(request, verdict, paid, raw=raw, cost=cost, latency_ms=latency, host=self.host)
        return verdict

    def _kept(self, key: str, request: Request) -> Completion | None:
        """The answer that the reply cache holds under a key, logged as cached. Raises BadData if it is not an
        answer.
        """
        cache = self._context.cache
        if cache is None or (text := cache.find(key)) is None:
            return None
        try:
            completion = self._without_keys(_COMPLETION.validate_json(text, strict=True))
        except ValidationError:
            raise cache.damaged() from None
        self._log(request, completion, completion.usage, raw=completion.said, cost=0.0, via=VIA_CACHE)
        return completion

    def _keep(self, key: str, completion: Completion) -> None:
        if self._context.cache is not None:
            self._context.cache.keep(key, _COMPLETION.dump_json(completion).decode())

    def _log(self, request: Request, verdict: Verdict, usage: TokenUsage, **facts: Any) -> None:
        facts |= {
            "prompt_tokens": usage.prompt,
            "cached_tokens": usage.cached,
            "completion_tokens": usage.completion,
        }
        if isinstance(verdict, Completion):
            facts |= {"response_id": verdict.response_id, "served_model": verdict.served_model}
        place = request.ask.game, request.ask.step, request.ask.seat, request.number
        self._context.log(Attempt(*place, problem=verdict.problem, request=dict(request.body), **facts))

    def _without_keys(self, completion: Completion) -> Completion:
        """Decoding may reveal keys that were hidden by escapes, and so may decoding the content once more."""
        names = ("content", "thinking", "refusal", "response_id", "served_model")
        given = {name: text for name in names if (text := getattr(completion, name))}
        hidden: dict[str, Any] = {name: self._secrets.hide(text) for name, text in given.items()}
        return replace(completion, **hidden)
