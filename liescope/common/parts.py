"""Shares of one job for several processes or machines: the K-th of N."""

from __future__ import annotations

import re
from dataclasses import dataclass

from liescope.common.errors import UsageError

_WRITTEN = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Part:
    """number: from 1 to `of`."""

    number: int
    of: int

    @classmethod
    def read(cls, words: str) -> Part:
        """The part that is written as K/N. Raises UsageError for anything else."""
        found = _WRITTEN.fullmatch(words)
        if found is None or int(found[1]) > int(found[2]):
            raise UsageError(f"--part takes K/N, the K-th of N shares, as in 1/4; got {words!r}")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def share(self, total: int) -> range:
        """The part's indices among `total` things: a contiguous range; parts differ in size by one at most."""
        return range((self.number - 1) * total // self.of, self.number * total // self.of)
