"""Which game begins next: one whose endpoints have room, so that a slow or dead endpoint holds no others.

A game is begun when every endpoint that it needs could take another request. So there are only as many games under way
as the endpoints can serve, whatever the plan's order, and a game that was begun goes on soon. Chains of games that need
a busy endpoint stand aside until it has room.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from liescope.generate.players.activity import Activity
from liescope.generate.runs.plan import PlannedGame

MOST_ASIDE = 10_000  # chains that stand aside; they are not begun and hold only their plan
_QUEUE = 0.1  # of the requests that may be under way: those that wait, so that none of the room stays empty


class Scheduler:
    """The chains of a job, given out one at a time.

    hosts: of a game, "" for one that needs none; known: all of them; activity: of the hosts; most: chains under way at
    once for each host.
    """

    def __init__(
        self,
        chains: Iterator[Sequence[PlannedGame]],
        hosts: Callable[[PlannedGame], Iterable[str]],
        known: Collection[str],
        activity: Activity,
        most: int,
    ) -> None:
        self._chains = chains
        self._hosts = hosts
        self._known = known
        self._activity = activity
        self._most = most
        self._aside: dict[frozenset[str], deque[Sequence[PlannedGame]]] = {}
        self._under_way: Counter[str] = Counter()  # chains by host
        self._starting: Counter[str] = Counter()  # chains given out since the last look at the hosts' figures
        self._left = True
        self.gone: set[str] = set()  # hosts that were given up: no game that needs one is begun

    @property
    def empty(self) -> bool:
        """Whether no chain is under way."""
        return not any(self._under_way.values())

    def look(self) -> None:
        """The hosts' figures show by now what was given out before."""
        self._starting.clear()

    def next(self) -> tuple[Sequence[PlannedGame], frozenset[str]] | None:
        """A chain that may begin, and the hosts that it needs; None if there is none now."""
        for hosts, waiting in self._aside.items():
            if waiting and all(map(self._room, hosts)):
                return self._begin(waiting.popleft(), hosts)
        while self._left and self._look_further():
            chain = next(self._chains, None)
            if chain is None:
                self._left = False
                break
            hosts = frozenset(self._hosts(chain[0]))
            hosts = hosts - {""} or hosts
            if all(map(self._room, hosts)):
                return self._begin(chain, hosts)
            self._aside.setdefault(hosts, deque()).append(chain)
        return None

    def ended(self, hosts: frozenset[str]) -> None:
        """A chain with these hosts ended."""
        self._under_way.subtract(hosts)

    def _begin(
        self, chain: Sequence[PlannedGame], hosts: frozenset[str]
    ) -> tuple[Sequence[PlannedGame], frozenset[str]]:
        self._under_way.update(hosts)
        self._starting.update(hosts)
        return chain, hosts

    def _look_further(self) -> bool:
        """Whether there may be a chain that could begin, and place to keep those that cannot."""
        return sum(map(len, self._aside.values())) < MOST_ASIDE and any(map(self._room, self._known))

    def _room(self, host: str) -> bool:
        """Whether a game that needs the host may begin. A host that is down gets one game, which finds out when it is
        back.
        """
        games = self._under_way[host]
        if games == 0 or not host:
            return host not in self.gone and games < self._most
        known = self._activity.at(host)
        if host in self.gone or known.paused or games >= self._most:
            return False
        busy = known.under_way + known.queued + self._starting[host]
        return known.limit is None or busy < known.limit * (1 + _QUEUE) + 1
