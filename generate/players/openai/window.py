"""How many requests may be in flight at one host, found by trying.

The window starts small and doubles for as long as that pays: by Little's law a host answers (requests in flight /
latency) a second, so when twice the requests take twice the time, nothing was gained and the window goes back. From
then on it is tried a little larger and, if requests seem to queue, a little smaller. Latencies are compared within a
model and kind of ask, as logarithms, over as many answers as their spread demands; they never take the window below
its first size, so that no noise can make it collapse. Requests that time out do not either. A host that says that a
request was one too many at once does: then it takes one less than were in flight.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable

FIRST = 16  # requests in flight at the start
PAYS = 0.25  # share of a growth that must come back as answers a second
STEP, CAREFUL = 1.25, 1.05  # growth once latency, or the host's own words, showed a limit
FALL = 0.75  # of a window in which requests time out
HOLD = 20.0  # seconds between two trials
QUEUES = math.log(1.3)  # latency over the usual one from which requests seem to queue
_NEARLY = 0.9  # full: requests sent into an emptier window say nothing about its size
_SURE, _SURER = 0.15, 0.05  # standard error of a mean logarithm, for a doubling and for a step
_LEAST, _MOST = 8, 16  # answers that judge a size: at least, and at most for each request in flight
_KNOWN = 16  # answers from which a model and kind's usual latency is taken


class Window:
    """ceiling: the largest size. clock: seconds, monotonic."""

    def __init__(self, ceiling: int, clock: Callable[[], float]) -> None:
        self.size = min(FIRST, ceiling)
        self._least, self._ceiling = self.size, ceiling
        self._clock = clock
        self._usual: dict[Hashable, _Mean] = defaultdict(_Mean)
        self._since = clock()  # when this size was set: answers to earlier requests say nothing about it
        self._slower = _Mean()  # logarithms of the latencies at this size, over the usual ones
        self._full = False  # whether a request had to wait for room at this size
        self._base = self.size  # the size that a trial is compared with
        self._answers = 0.0  # a second at that size, in units of the usual latency
        self._step = 2.0
        self._hold_until = 0.0
        self._down = False  # whether the next trial is a smaller size

    def wanted(self) -> None:
        """A request has to wait for room."""
        self._full = True

    def answered(self, kind: Hashable, sent_at: float, in_flight: int, seconds: float) -> None:
        """A request was answered. kind: what its latency may be compared with (a model and kind of ask); in_flight:
        requests under way when it was sent, with it.
        """
        latency, usual = math.log(max(seconds, 1e-6)), self._usual[kind]
        if usual.count < _KNOWN:
            usual.add(latency)
        if sent_at >= self._since and in_flight > _NEARLY * self.size:
            self._slower.add(latency - usual.value)
            if self._full and self._sure():
                self._judge()

    def crowded(self, in_flight: int) -> None:
        """The host said that a request was one too many at once."""
        if in_flight <= self.size:
            self._shrink(max(in_flight - 1, 1), CAREFUL)

    def freed(self, size: int) -> None:
        """What `crowded` was told was wrong; size: before."""
        self._step = 2.0
        self._base, self._answers = max(size, self.size), 0.0
        self._resize(self._base)

    def overloaded(self, sent_at: float) -> None:
        """A request timed out, perhaps because there were too many; of one round, only the first says so."""
        if sent_at >= self._since:
            self._shrink(max(int(FALL * self.size), min(self._least, self.size)), STEP)

    def _sure(self) -> bool:
        count = self._slower.count
        enough = self._slower.error <= (_SURE if self._step > STEP else _SURER)
        return count >= max(_LEAST, self.size // 4) and (enough or count >= _MOST * self.size)

    def _judge(self) -> None:
        """End a trial with the better of two sizes, or begin the next."""
        answers = self.size / math.exp(self._slower.value)
        if self.size == self._base:
            self._answers = answers
        else:
            grown = self.size > self._base
            more, fewer = (answers, self._answers) if grown else (self._answers, answers)
            growth = max(self.size / self._base, self._base / self.size)
            better = (more >= fewer * (1 + PAYS * (growth - 1))) == grown
            if not better:
                self._step = min(self._step, STEP)
                self._down = grown
                self._resize(self._base, HOLD)
                return
            self._base, self._answers = self.size, answers
        if self._clock() >= self._hold_until:
            self._try()

    def _try(self) -> None:
        if self._down and self._slower.value > QUEUES:
            size = max(int(self.size / self._step), min(self._least, self.size))
        else:
            size = min(max(int(self.size * self._step), self.size + 1), self._ceiling)
        self._down = False
        if size != self.size:
            self._resize(size)

    def _shrink(self, size: int, step: float) -> None:
        self._base, self._answers, self._step, self._down = size, 0.0, step, False
        self._resize(size, HOLD)

    def _resize(self, size: int, hold: float = 0.0) -> None:
        self.size, self._since = size, self._clock()
        self._hold_until = self._since + hold
        self._slower, self._full = _Mean(), False


class _Mean:
    """A running mean."""

    def __init__(self) -> None:
        self.count, self.value, self._squares = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        self.count += 1
        off = value - self.value
        self.value += off / self.count
        self._squares += off * (value - self.value)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return math.sqrt(self._squares / (self.count - 1) / self.count) if self.count > 1 else math.inf
