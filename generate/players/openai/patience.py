"""What becomes of one request beside others: when it is sent again, a second time, or only after another.

There is no fixed number of attempts. A rate limit or an outage is waited out for as long as the run's patience lasts;
then the run pauses, and no game has failed. Only refusals, which would come again, are counted.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Hashable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from liescope.common.errors import EndpointRefused, EndpointSilent, PlayerFailed
from liescope.games.core import Ask
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.pace import CREDIBLE, EARLY, Pace, RequestTurn
from liescope.generate.players.openai.spec import Key
from liescope.generate.players.openai.verdict import Refusal, Scope, Trouble
from liescope.generate.players.player_protocol import Halt, HostActivity

FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0  # seconds before one request is sent again
ASK_TRIES = 5  # refusals of one request before its game goes on without an answer
# Answers in a row without a word after which a model is not asked again: at first, and once one had words.
FIRST_WORDLESS, MOST_WORDLESS = 8, 20
PLAYER_TRIES = 10  # refusals in a row for a player that was answered before; one that never was is refused at once
PERCENTILE, FACTOR = 0.99, 3.0  # a request stalls when it takes so many times what this share of them takes
SHORTEST = 5.0  # seconds; nothing that takes less stalls
SHARE = 0.01  # of the requests, at most, that are sent twice
KNOWN = 200  # answers of a kind without which nothing is known
_BIN = math.log(1.1)
_REMEMBERED = 4000  # answers, after which older ones count half
ALIKE = 4096  # characters, about the 1,024 tokens below which nothing is cached
LOST = "another request for the same answer, sent because one stalled, was answered first"

T = TypeVar("T")


def pause(attempt: int, draw: float) -> float:
    """Seconds to wait after the given failure (counted from 1) of one request while others succeed: doubled each time
    up to LONGEST_WAIT. draw: uniform in [0, 1), spreads requests that failed at the same moment.
    """
    return min(FIRST_WAIT * 2.0 ** min(attempt - 1, 30), LONGEST_WAIT) * (0.5 + 0.5 * draw)


@dataclass(slots=True)
class Standing:
    """How one model is doing at an endpoint. Times are `time.monotonic`.

    answered_at: its last answer; troubled_since: the first failure after it; refusals: in a row; wordless: answers in a
    row without a word; spoke: whether one had words.
    """

    answered_at: float | None = None
    troubled_since: float | None = None
    refusals: int = 0
    wordless: int = 0
    spoke: bool = False

    def answered(self) -> None:
        self.answered_at, self.troubled_since, self.refusals = time.monotonic(), None, 0


@dataclass(slots=True)
class History:
    """The history of one request: its refusals, its failures while others were answered, and since when."""

    refusals: int = 0
    troubles: int = 0
    troubled_since: float | None = None


class Patience:
    """Of one endpoint. seconds: without an answer after which it is given up."""

    def __init__(self, base_url: str, key: Key, pace: Pace, activity: HostActivity, halt: Halt, seconds: float) -> None:
        self._base_url = base_url
        self._key = key
        self._pace = pace
        self._activity = activity
        self._halt = halt
        self._seconds = seconds
        self._standings: dict[str, Standing] = {}

    def standing(self, model: str) -> Standing:
        """How a model is doing, made on first use."""
        return self._standings.setdefault(model, Standing())

    def no_use(self, refusal: Refusal) -> EndpointRefused:
        """The error that says what to do about a refusal of every request."""
        return EndpointRefused(f"{self._base_url}: {refusal.problem}; {refusal.advice or self._key_advice()}")

    def read(self, answer: Completion, standing: Standing) -> None:
        """An answer came. Raises EndpointRefused if it is one of many in a row without a word: they are paid for, and
        the rules would have to replace every one.
        """
        standing.answered()
        standing.wordless = standing.wordless + 1 if answer.wordless else 0
        standing.spoke = standing.spoke or not answer.wordless
        if standing.wordless >= (MOST_WORDLESS if standing.spoke else FIRST_WORDLESS):
            raise EndpointRefused(
                f"{self._base_url}: {standing.wordless} answers in a row hold no word; {answer.wordless}"
            )

    async def refused(self, refusal: Refusal, own: History, standing: Standing) -> None:
        """Wait before sending the request again, or raise."""
        own.refusals += 1
        if refusal.scope is Scope.PLAYER:
            standing.refusals += 1
            if standing.answered_at is None or standing.refusals >= PLAYER_TRIES:
                raise self.no_use(refusal)
        elif own.refusals >= ASK_TRIES:
            raise PlayerFailed(refusal.problem)
        await self._halt.sleep(pause(own.refusals, random.random()))

    async def troubled(self, trouble: Trouble, own: History, standing: Standing, sent: RequestTurn) -> None:
        """Notify the pace and wait before sending the request again; raise if patience has run out."""
        now, patience = time.monotonic(), self._seconds
        standing.troubled_since = now if standing.troubled_since is None else standing.troubled_since
        if now - standing.troubled_since >= patience:
            silent = EndpointSilent(
                f"{self._base_url} has given no answer for {now - standing.troubled_since:.0f} s; the last time, "
                f"{trouble.problem} (--give-up-after says how long to wait)",
                self._pace.host,
            )
            self._pace.give_up(silent)
            raise silent
        if trouble.limited:
            self._activity.limited += 1
            if not self._pace.limited(sent, trouble.asked, trouble.problem, trouble.crowded):
                own.troubles += 1
                alone = pause(own.troubles, random.random()) if trouble.asked is None else trouble.asked
                await self._halt.sleep(alone if alone <= CREDIBLE else EARLY)
            return
        self._pace.failed(sent, trouble.asked, trouble.problem, trouble.crowded)
        own.troubled_since = now if own.troubled_since is None else own.troubled_since
        if now - own.troubled_since >= patience and standing.answered_at is not None:
            raise PlayerFailed(f"no answer to one request in {now - own.troubled_since:.0f} s: {trouble.problem}")
        if not self._pace.down:
            own.troubles += 1
            await self._halt.sleep(pause(own.troubles, random.random()))

    def _key_advice(self) -> str:
        if self._key.variable:
            return f"check the environment variable {self._key.variable}"
        return "name the variable that holds its key with ?key_env=VARIABLE"


class Stalls:
    """When a request to one host stalls, by its kind: then a second one is sent beside it, and the first answer counts.

    Few requests are sent twice: only those that take several times as long as 99 of 100, a small share of all, and none
    where the rate is limited.
    """

    def __init__(self) -> None:
        self._latencies: dict[Hashable, Counter[int]] = defaultdict(Counter)
        self._after: dict[Hashable, float] = {}
        self._sent = self._hedged = 0

    def after(self, kind: Hashable) -> float | None:
        """Seconds after which a request of this kind has stalled; None while too little is known."""
        self._sent += 1
        return self._after.get(kind)

    def learn(self, kind: Hashable, seconds: float) -> None:
        """A request of this kind was answered."""
        bins = self._latencies[kind]
        bins[math.ceil(math.log(max(seconds, 1e-6)) / _BIN)] += 1
        answers = bins.total()
        if answers >= KNOWN and answers % (KNOWN // 4) == 0:
            self._after[kind] = max(FACTOR * _percentile(bins, answers), SHORTEST)
            if answers >= _REMEMBERED:
                self._latencies[kind] = Counter({place: count // 2 for place, count in bins.items()})

    def take(self) -> bool:
        """Whether another request may be sent twice; it counts as sent."""
        taken = self._hedged + 1 <= SHARE * self._sent
        self._hedged += taken
        return taken


def _percentile(bins: Counter[int], total: int) -> float:
    above = (1 - PERCENTILE) * total
    for place in sorted(bins, reverse=True):
        above -= bins[place]
        if above < 0:
            return math.exp(place * _BIN)
    return 0.0


async def first_good(requests: set[asyncio.Task[T]], good: Callable[[T], bool]) -> T:
    """The first result that is good, or what came of the last request if none is. The others are cancelled, with LOST
    as their reason.
    """
    running = requests
    while True:
        done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            answered = task.exception() is None and good(task.result())
            if answered or not running:
                for other in running:
                    other.cancel(LOST)
                if running:
                    await asyncio.wait(running)
                return task.result()


class Prefixes:
    """Prompts to one endpoint that begin alike: asked at the same moment of a game, they are sent once the first of
    them was answered.

    Providers that cache prompts charge a known beginning at a fraction of its price, but know it only when the first
    request with it has been processed. Where no caching was seen, nothing waits.
    """

    def __init__(self) -> None:
        self._caches: set[Hashable] = set()  # models whose prompts are cached
        self._first: dict[Hashable, asyncio.Event] = {}  # set once the first request of its beginning has ended

    def learn(self, model: Hashable, cached: int | None) -> None:
        """An answer reports so many tokens from the cache."""
        if cached:
            self._caches.add(model)

    @asynccontextmanager
    async def turn(self, ask: Ask, body: Mapping[str, Any]) -> AsyncIterator[None]:
        """Wait while another request with this beginning is the first."""
        key = self._key(ask, body) if body.get("model") in self._caches else None
        if key is None:
            yield
        elif (first := self._first.get(key)) is not None:
            await first.wait()
            yield
        else:
            ended = self._first[key] = asyncio.Event()
            try:
                yield
            finally:
                ended.set()
                del self._first[key]

    @staticmethod
    def _key(ask: Ask, body: Mapping[str, Any]) -> Hashable | None:
        beginning = "".join(message["content"] for message in body["messages"])[:ALIKE]
        return (body["model"], ask.game, ask.step, beginning) if len(beginning) == ALIKE else None
