"""A few of the planned games, played by scripts under the same rules; every prompt is rendered as it would be sent."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, stdev

from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.session import Session

Answer = Callable[[Ask, Sequence[Event]], Reply]
Render = Callable[[Ask, Sequence[Event]], str]


@dataclass(slots=True)
class Asked:
    """The asks of one kind to the seats of one group: how many, and the characters of their prompts."""

    calls: int = 0
    characters: int = 0
    longest: int = 0


@dataclass(slots=True)
class Sample:
    """What was counted in some games. asked: by group of seats (a role, or all seats) and kind of ask; games: how many;
    batches: of each game, by group, the batches of asks that it takes part in; prompts: one by kind.
    """

    games: int = 0
    asked: defaultdict[str, defaultdict[AskKind, Asked]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(Asked))
    )
    batches: list[list[frozenset[str]]] = field(default_factory=list)
    prompts: dict[AskKind, str] = field(default_factory=dict)
    _characters: list[int] = field(default_factory=list)

    def play(self, session: Session, answer: Answer, render: Render, group: Callable[[str], str]) -> None:
        """Play one game and count its asks. group: of a seat."""
        batches, whole = list[frozenset[str]](), 0
        first = self.games == 0
        while session.asks:
            replies = []
            for ask in session.asks:
                view = session.game.view(ask.seat)
                prompt = render(ask, view)
                one = self.asked[group(ask.seat)][ask.kind]
                one.calls += 1
                one.characters += len(prompt)
                one.longest = max(one.longest, len(prompt))
                whole += len(prompt)
                if first or ask.kind not in self.prompts:
                    self.prompts[ask.kind] = prompt
                replies.append(answer(ask, view))
            batches.append(frozenset(group(ask.seat) for ask in session.asks))
            session.send(tuple(replies))
        self.games += 1
        self.batches.append(batches)
        self._characters.append(whole)

    @property
    def doubt(self) -> float:
        """Two standard errors of the characters of a game, as a share of them; a tenth from one game alone."""
        if len(self._characters) < 2 or not any(self._characters):
            return 0.1
        return 2.0 * stdev(self._characters) / fmean(self._characters) / math.sqrt(len(self._characters))

    def chain(self, groups: Iterable[str]) -> int:
        """The most batches of a game in which a seat of these groups is asked."""
        wanted = frozenset(groups)
        return max((sum(bool(batch & wanted) for batch in game) for game in self.batches), default=0)


def spread(count: int, most: int) -> list[int]:
    """Places spread evenly over so many, at most the given number of them."""
    wanted = min(count, most)
    return [place * count // wanted for place in range(wanted)]
