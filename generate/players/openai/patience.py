"""What to do when a request was not answered: wait and send it again, give it up, or give up the endpoint.

There is no fixed number of attempts. A rate limit or an outage is waited out for as long as the run's patience lasts;
then the run pauses, and no game has failed. Only refusals, which would come again, are counted.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from liescope.common.errors import EndpointRefused, EndpointSilent, PlayerFailed
from liescope.generate.players.activity import HostActivity
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.key_rules import Key
from liescope.generate.players.openai.pace import CREDIBLE, EARLY, Pace, Turn
from liescope.generate.players.openai.verdict import Refusal, Scope, Trouble
from liescope.generate.players.protocol import Halt

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0


def pause(attempt: int, draw: float) -> float:
    """Seconds to wait after the given failure (counted from 1) of one request while others succeed: doubled each time
    up to LONGEST_WAIT. draw: uniform in [0, 1), spreads requests that failed at the same moment.
    """
    return min(FIRST_WAIT * 2.0 ** min(attempt - 1, 30), LONGEST_WAIT) * (0.5 + 0.5 * draw)


ASK_TRIES = 5  # refusals of one request before its game goes on without an answer
# Answers in a row without a word after which a model is not asked again: at first, and once one had words.
FIRST_WORDLESS, MOST_WORDLESS = 8, 20
PLAYER_TRIES = 10  # refusals in a row for a player that was answered before; one that never was is refused at once


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

    async def troubled(self, trouble: Trouble, own: History, standing: Standing, sent: Turn) -> None:
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
