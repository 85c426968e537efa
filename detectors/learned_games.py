"""What a detector has learned from, by the words alone: so that a copy of a game under another id is known.

Of each statement of five words or more only a hash of its words is kept, names masked, so that nothing can be read.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Self

from liescope.common.errors import BadData
from liescope.common.reading import Reading
from liescope.detectors.examples import Example
from liescope.detectors.textualize import TextConfig, textualize

_SHORT = 5  # shorter statements repeat by nature
_COMMON = 20  # games beyond which a statement says nothing about which game was copied
_SAME = 3  # statements that a copy shares at least
_LARGEST = 2**28
_LINE = re.compile(r"([0-9a-f]{16}( [0-9a-f]{16})*)?")
_WORD = re.compile(r"\w+")
_ADVICE = "train the detector again"


@dataclass(frozen=True, slots=True)
class LearnedGames:
    """By game, the hashes of its statements."""

    games: tuple[frozenset[str], ...] = ()

    @classmethod
    def of(cls, examples: Iterable[Example]) -> Self:
        """The games of some statements."""
        return cls(tuple(_hashes(examples).values()))

    def copied(self, examples: Sequence[Example]) -> list[str]:
        """The games of some statements that share half of these or more, and at least three, with one learned game."""
        holding: dict[str, list[int]] = defaultdict(list)
        for number, game in enumerate(self.games):
            for one in game:
                holding[one].append(number)
        found = []
        for name, said in _hashes(examples).items():
            shared = Counter(
                number for one in said if len(holding.get(one, ())) <= _COMMON for number in holding.get(one, ())
            )
            if shared and max(shared.values()) >= max(_SAME, len(said) / 2):
                found.append(name)
        return found

    def save(self, path: Path) -> None:
        """Write it as text, a line for each game."""
        lines = sorted(" ".join(sorted(game)) for game in self.games)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Raises BadData for what `save` never writes."""
        with Reading(path, _ADVICE):
            if path.stat().st_size > _LARGEST:
                raise BadData(f"{path} is larger than any list of games; it is not opened")
            lines = path.read_text(encoding="utf-8").splitlines()
            if not all(_LINE.fullmatch(line) for line in lines):
                raise ValueError("its lines are no hashes")
        return cls(tuple(frozenset(line.split()) for line in lines))


def _hashes(examples: Iterable[Example]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for example in examples:
        words = _WORD.findall(textualize(example, TextConfig()).casefold())
        own = found.setdefault(example.game_id, set())
        if len(words) >= _SHORT:
            own.add(blake2b(" ".join(words).encode(), digest_size=8).hexdigest())
    return {name: frozenset(own) for name, own in found.items()}
