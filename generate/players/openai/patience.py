"""How long an endpoint is waited for: what becomes of a request that was not answered, and of its run.

There is no fixed number of attempts. A rate limit or an outage is waited out for as long as the run's patience lasts;
then the run pauses, and no game has failed. Only refusals, which would come again, are counted.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from liescope.common.errors import EndpointRefused, EndpointSilent, PlayerFailed
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.openai.pace import Pace, RequestTurn
from liescope.generate.players.openai.spec import Key
from liescope.generate.players.openai.verdict import Refusal, Scope, Trouble
from liescope.generate.players.player_protocol import Halt

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
    """How one model is doing at an endpoint, or one request to it. Times are `time.monotonic`.

    answered_at: the last answer; since: the first failure after it; failures, refusals: in a row; wordless: answers in
    a row without a word; spoke: whether one had words.
    """

    answered_at: float | None = None
    since: float | None = None
    failures: int = 0
    refusals: int = 0
    wordless: int = 0
    spoke: bool = False

    def answered(self) -> None:
        self.answered_at, self.since, self.refusals = time.monotonic(), None, 0

    def failing_for(self) -> float:
        """Seconds since the first failure, which may be this one."""
        now = time.monotonic()
        self.since = now if self.since is None else self.since
        return now - self.since


class Patience:
    """Of one endpoint. seconds: without an answer after which it is given up."""

    def __init__(self, base_url: str, key: Key, pace: Pace, halt: Halt, seconds: float) -> None:
        self._base_url = base_url
        self._key = key
        self._pace = pace
        self._halt = halt
        self._seconds = seconds
        self._models: dict[str, Trials] = {}

    def of(self, model: str) -> Trials:
        """How a model is doing."""
        return self._models.setdefault(model, Trials())

    def no_use(self, refusal: Refusal) -> EndpointRefused:
        """The error that says what to do about a refusal of every request."""
        check = "name the variable that holds its key with ?key_env=VARIABLE"
        if self._key.variable:
            check = f"check the environment variable {self._key.variable}"
        return EndpointRefused(f"{self._base_url}: {refusal.problem}; {refusal.advice or check}")

    def read(self, answer: Completion, model: Trials) -> None:
        """An answer came. Raises EndpointRefused if it is one of many in a row without a word: they are paid for, and
        the rules would have to replace every one.
        """
        model.answered()
        model.wordless = model.wordless + 1 if answer.wordless else 0
        model.spoke = model.spoke or not answer.wordless
        if model.wordless >= (MOST_WORDLESS if model.spoke else FIRST_WORDLESS):
            raise EndpointRefused(
                f"{self._base_url}: {model.wordless} answers in a row hold no word; {answer.wordless}"
            )

    async def refused(self, refusal: Refusal, own: Trials, model: Trials) -> None:
        """Wait before sending the request again, or raise. own: of this request."""
        own.refusals += 1
        if refusal.scope is Scope.PLAYER:
            model.refusals += 1
            if model.answered_at is None or model.refusals >= PLAYER_TRIES:
                raise self.no_use(refusal)
        elif own.refusals >= ASK_TRIES:
            raise PlayerFailed(refusal.problem)
        await self._halt.sleep(pause(own.refusals))

    async def troubled(self, trouble: Trouble, own: Trials, model: Trials, turn: RequestTurn) -> None:
        """Notify the pace and wait before sending the request again; raise if patience has run out."""
        if (silence := model.failing_for()) >= self._seconds:
            silent = EndpointSilent(
                f"{self._base_url} has given no answer for {silence:.0f} s; the last time, {trouble.problem} "
                "(--give-up-after says how long to wait)",
                self._pace.host,
            )
            self._pace.give_up(silent)
            raise silent
        if trouble.limited:
            self._pace.limited(turn, trouble.asked, trouble.problem)
            return
        self._pace.failed(turn, trouble.asked, trouble.problem, trouble.overloaded)
        if (alone := own.failing_for()) >= self._seconds and model.answered_at is not None:
            raise PlayerFailed(f"no answer to one request in {alone:.0f} s: {trouble.problem}")
        if not self._pace.down:
            own.failures += 1
            await self._halt.sleep(pause(own.failures))
