"""What a player is, and what it is given when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from liescope.games.core import Ask, Event, Reply
from liescope.games.record import Source


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request that a player made for an ask, successful or not. attempt counts from 1; cost is in the currency
    of the prices given; what an endpoint does not report is None. problem: "" or why this attempt gave no reply.
    request: the JSON body that was sent (messages and parameters, no secret); response_id and served_model: what the
    endpoint says of its answer.
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


@dataclass(frozen=True, slots=True)
class EndpointFacts:
    """What a run found out about one model at one endpoint, kept in run.json so that going on does not ask again.

    host: host and port, never a whole address; json: the most that it accepts of "schema", "object" and "none", None
    while unknown; served_models: the names that it gave for the model in its answers.
    """

    host: str
    model: str
    json: str | None = None
    served_models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if any(sign in self.host for sign in "@/?"):
            raise ValueError("an endpoint is kept by its host and port alone")


class Player(Protocol):
    """Answers asks from a seat's own view. One object serves every game and seat that its spec string plays.

    model: the name shown in tables and in the corpus. `answer` raises PlayerFailed when no answer can be had at all
    and BudgetSpent when the run may spend no more; a reply that came but cannot be used is a Reply with `problem`.
    """

    model: str
    source: Source

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens."""

    prompt: float
    completion: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class PlayerContext:
    """What a run gives its players. log: called with every attempt as it ends (the journal's); game: the name of the
    game, which has prompts of its own; prompts: the name of a set of them or a folder of templates; concurrency: the
    most requests under way at once; timeout: seconds for one request; retries: attempts after the first; prices: by
    model name; max_tokens, max_cost: the run's budget, already spent included in spent_tokens and spent_cost; shared:
    what the players of this table have in common (clients, the gate for requests, what was spent), which they put there
    themselves.
    """

    log: Callable[[Attempt], None]
    game: str
    prompts: str | Path = "full"
    concurrency: int = 16
    timeout: float = 120.0
    retries: int = 6
    prices: dict[str, Price] | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    spent_tokens: int = 0
    spent_cost: float = 0.0
    shared: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
