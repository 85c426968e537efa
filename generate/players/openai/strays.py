"""Whether a complaint (429) is about the rate of requests, or one of the few that a busy host sends at any rate.

Hosts that shed load refuse a few requests in a hundred at random. Slowing down for those would be endless: each
complaint lowers the rate, and no rate prevents the next. A limit that is reached refuses many, or several in a row.
Once a rate was learned, every complaint counts again: a host that refuses three in a hundred may teach one by chance.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

# Refusals are strays up to this share of the last _LAST requests, and below this number of the last _ROW.
SHARE, ROW = 0.1, 4
_LAST, _ROW = 100, 10


class Strays:
    """The last outcomes at one host, the newest first."""

    def __init__(self) -> None:
        self._refused: deque[bool] = deque(maxlen=_LAST)

    def answered(self) -> None:
        self._refused.appendleft(False)

    def refused(self) -> bool:
        """Whether this refusal is a stray."""
        self._refused.appendleft(True)
        row = sum(islice(self._refused, _ROW))
        return row < ROW and sum(self._refused) <= max(ROW - 1, SHARE * len(self._refused))
