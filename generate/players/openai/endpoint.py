"""The wire to one endpoint: one shared client, a gate for requests under way, retries, budget, accounting.

The SDK's own retries are off, so that every request is seen here: each one waits at the gate, is refused when the
budget is spent, and is reported to the table's log whether it gave an answer or not.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, DefaultAioHttpClient
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt

from liescope.common.errors import PlayerFailed
from liescope.games.core import Ask
from liescope.generate.players.openai.budget import Budget, Usage
from liescope.generate.players.openai.completion import Completion, error_message, read_completion
from liescope.generate.players.openai.retry import passes, pause, retry_after
from liescope.generate.players.parsing.clean import storable
from liescope.generate.players.protocol import Attempt, PlayerContext, Price

NO_KEY = "EMPTY"
_KEPT = 2000  # characters kept of a response that gave no answer
_SHORTEST_SECRET = 6  # a shorter key is no secret, and blotting it out would garble the text
_REFUSES_FORMAT = frozenset({400, 422, 501})


class FormatRefused(PlayerFailed):
    """The endpoint turned down a request that asked for structured output; without it, it may go through."""


class _Again(Exception):
    """An attempt failed in a way that may pass. asked: seconds that the endpoint wants waited."""

    def __init__(self, problem: str, asked: float | None = None) -> None:
        super().__init__(problem)
        self.asked = asked


@dataclass(frozen=True, slots=True)
class Key:
    """An endpoint's secret and the variable it came from; never shown."""

    variable: str
    secret: str

    def __repr__(self) -> str:
        return f"Key({self.variable!r})"

    def hide(self, text: str) -> str:
        """The text with the secret blotted out."""
        return text.replace(self.secret, "[key]") if len(self.secret) >= _SHORTEST_SECRET else text


