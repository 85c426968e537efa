"""How many requests may be in flight at one host, found by trying.

The window starts small and doubles for as long as that pays: by Little's law a host answers (requests in flight /
latency) a second, so when twice the requests take twice the time, nothing was gained and the window goes back. From
then on it is tried a little larger now and again. Latencies are compared within a model and kind of ask, as logarithms
and over many answers, and they can only stop the growth: a noisy latency never makes the window smaller than a size
that paid. Refusals because of too many requests at once do, and requests that time out (multiplicative decrease).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable

FIRST = 16  # requests in flight at the start; latency and faults alone never take the window below
PAYS = 0.25  # share of a growth that must come back as answers a second
STEP = 1.25  # growth once the limit was found
FALL = 0.75  # of the requests in flight that were too many
HOLD = 20.0  # seconds before a limit that was found is tried again
_LEAST = 8  # answers that are needed to judge a size
_KNOWN = 16  # answers from which a model and kind's usual latency is taken


class Window:
    """ceiling: the largest size. clock: seconds, monotonic."""

    def __init__(self, ceiling: int, clock: Callable[[], float]) -> None:
        self.size = min(FIRST, ceiling)
        self._ceiling = ceiling
        self._clock = clock
        self._usual: dict[Hashable, _Mean] = defaultdict(_Mean)
        self._since = clock()  # when this size was set: answers to earlier requests say nothing about it
        self._slower = _Mean()  # logarithms of the latencies at this size, over the usual ones
        self._full = False  # whether a request had to wait for room at this size
        self._paid = self.size  # the last size that paid
        self._answers = 0.0  # answers a second at that size, in units of the usual latency
        self._step = 2.0
        self._hold_until = 0.0

    def wanted(self) -> None:
        """A request has to wait for room."""
        self._full = True

    def answered(self, kind: Hashable, sent_at: float, seconds: float) -> None:
        """A request was answered. kind: what its latency may be compared with (a model and kind of ask)."""
        latency, usual = math.log(max(seconds, 1e-6)), self._usual[kind]
        if usual.count < _KNOWN:
            usual.add(latency)
        if sent_at >= self._since:
            self._slower.add(latency - usual.value)
            if self._full and self._slower.count >= max(_LEAST, self.size // 4):
                self._judge()

    def overloaded(self, in_flight: int, sent_at: float, crowded: bool) -> None:
        """There were too many requests in flight; of one round, only the first says so. crowded: in the host's own
        words, so that the window may become as small as it takes.
        """
        if sent_at >= self._since:
            size = max(int(FALL * min(in_flight, self.size)), 1 if crowded else min(FIRST, self._ceiling))
            self._paid, self._answers, self._step = size, 0.0, STEP if size > 4 else 2.0
            self._resize(min(size, self.size), HOLD / 4)

    def _judge(self) -> None:
        """Grow, or go back to the size that paid."""
        answers = self.size / math.exp(self._slower.value)
        if self.size > self._paid and answers < self._answers * (1 + PAYS * (self.size / self._paid - 1)):
            self._step = STEP
            self._resize(self._paid, HOLD)
            return
        self._paid, self._answers = self.size, answers
        if self._clock() >= self._hold_until:
            self._resize(min(max(int(self.size * self._step), self.size + 1), self._ceiling))
        else:
            self._slower = _Mean()

    def _resize(self, size: int, hold: float = 0.0) -> None:
        self.size, self._since = size, self._clock()
        self._hold_until = self._since + hold
        self._slower, self._full = _Mean(), False


class _Mean:
    """A running mean."""

    def __init__(self) -> None:
        self.count, self.value = 0, 0.0

    def add(self, value: float) -> None:
        self.count += 1
        self.value += (value - self.value) / self.count
