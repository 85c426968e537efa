"""A circuit breaker: a host that fails many times in a row is down, and is then tried at growing intervals."""

from __future__ import annotations

OUTAGE = 8  # failures in a row after which a host is considered down
FIRST_PROBE, LONGEST_PROBE = 0.5, 10.0  # seconds between two attempts at a host that is down


class Breaker:
    """Of one host."""

    def __init__(self) -> None:
        self._row = 0  # failures in a row
        self._probes = 0  # failed attempts at a host that is down

    @property
    def open(self) -> bool:
        """Whether the host is considered down."""
        return self._row >= OUTAGE

    def answered(self) -> None:
        """The host answered, were it with a refusal."""
        self._row = self._probes = 0

    def failed(self, probe: bool) -> float | None:
        """No usable answer came. probe: whether the request was sent after the last pause. Returns the seconds until
        the next attempt if the host is down.
        """
        self._row += 1
        if not (self.open and probe):
            return None
        self._probes += 1
        return min(FIRST_PROBE * 2.0 ** min(self._probes - 1, 10), LONGEST_PROBE)