class Endpoint:
    """One base URL with one key, for all the players of a table that use it; made by `Endpoint.of`.

    It belongs to the event loop of its first request.
    """

    def __init__(self, base_url: str, key: Key, table: PlayerContext, gate: asyncio.Semaphore, budget: Budget) -> None:
        self.base_url = base_url
        self.budget = budget
        self.users = 0
        self._key = key
        self._table = table
        self._gate = gate
        limits = httpx2.Limits(max_connections=table.concurrency, max_keepalive_connections=table.concurrency)
        self._client = AsyncOpenAI(
            api_key=key.secret,
            base_url=base_url,
            max_retries=0,
            timeout=None,
            http_client=DefaultAioHttpClient(limits=limits, timeout=None),
        )
        self._retrying = AsyncRetrying(
            retry=retry_if_exception_type(_Again), stop=stop_after_attempt(table.retries + 1), wait=_wait, reraise=True
        )

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r})"

    @classmethod
    def of(cls, table: PlayerContext, base_url: str, key: Key) -> Endpoint:
        """The table's endpoint for that URL and key. Each caller closes it once; the last one closes the client."""
        gate = table.shared.setdefault("gate", asyncio.Semaphore(table.concurrency))
        budget = table.shared.setdefault("budget", Budget(table))
        endpoints: dict[tuple[str, str], Endpoint] = table.shared.setdefault("endpoints", {})
        place = (base_url, key.secret)
        if place not in endpoints or endpoints[place].users == 0:
            endpoints[place] = cls(base_url, key, table, gate, budget)
        endpoints[place].users += 1
        return endpoints[place]

    async def close(self) -> None:
        self.users -= 1
        if self.users == 0:
            await self._client.close()

    async def complete(self, ask: Ask, body: Mapping[str, Any], price: Price | None, made: int = 0) -> Completion:
        """The answer to a chat completion request. made: attempts that this ask has seen before.

        Raises PlayerFailed when there is none to be had (FormatRefused when that may be for its response_format), and
        BudgetSpent.
        """
        number = made
        try:
            async for attempt in self._retrying.copy():
                with attempt:
                    number += 1
                    return await self._attempt(ask, body, price, number)
        except _Again as error:
            attempts = f"{number - made} attempt{'s' if number - made > 1 else ''}"
            raise PlayerFailed(f"{self.base_url} gave no answer in {attempts}; the last time, {error}") from None
        raise AssertionError("the retry loop returns or raises")

    async def _attempt(self, ask: Ask, body: Mapping[str, Any], price: Price | None, number: int) -> Completion:
        async with self._gate:
            self.budget.check()
            began = time.perf_counter()
            sent = await self._send(body)
            latency = (time.perf_counter() - began) * 1000
        outcome, raw = self._judge(sent, body)
        if isinstance(outcome, Exception):
            problem, usage = str(outcome), Usage()
        else:
            problem, usage = outcome.problem, outcome.usage
            self.budget.spend(usage, price, (sum(len(part["content"]) for part in body["messages"]), len(raw)))
        self._table.log(
            Attempt(
                ask.game,
                ask.step,
                ask.seat,
                number,
                raw,
                problem,
                usage.prompt,
                usage.cached,
                usage.completion,
                usage.cost(price),
                latency,
            )
        )
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _judge(self, sent: httpx2.Response | _Again, body: Mapping[str, Any]) -> tuple[Completion | Exception, str]:
        """What an attempt came to, and the text of it that is kept."""
        if isinstance(sent, _Again):
            return sent, ""
        text = self._key.hide(storable(sent.text))
        if not sent.is_success:
            return self._refusal(sent.status_code, sent.headers, text, body), text[:_KEPT]
        try:
            completion = read_completion(text)
        except ValueError as unreadable:
            return _Again(str(unreadable)), text[:_KEPT]
        return completion, completion.content or completion.refusal

    async def _send(self, body: Mapping[str, Any]) -> httpx2.Response | _Again:
        """One request: the response whatever its status, or why none came."""
        seconds = self._table.timeout
        try:
            async with asyncio.timeout(seconds):
                return await self._client.post("/chat/completions", cast_to=httpx2.Response, body=body)
        except APIStatusError as error:
            return error.response
        except TimeoutError:
            return _Again(f"nothing came within {seconds:g} s")
        except APIConnectionError as error:
            return _Again(_broken(error))
        except aiohttp.ClientError:
            return _Again("the response is not HTTP")

    def _refusal(self, status: int, headers: Mapping[str, str], text: str, body: Mapping[str, Any]) -> Exception:
        """What an error status means: try again, or give up with a sentence that says what to mend."""
        where, words, model = self.base_url, error_message(text), body["model"]
        formatted = "response_format" in body
        if formatted and (status in _REFUSES_FORMAT or (status >= 500 and "response_format" in text)):
            return FormatRefused(f"{where} rejects structured output ({status}): {words}")
        if status == 429 and "insufficient_quota" in text:
            return PlayerFailed(f"{where} says that the account has no quota left (429): {words}")
        if passes(status):
            return _Again(f"it answered {status}: {words}", retry_after(headers))
        if status == 401:
            mend = (
                "name the variable that holds its key with ?key_env=VARIABLE"
                if self._key.secret == NO_KEY
                else f"check the environment variable {self._key.variable}"
            )
            return PlayerFailed(f"{where} refuses the key (401); {mend}")
        if status == 404:
            return PlayerFailed(f"{where} knows no model {model!r} (404): {words}; check the name and the URL")
        return PlayerFailed(f"{where} rejects the request for {model!r} ({status}): {words}")


def _broken(error: APIConnectionError) -> str:
    """What happened to a connection, from the aiohttp error underneath; the layers above call most of them timeouts."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, aiohttp.ClientError):
        cause = cause.__cause__
    if isinstance(cause, aiohttp.ClientConnectorError):
        return "it cannot be reached"
    if isinstance(cause, aiohttp.ClientPayloadError):
        return "the response broke off in the middle"
    return "the connection broke before an answer came"


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    return pause(state.attempt_number, error.asked if isinstance(error, _Again) else None, random.random())
