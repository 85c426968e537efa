"""How many requests a second a host takes, learned from its complaints (429).

There is no rate until the first complaint; then it is what the host took in its busiest second. After a short pause the
rate was about right: the limit is what was just too much. After a long one, the host took a share of what would have
been sent without it, and that share of the rate is the limit, whatever the host counts by: windows of a minute, or a
bucket that fills. The rate is set a little below the limit and rises again while it holds requests back: slowly around
the limit, faster away from it.
"""

from __future__ import annotations

FALL = 0.96  # of the limit
DEEPEST = 0.25  # of the rate, for one complaint
SLOWEST = 1.0  # requests a second; below this, the pauses alone set the pace
SLACK = 0.05  # seconds by which requests may be late and still be made up for
SHORT = 2.0  # seconds of a pause
_BUSIEST = 1.0  # seconds
_CREEP, _CLIMB = 0.004, 0.03  # growth a second near the limit, and away from it


class SendRate:
    """Of one host. Times are seconds, monotonic."""

    def __init__(self) -> None:
        self.per_second: float | None = None
        self._limit = 0.0
        self._next = 0.0  # when the next request is due
        self._grew_at = 0.0
        self._cycle = Cycle()
        self._ended: Cycle | None = None  # the cycle before, until all its complaints have come
        self._second, self._busy, self._busiest = 0.0, 0, 0  # only until the first complaint

    def wait(self, now: float) -> float:
        """Seconds until a request is due."""
        return self._next - now if self.per_second is not None else 0.0

    def sent(self, now: float, held: bool) -> Cycle:
        """A request is sent. held: whether it had to wait for the rate. Returns its cycle."""
        self._settle(now)
        if self.per_second is None:
            if now - self._second > _BUSIEST:
                self._second, self._busy, self._busiest = now, 0, self._busy
            self._busy += 1
        else:
            if held:
                self._grow(now)
            self._next = max(self._next, now - SLACK) + 1 / self.per_second
        self._cycle.sent += 1
        return self._cycle

    def refused(self, cycle: Cycle) -> None:
        """A request of this cycle came too early."""
        cycle.refused += 1

    def not_taken(self, cycle: Cycle) -> None:
        """A request of this cycle was refused, perhaps for another reason: it tells no rate."""
        cycle.sent -= 1
        self._busy = max(self._busy - 1, 0)

    def complained(self) -> None:
        """A complaint that says something new: the cycle ends."""
        self._ended, self._cycle = self._cycle, Cycle()

    def paused(self, now: float, until: float) -> None:
        """Nothing is sent until then."""
        self._cycle.paused += until - max(now, self._cycle.paused_until)
        self._cycle.paused_until = until
        self._next = max(self._next, until)

    def _grow(self, now: float) -> None:
        assert self.per_second is not None
        nearness = self.per_second / self._limit
        speed = _CREEP if 0.97 < nearness < 1.05 else _CLIMB * min(max(nearness, 1.0), 4.0) ** 2
        self.per_second *= 1 + speed * min(now - self._grew_at, 1.0)
        self._grew_at = now

    def _settle(self, now: float) -> None:
        """Set the rate by the cycle that ended."""
        ended, self._ended = self._ended, None
        if ended is not None:
            if self.per_second is None:
                took = max(self._busy - ended.refused, self._busiest) / _BUSIEST
            else:
                took = self.per_second * max(ended.share, DEEPEST)
            self._limit = max(took, SLOWEST)
            self.per_second = self._cycle.rate = FALL * self._limit
            self._next, self._grew_at = max(self._next, now), now


class Cycle:
    """From one complaint to the next. sent: requests, of which some were refused; paused: seconds, at a rate."""

    __slots__ = ("paused", "paused_until", "rate", "refused", "sent")

    def __init__(self) -> None:
        self.sent = self.refused = 0
        self.paused = self.paused_until = self.rate = 0.0

    @property
    def share(self) -> float:
        """What the host took of what would have been sent without a pause; 1 for a short one."""
        if self.paused <= SHORT:
            return 1.0
        return (self.sent - self.refused) / max(self.sent + self.paused * self.rate, 1.0)
