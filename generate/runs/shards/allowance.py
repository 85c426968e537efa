"""The part of a run's budget that a worker may spend. It grows while the worker spends, as long as anything is left."""

from __future__ import annotations

import threading
from collections.abc import Callable

from liescope.generate.players.openai.budget import Budget
from liescope.generate.players.protocol import PlayerContext


class Allowance(Budget):
    """A budget whose limits another thread raises. ask: called when it is used up; then the worker waits for an answer.

    Raises BudgetSpent from `check` once an answer has not raised it.
    """

    def __init__(self, context: PlayerContext, ask: Callable[[], None]) -> None:
        super().__init__(context)
        self._ask = ask
        self._answered = threading.Condition()
        self._answers = 0

    def allow(self, tokens: float | None, cost: float | None) -> None:
        """Set the limits, for what this worker has spent in all."""
        with self._answered:
            self._max_tokens, self._max_cost = tokens, cost
            self._answers += 1
            self._answered.notify_all()

    @property
    def used_up(self) -> bool:
        spent = ((self.tokens, self._max_tokens), (self.cost, self._max_cost))
        return any(limit is not None and one >= limit for one, limit in spent)

    def check(self) -> None:
        if self.used_up:
            with self._answered:
                seen = self._answers
                self._ask()
                # The next answer may have been on its way already when this was used up; the one after it was not.
                self._answered.wait_for(lambda: not self.used_up or self._answers >= seen + 2)
        super().check()
