"""The player protocol, what a player is given when it is opened, and the activity at each host that it asks."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from liescope.common.errors import RunPaused
from liescope.games.core import Ask, Event, Reply
from liescope.games.record import Source
from liescope.generate.players.prompts.render import Templates
from liescope.generate.players.reply_cache import ReplyCache
from liescope.generate.players.run_limits import Budget, Limits

_RECENT = 100  # answers over which a rate is averaged


@dataclass(slots=True)
class HostActivity:
    """One host, since this process began.

    under_way: requests sent but not yet answered; queued: requests that wait for their turn; limit: how many may be
    under way, as found so far; answers, tokens (prompts and completions), cached_tokens (of prompts), cost, saved (by
    the cached ones): of the requests that ended; limited: refusals because of a rate limit; retries: by reason, how
    many requests had to be sent again; wait: until when (`time.monotonic`) nothing is sent, and why; paused: whether
    the host is considered down; noted: what a reader of the games should know of how a model is asked, by model and
    matter; answered_at: when the last answers came (`time.monotonic`).
    """

    under_way: int = 0
    queued: int = 0
    limit: int | None = None
    answers: int = 0
    tokens: int = 0
    cached_tokens: int = 0
    cost: float = 0.0
    saved: float = 0.0
    limited: int = 0
    retries: Counter[str] = field(default_factory=Counter)
    wait: tuple[float, str] | None = None
    paused: bool = False
    noted: dict[tuple[str, str], str] = field(default_factory=dict)
    answered_at: deque[float] = field(default_factory=lambda: deque(maxlen=_RECENT))

    def count(self, attempt: Attempt) -> None:
        """Add a request that ended."""
        self.tokens += (attempt.prompt_tokens or 0) + (attempt.completion_tokens or 0)
        self.cached_tokens += attempt.cached_tokens or 0
        self.cost += attempt.cost or 0.0
        if not attempt.problem:
            self.answers += 1
            self.answered_at.append(time.monotonic())

    @property
    def waits(self) -> float:
        """Seconds for which nothing will be sent."""
        return 0.0 if self.wait is None else round(max(self.wait[0] - time.monotonic(), 0.0), 1)

    @property
    def waits_because(self) -> str:
        return self.wait[1] if self.wait is not None and self.waits else ""

    @property
    def per_second(self) -> float:
        """Answers a second, over the last of them."""
        since = time.monotonic() - self.answered_at[0] if self.answered_at else 0.0
        return round(len(self.answered_at) / max(since, 0.1), 3)

    @property
    def notes(self) -> list[str]:
        return list(self.noted.values())


@dataclass(slots=True)
class Activity:
    """hosts: by name, in the order of their first request."""

    hosts: dict[str, HostActivity] = field(default_factory=dict)

    def at(self, host: str) -> HostActivity:
        """The host's figures, made on first use."""
        return self.hosts.setdefault(host, HostActivity())

    @property
    def retries(self) -> Counter[str]:
        """By reason, of all hosts."""
        return sum((host.retries for host in self.hosts.values()), Counter[str]())


T = TypeVar("T")


