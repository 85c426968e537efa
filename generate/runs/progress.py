"""How far a run is: what its process counts, for the display, the summary and `status`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from liescope.common.errors import LiescopeError
from liescope.games.core import Event, EventKind, Phase
from liescope.games.record import GameRecord, Status
from liescope.generate.players.activity import Activity
from liescope.generate.players.protocol import EndpointFacts
from liescope.generate.runs.journal_reader import KindSpent


@dataclass(slots=True)
class RunProgress:
    """The state of a run. done, failed, winners, failures (by reason), fallbacks (by model), tokens and cost cover the
    whole run; before: the games that had ended earlier; playing: games under way; calls: replies since this process
    began; from_cache: how many of the replies were in the cache; unrated: measurements that could not be obtained
    since then; retried: failed games that were tried once more. kinds: what each kind of ask cost in the whole run;
    endpoints: what is known about them; both are set only at the end. activity: what goes on at each host. stop: why
    the run ended early.
    """

    planned: int
    done: int = 0
    failed: int = 0
    before: int = 0
    playing: int = 0
    calls: int = 0
    from_cache: int = 0
    unrated: int = 0
    retried: int = 0
    tokens: int = 0
    cost: float = 0.0
    winners: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    fallbacks: Counter[str] = field(default_factory=Counter)
    kinds: list[KindSpent] = field(default_factory=list)
    endpoints: tuple[EndpointFacts, ...] = ()
    activity: Activity = field(default_factory=Activity)
    stop: LiescopeError | None = None

    def add(self, game: GameRecord) -> None:
        """Count a game that ended."""
        if game.status is Status.DONE and game.outcome is not None:
            self.done += 1
            self.winners[game.outcome.winner] += 1
        else:
            self.failed += 1
            self.failures[game.failure] += 1
        self.fallbacks.update(_replaced(game))

    def take_back(self, game: GameRecord) -> None:
        """Undo the counting of a failed game that is being retried."""
        self.failed -= 1
        self.failures = self.failures - Counter([game.failure])
        self.fallbacks = self.fallbacks - _replaced(game)


def _replaced(game: GameRecord) -> Counter[str]:
    """The number of unusable replies by model: from the players, or from the judge if the game was judged. An explained
    vote is one reply, though it becomes a vote and a silence.
    """
    models = {seat.name: seat.model for seat in game.seats}
    judged = "judge" in game.meta
    replies = {
        (event.actor, event.day, event.phase, event.round, event.about, _as_vote(event)): event.data.get("judge")
        for event in game.events
        if event.fallback and event.actor and ("judge" in event.data) == judged
    }
    return Counter(judge or models[actor] for (actor, *_), judge in replies.items())


def _as_vote(event: Event) -> EventKind:
    return EventKind.VOTE if event.phase is Phase.VOTING and event.kind is EventKind.SILENCE else event.kind
