"""How many requests may be in flight at one host, found by trying.

The window starts small and doubles for as long as that pays: by Little's law a host answers (requests in flight /
latency) a second, so when twice the requests take twice the time, nothing was gained and the window goes back. From
then on it is tried a little larger and, if requests seem to queue, a little smaller. Latencies are compared within a
model and kind of ask, as logarithms, over as many answers as their spread demands; they never take the window below
its first size, so that no noise can make it collapse. Requests that time out do not either. A host that says that a
request was one too many at once does: then it takes one less than were in flight.

Many hosts refuse such a request in the words of a rate limit (`CrowdLimit`).
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
TRIAL = 1.1  # seconds until one more than a crowd is sent: longer than the second by which hosts count
_NEARLY = 0.9  # full: requests sent into an emptier window say nothing about its size
_SURE, _SURER = 0.15, 0.05  # standard error of a mean logarithm, for a doubling and for a step
_LEAST, _MOST = 8, 16  # answers that judge a size: at least, and at most for each request in flight
_KNOWN = 16  # answers from which a model and kind's usual latency is taken
_SHOWN = 2  # refusals of one more than a crowd that show its limit, and answers that show that there is none


class Window:
    """ceiling: the largest size. clock: seconds, monotonic."""

    def __init__(self, ceiling: int, clock: Callable[[], float]) -> None:
        self.size = min(FIRST, ceiling)
        self.crowd = CrowdLimit()
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
        self._before = 0  # the size before it was made smaller for a crowd

    def wanted(self) -> None:
        """A request has to wait for room."""
        self._full = True

    def answered(self, kind: Hashable, sent_at: float, in_flight: int, seconds: float) -> None:
        """A request was answered. kind: what its latency may be compared with (a model and kind of ask); in_flight:
        requests under way when it was sent, with it.
        """
        if self.crowd.answered(in_flight, sent_at):
            self._no_crowd()
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

    def refused(self, in_flight: int, sent_at: float) -> bool:
        """Whether a refusal without a reason seems to say that too many were in flight; the window is set by it."""
        known = self.crowd.limit
        if not self.crowd.refused(in_flight, sent_at, self._clock()):
            if known is not None:
                self._no_crowd()
            return False
        assert self.crowd.limit is not None
        if known is None:
            self._before = self.size
        if self.size > self.crowd.limit:
            self.crowded(self.crowd.limit + 1)
        return True

    def overloaded(self, sent_at: float) -> None:
        """A request timed out, perhaps because there were too many; of one round, only the first says so."""
        if sent_at >= self._since:
            self._shrink(max(int(FALL * self.size), min(self._least, self.size)), STEP)

    def _no_crowd(self) -> None:
        """The refusals were about something else."""
        self._step = 2.0
        self._base, self._answers = max(self._before, self.size), 0.0
        self._resize(self._base)

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


class CrowdLimit:
    """Whether complaints (429) of one host are about too many requests at once, although it does not say so.

    They are first taken to mean that, where more were in flight than were ever answered at once, and it is put to the
    test: now and then one request more is sent. A host with a limit of its rate answers that one, or soon refuses
    requests with fewer in flight too. Either costs a few refusals, once.

    limit: the requests at once that it seems to take, None if that is unknown or no limit.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self._most = 0  # requests in flight at which one was answered
        self._lowest: int | None = None  # and at which one was refused, more than that
        self._since = 0.0  # when the limit was set, or was last met
        self._again = 0.0  # when one more is sent
        self._met = self._passed = 0  # refusals and answers of one more
        self._slack = 0  # how much lower a limit may turn out: a host may count a request a little longer
        self._other = False  # the complaints are about something else

    @property
    def sure(self) -> bool:
        """Whether the limit has been put to the test."""
        return self._met >= _SHOWN * (1 + self._passed)

    def trial(self, now: float) -> float | None:
        """Seconds until one request more than the limit should be sent, None for never."""
        return None if self.limit is None or self.sure else max(self._again - now, 0.0)

    def tried(self, now: float) -> None:
        """One more is sent."""
        self._again = now + TRIAL

    def answered(self, in_flight: int, sent_at: float) -> bool:
        """Whether an answer shows that there is no such limit. in_flight: requests under way when it was sent."""
        self._most = max(self._most, in_flight)
        if self.limit is None or in_flight <= self.limit or sent_at < self._since:
            return False
        if self.sure:  # it has grown
            self.limit = in_flight
            return False
        self._passed += 1
        if self._passed < _SHOWN:
            return False
        self.limit, self._other = None, True
        return True

    def stray(self, in_flight: int) -> None:
        """A request was refused, which may mean nothing."""
        if in_flight > self._most:
            self._lowest = in_flight if self._lowest is None else min(self._lowest, in_flight)

    def refused(self, in_flight: int, sent_at: float, now: float) -> bool:
        """Whether a refusal seems to say that too many were in flight."""
        if self._other:
            return False
        if self.limit is None:
            self.stray(in_flight)
            if in_flight <= self._most or self._lowest is None:
                return False
            self.limit = max(self._lowest - 1, 1)
            self._since, self._again, self._slack = now, now + TRIAL, self.limit // 4 + 1
            return True
        if sent_at >= self._since:
            self._since = now
            if in_flight > self.limit:
                self._met += 1
                return True
            self._slack -= 1
        if self._slack < 0 or in_flight == 1:
            self.limit, self._other = None, True
            return False
        self.limit = min(self.limit, max(in_flight - 1, 1))
        return True


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