class Shared:
    """What the players of a run share (clients, limits, the budget): made by the first that needs it, and found by the
    rest through its type and key.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[type, Hashable], object] = {}

    def once(self, kind: type[T], make: Callable[[], T], key: Hashable = None) -> T:
        """The object of this type and key, made by `make` on first use."""
        if (kind, key) not in self._made:
            self._made[kind, key] = make()
        found = self._made[kind, key]
        assert isinstance(found, kind)
        return found

    def drop(self, kind: type, key: Hashable = None) -> None:
        """Forget an object that was closed."""
        self._made.pop((kind, key), None)


class Halt:
    """Signals that the run is ending: requests in flight may complete, and no new ones are sent."""

    def __init__(self) -> None:
        self.error: RunPaused | None = None
        self._set = asyncio.Event()

    def set(self, error: RunPaused) -> None:
        """End the run for this reason; the first reason counts."""
        if self.error is None:
            self.error = error
            self._set.set()

    def check(self) -> None:
        """Raises the reason why the run is ending, if it is."""
        if self.error is not None:
            raise self.error

    async def sleep(self, seconds: float) -> None:
        """Wait; raises the reason as soon as the run is ending."""
        self.check()
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._set.wait()
        except TimeoutError:
            return
        self.check()


VIA_CACHE = "cache"
CUT_PROMPT = "prompt cut by the server"
"""The note of a reply to a prompt that its server did not read whole."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that a player made for an ask, successful or not. attempt counts from 1; cost is in the currency of
    the prices given; anything the endpoint does not report is None. problem: "", or why this attempt gave no reply.
    request: the JSON body that was sent (messages and parameters, no secret); response_id and served_model: what the
    endpoint reports about its answer; host: where it was sent, "" for players that ask no endpoint. via: None if the
    endpoint was asked now, VIA_CACHE if the answer had been kept (its usage is the original one, its cost 0).
    """

    game: str
    step: int
    seat: str
    attempt: int
    raw: str
    problem: str
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    latency_ms: float | None = None
    request: Mapping[str, Any] | None = None
    response_id: str | None = None
    served_model: str | None = None
    host: str = ""
    via: str | None = None

    @property
    def tokens(self) -> int:
        """Tokens that were used now."""
        return 0 if self.via == VIA_CACHE else (self.prompt_tokens or 0) + (self.completion_tokens or 0)


PREFLIGHT = "preflight"
"""Stands for the game in attempts that were made before the first game."""


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """What a run found out about one model at one endpoint, stored in run.json so that a resumed run need not ask
    again.

    host: host and port, never a whole address; json: the strongest of "schema", "object" and "none" that it accepts,
    None while unknown; served_models: the names it gave for the model in its answers; notes: what a reader of the games
    should know of how the model is asked, by matter (`Scope` for the form of requests).
    """

    host: str
    model: str
    json: str | None = None
    served_models: tuple[str, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if any(sign in self.host for sign in "@/?"):
            raise ValueError("an endpoint is kept by its host and port alone")


class Player(Protocol):
    """Answers asks from a seat's own view. One object serves every game and seat that its spec string plays.

    model: the name shown in tables and in the corpus. `prepare` is called before the first game, so that whatever
    cannot work fails there, with RunPaused or UsageError; a player that asks nobody does nothing in it. `answer` raises
    PlayerFailed if this ask cannot be answered, and RunPaused if the whole run has to stop for now (budget, endpoint,
    Ctrl-C); an unusable reply is a Reply with `problem` set.
    """

    model: str
    source: Source

    async def prepare(self) -> None: ...

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply: ...

    async def close(self) -> None: ...


class AtOnce:
    """The part of a player that has nothing to prepare and nothing to close."""

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def close(self) -> None:
        """Nothing to close."""


def waits_for(player: Player) -> str:
    """The host that a player asks, which takes only so many requests at once; "" for players that ask none."""
    return str(getattr(player, "host", ""))


@dataclass(frozen=True, slots=True)
class PlayerContext:
    """What a run gives its players.

    log: called with every attempt as it ends (by the journal). game: the name of the game, which has its own prompts.
    prompts: a prompt set, by name, by folder or in full. limits: of the run, its budget and prices among them;
    spent_tokens and spent_cost: what it has already spent. facts: what the run already knows about its endpoints;
    learn: called when it finds out more. halt: ends the run's waiting; activity: what is going on now; shared: objects
    that the players share. cache: replies that were paid for before, None for none; draw: the draw of a game in its
    plan, by the game's id (see `reply_cache`). files: the plan's copies of the files that specs name, by name.
    """

    log: Callable[[Attempt], None]
    game: str
    prompts: str | Path | Templates = "full"
    limits: Limits = field(default_factory=Limits)
    spent_tokens: int = 0
    spent_cost: float = 0.0
    facts: tuple[EndpointFacts, ...] = ()
    learn: Callable[[EndpointFacts], None] = lambda _: None
    halt: Halt = field(default_factory=Halt, repr=False, compare=False)
    activity: Activity = field(default_factory=Activity, repr=False, compare=False)
    shared: Shared = field(default_factory=Shared, repr=False, compare=False)
    cache: ReplyCache | None = field(default=None, repr=False, compare=False)
    draw: Callable[[str], str] = str
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def budget(self) -> Budget:
        """What the run has spent and may spend."""
        return self.shared.once(Budget, lambda: Budget(self.limits, self.spent_tokens, self.spent_cost))
