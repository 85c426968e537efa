"""Whether complaints (429) without a reason are about too many requests at once.

Many servers and gateways take so many requests at once and refuse any other in the words of a rate limit. So complaints
are first taken to mean that, where more were in flight than were ever answered at once, and it is put to the test: now
and then one request more is sent. A host with a limit of its rate answers that one, or soon refuses requests with fewer
in flight too. Either costs a few refusals, once.
"""

from __future__ import annotations

TRIAL = 1.1  # seconds until one more is sent: longer than the second by which hosts count
_SURE = 2  # refusals of one more that show the limit, and answers that show that there is none
_SLACK = (
    4  # a limit may turn out lower by this share of it, and by one, since a host may count a request a little longer
)


class Crowd:
    """What is known of one host. limit: the requests at once that it seems to take, None if that is unknown or no
    limit.
    """

    def __init__(self) -> None:
        self.limit: int | None = None
        self._most = 0  # requests in flight at which one was answered
        self._lowest: int | None = None  # and at which one was refused, more than that
        self._since = 0.0  # when the limit was set, or was last met
        self._again = 0.0  # when one more is sent
        self._met = self._passed = 0  # refusals and answers of one more
        self._slack = 0
        self._other = False  # the complaints are about something else

    @property
    def sure(self) -> bool:
        """Whether the limit has been put to the test."""
        return self._met >= _SURE * (1 + self._passed)

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
        if self._passed < _SURE:
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
            self._since, self._again, self._slack = now, now + TRIAL, self.limit // _SLACK + 1
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
