"""One endpoint: pace, patience and accounts around the SDK's client.

Every request passes through here: it is found in the cache, or it waits for its turn, is sent, and sent again after
trouble. There is no fixed number of attempts. A rate limit or an outage is waited out for as long as the run's patience
lasts; then the run pauses, and no game has failed. Only refusals, which would come again, are counted.
"""

from __future__ import annotations

import random
import re
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from liescope.common.errors import EndpointRefused, EndpointSilent, PlayerFailed
from liescope.games.core import Ask, Reply
from liescope.generate.players.openai.accounts import Accounts, Request, TokenEstimate
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.pace import Pace, RequestTurn
from liescope.generate.players.openai.spec import Key, Secrets, host_of
from liescope.generate.players.openai.verdict import Refusal, Response, Scope, Trouble, Verdict
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.reply_cache import request_key
from liescope.generate.players.run_limits import Price

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds before one request is sent again
ASK_TRIES = 5  # refusals of one request before its game goes on without an answer
# Answers in a row without a word after which a model is not asked again: at first, and once one had words.
FIRST_WORDLESS, MOST_WORDLESS = 8, 20
PLAYER_TRIES = 10  # refusals in a row for a player that was answered before; one that never was is refused at once


def pause(failures: int) -> float:
    """Seconds to wait after so many failures of one request while others succeed: doubled each time up to LONGEST_WAIT,
    and spread, so that requests that failed together do not come back together.
    """
    return min(FIRST_WAIT * 2.0 ** min(failures - 1, 30), LONGEST_WAIT) * random.uniform(0.5, 1.0)


@dataclass(slots=True)
class Trials:
    """How one model is doing at an endpoint, or one request to it. since: `time.monotonic` of the first failure after
    the last answer; failures, refusals: in a row; wordless: answers in a row without a word; spoke: whether one had
    words.
    """

    answered: bool = False
    since: float | None = None
    failures: int = 0
    refusals: int = 0
    wordless: int = 0
    spoke: bool = False

    def succeed(self) -> None:
        self.answered, self.since, self.refusals = True, None, 0

    def failing_for(self) -> float:
        """Seconds since the first failure, which may be this one."""
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
        self._accounts = Accounts(self.host, context, self._secrets)
        self._context = context
        self._activity = context.activity.at(self.host)
        self._models = defaultdict[str, Trials](Trials)
        self._client = Client(base_url, key.secret, self._secrets.hide, context.limits.concurrency)

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r})"

    @classmethod
    def of(cls, context: PlayerContext, base_url: str, key: Key) -> Endpoint:
        """The run's endpoint for that URL and key. Each caller closes it once; the last one closes the client."""
        endpoint = context.shared.once(cls, lambda: cls(base_url, key, context), (base_url, key.secret))
        endpoint.users += 1
        return endpoint

    async def close(self) -> None:
        self.users -= 1
        if self.users == 0:
            self._context.shared.drop(Endpoint, (self.base_url, self._key.secret))
            await self._client.close()

    async def complete(self, ask: Ask, body: Mapping[str, Any], price: Price | None, made: int = 0) -> Completion:
        """The answer to a chat completion request: the one that was kept, or a new one. made: earlier attempts at this
        ask.

        Raises PlayerFailed if this request cannot be answered (FormatRefused if an extra may be the cause),
        EndpointRefused if no request for this model will be answered, EndpointSilent if none was answered for too long,
        BudgetSpent if nothing more may be spent.
        """
        request = Request(ask, self._secrets.without(body), price, made + 1)
        key = self._place(request, self._context.draw(ask.game))
        completion = self._accounts.kept(key, request)
        if completion is None:
            completion = await self._asked(request)
            self._accounts.keep(key, completion)
        return completion

    def _place(self, request: Request, draw: str) -> str:
        """The request's place in the reply cache, if there is one."""
        return request_key(self.base_url, request.body, draw, request.ask) if self._context.cache else ""

    async def _asked(self, request: Request) -> Completion:
        """A new answer."""
        model, own = self._models[request.model], Trials()
        while True:
            verdict, turn = await self._attempt(request, self._context.limits.timeout)
            if isinstance(verdict, Completion):
                self._check_words(verdict, model)
                return verdict
            if isinstance(verdict, Refusal):
                if verdict.scope is Scope.FORMAT:
                    raise FormatRefused(verdict.problem, request.number)
                await self._after_refusal(verdict, own, model)
            else:
                await self._after_trouble(verdict, own, model, turn)
            # Equal problems are counted together: by their status, or by how they begin.
            status = re.search(r"\b[345]\d\d\b", verdict.problem)
            self._activity.retries[status[0] if status else verdict.problem[:60]] += 1
            request = replace(request, number=request.number + 1)

    def _check_words(self, answer: Completion, model: Trials) -> None:
        """Raises EndpointRefused if the answer is one of many in a row without a word: they are paid for, and the rules
        would have to replace every one.
        """
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

    async def ask_once(self, request: Request, seconds: float) -> tuple[Verdict, float | None]:
        """What comes of one request, which is not sent again, and the milliseconds that took: None if the answer had
        been kept. seconds: for the request.

        Raises RunPaused if the run is ending.
        """
        key = self._place(request, request.ask.game)
        if (kept := self._accounts.kept(key, request)) is not None:
            return kept, None
        began = time.perf_counter()
        verdict, turn = await self._attempt(request, seconds)
        latency = (time.perf_counter() - began) * 1000
        if isinstance(verdict, Completion):
            self._models[request.model].succeed()
            self._accounts.keep(key, verdict)
        elif isinstance(verdict, Trouble) and verdict.limited:
            self._pace.limited(turn, verdict.asked, verdict.problem)
        return verdict, latency

    def safe(self, reply: Reply) -> Reply:
        """A reply without the keys of the run."""
        return self._secrets.hide_in_reply(reply)

    async def models(self, seconds: float) -> Response | Trouble:
        """What it answers when asked for its models, or why nothing came."""
        return await self._client.models(seconds)

    def refused(self, refusal: Refusal) -> EndpointRefused:
        """The error that says what to do about a refusal of every request."""
        check = "name the variable that holds its key with ?key_env=VARIABLE"
        if self._key.variable:
            check = f"check the environment variable {self._key.variable}"
        return EndpointRefused(f"{self.base_url}: {refusal.problem}; {refusal.advice or check}")

    async def _attempt(self, request: Request, limit: float) -> tuple[Verdict, RequestTurn]:
        """Make one request; return its outcome and its turn. limit: seconds."""
        tokens = self._estimate.of(request)
        async with self._pace.turn(sum(tokens)) as turn, self._context.budget.request(*tokens, request.price):
            self._context.halt.check()
            began = time.perf_counter()
            response = await self._client.chat(request.body, limit)
            seconds = time.perf_counter() - began
        verdict = self._accounts.outcome(request, response, seconds * 1000)
        if isinstance(verdict, Completion):
            self._estimate.learn(request, verdict.usage)
            self._pace.answered(turn, request.kind, seconds)
        if isinstance(response, Response):
            self._pace.reported(turn, response.headers)
        return verdict, turn
