"""How far a run is: what its process counts, for the display and the summary, and as `status.json` holds it."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, ValidationError

from liescope.common.errors import BadData, LiescopeError
from liescope.common.reading import read_bytes
from liescope.games.core import Event, EventKind, Phase
from liescope.games.record import GameRecord, Status
from liescope.generate.players.activity import Activity
from liescope.generate.players.protocol import EndpointFacts
from liescope.generate.runs.folder import write_whole
from liescope.generate.runs.journal_reader import KindSpent

STATE_FILE = "status.json"
NUMBERS = (
    "planned",
    "done",
    "failed",
    "before",
    "playing",
    "calls",
    "from_cache",
    "unrated",
    "retried",
    "tokens",
    "cost",
)
COUNTERS = ("winners", "failures", "fallbacks")
Counts = dict[str, NonNegativeInt]


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

    def counts(self) -> dict[str, Any]:
        """All counts as plain JSON data, the most frequent first."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        counters = {name: dict(getattr(self, name).most_common()) for name in COUNTERS}
        return {**numbers, **counters, "hosts": self.activity.to_json()}

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


class _State(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class HostState(_State):
    """One endpoint's host; the fields are those of `HostActivity`. waits: seconds until it is asked again."""

    under_way: NonNegativeInt
    limit: NonNegativeInt | None
    answers: NonNegativeInt
    per_second: NonNegativeFloat
    tokens: NonNegativeInt
    cached_tokens: NonNegativeInt
    cost: NonNegativeFloat
    limited: NonNegativeInt
    retries: Counts
    waits: NonNegativeFloat
    waits_because: str
    paused: bool


class RunState(_State):
    """The state of a run; the counts are those of `RunProgress`.

    command: "play" or "label"; at: when this was written, seconds since 1970 (UTC); seconds: since the process began;
    ended: whether it has ended; stopped: why it ended early, or "".
    """

    command: str
    at: NonNegativeFloat
    seconds: NonNegativeFloat
    ended: bool
    stopped: str
    currency: str
    planned: NonNegativeInt
    done: NonNegativeInt
    failed: NonNegativeInt
    before: NonNegativeInt
    playing: NonNegativeInt
    calls: NonNegativeInt
    from_cache: NonNegativeInt = 0
    unrated: NonNegativeInt
    tokens: NonNegativeInt
    cost: NonNegativeFloat
    winners: Counts
    failures: Counts
    fallbacks: Counts
    hosts: dict[str, HostState]

    @property
    def left(self) -> float | None:
        """Estimated seconds until all games have ended, from those that did since the start; None before the first."""
        ended = self.done + self.failed
        if ended <= self.before or ended >= self.planned:
            return None
        return self.seconds / (ended - self.before) * (self.planned - ended)

    def write(self, folder: Path) -> None:
        """Replace the state in a run's folder; without space for it the run goes on."""
        with suppress(OSError):
            write_whole(folder / STATE_FILE, self.model_dump_json(indent=1) + "\n")


def state_of(progress: RunProgress, command: str, seconds: float, currency: str, ended: bool = False) -> RunState:
    """The state that a progress describes."""
    return RunState(
        command=command,
        at=time.time(),
        seconds=seconds,
        ended=ended,
        stopped="" if progress.stop is None else str(progress.stop),
        currency=currency,
        **progress.counts(),
    )


def read_state(folder: Path) -> RunState | None:
    """The last state written into a run's folder; None if there is none. Raises BadData for a damaged file."""
    file = folder / STATE_FILE
    try:
        return RunState.model_validate_json(read_bytes(file))
    except FileNotFoundError:
        return None
    except (ValidationError, OSError) as error:
        raise BadData(f"{file} cannot be read ({type(error).__name__}); delete it, the run loses nothing") from None
