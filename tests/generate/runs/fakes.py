"""Players that tests steer: what they are asked, when they fail, what they answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from liescope.games.core import BELIEVED, FORMS, Ask, AskKind, Assessment, Event, Reply
from liescope.games.record import GameRecord, Source
from liescope.generate.players.player_protocol import Attempt, PlayerContext
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_plan import Plan
from liescope.generate.runs.run_progress import RunProgress
from liescope.generate.runs.runner import run
from tests.generate.runs.stub_replies import LESSONS


async def play(plan: Plan, out: Path, limits: Limits | None = None, *given: Any, **options: Any) -> RunProgress:
    """Play a plan into a run folder, or resume the run in it."""
    return await run(Playing(plan, out), out, limits, *given, **options)


def records(run: Path) -> list[GameRecord]:
    """The games that a run holds."""
    with Journal.open(run) as journal:
        return list(journal.records())


@dataclass
class FakeEndpoint:
    """What every fake player answers, and what it was asked. before: called ahead of each answer, may raise."""

    asked: list[tuple[str, int, str]] = field(default_factory=list)
    under_way: int = 0
    most_at_once: int = 0
    closed: int = 0
    before: Callable[[Ask], None] = lambda ask: None


class FakePlayer:
    source = Source.MODEL

    def __init__(self, name: str, table: PlayerContext, endpoint: FakeEndpoint) -> None:
        self.model = name
        self.table = table
        self.endpoint = endpoint

    async def prepare(self) -> None:
        """Nothing that a test steers."""

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        endpoint = self.endpoint
        endpoint.under_way += 1
        endpoint.most_at_once = max(endpoint.most_at_once, endpoint.under_way)
        try:
            await asyncio.sleep(0)
            endpoint.asked.append((ask.game, ask.step, ask.seat))
            endpoint.before(ask)
        finally:
            endpoint.under_way -= 1
        self.table.log(Attempt(ask.game, ask.step, ask.seat, 1, "raw", "", 10, 0, 5, 0.25, 1.0))
        return reply_to(ask, self.model)

    async def close(self) -> None:
        self.endpoint.closed += 1


def reply_to(ask: Ask, model: str) -> Reply:
    """A reply that depends on nothing but the ask and the model; one in ten cannot be used."""
    random = Random(f"{ask.game} {ask.step} {ask.seat} {model}")
    if random.random() < 0.1:
        return Reply(problem="nothing legible", raw="%$#")
    if ask.kind is AskKind.REFLECTION:
        return Reply(form={"to_do": (random.choice(LESSONS),), "to_avoid": (random.choice(LESSONS),)}, raw="{}")
    if ask.kind is AskKind.BELIEFS:
        return Reply(form={claim: (random.choice(BELIEVED),) for claim in ask.options}, raw="{}")
    if ask.kind in FORMS:
        return Reply(form=dict.fromkeys(ask.options, ("villager",)) or {"order": ("2",)}, raw="{}")
    if ask.kind is AskKind.EXPLAINED_VOTE:
        return Reply(choice=random.choice(ask.options), text=f"Reason {random.randrange(1000)}.", raw="a name")
    if ask.options:
        return Reply(choice=random.choice(ask.options), raw="a name")
    if ask.kind is AskKind.SPEAK:
        words = f"I have {random.randrange(1000)} reasons to trust Bob. I am a villager."
        return Reply(text=words, notes=("no quotes",), raw="words")
    return Reply(assessment=Assessment(random.random() < 0.5, "omission", 0.5, 0.25, "so"), raw="{}")
