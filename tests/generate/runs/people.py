"""Games with people, played without a browser: somebody answers what lies on a desk."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from liescope.common.errors import RunPaused
from liescope.games.core import Ask, AskKind, Assessment, Reply
from liescope.generate.players.human import AskDesk, SeatPatience
from liescope.generate.players.player_protocol import Halt, Shared
from liescope.generate.runs.job import Playing
from liescope.generate.runs.plan_games import seats_plan
from liescope.generate.runs.run_plan import Plan, Served
from liescope.generate.runs.run_progress import RunProgress
from liescope.generate.runs.runner import run

OTTER, FOX = "Blue Otter", "Red Fox"
HELD = {"Alice": f"human:{OTTER}", "Bob": f"human:{FOX}", "Charlie": "scripted:bold", "Diana": "scripted:steady"}
MARK = "xyzzy"  # in all that people write here, and nowhere else


def table(seed: int = 5, held: Mapping[str, str] = HELD, **options: Any) -> Plan:
    """A table of Mini-Mafia with two people, whose statements are assessed."""
    served = Served(consent=("You are recorded.", "You may withdraw."), words=180, choices=90, away=15)
    return seats_plan("mini-mafia", {"assess": True, **options}, held, seed, served=served)


def play_with_people(plan: Plan, out: Path, answers: int = 10**6) -> RunProgress:
    """Play a table, or go on with it. answers: after so many, the people get up and the run stops."""
    return asyncio.run(_play(plan, out, answers))


class _Desk(AskDesk):
    """People who answer at once, and get up after so many answers."""

    def __init__(self, random: Random, answers: int, halt: Halt) -> None:
        super().__init__(SeatPatience())
        self._draw, self._more, self._halt = random, answers, halt

    async def ask(self, person: str, ask: Ask) -> Reply:
        self._more -= 1
        if self._more < 0:
            self._halt.set(RunPaused("the people got up"))
            self.close(RunPaused("the people got up"))
        asyncio.get_running_loop().call_soon(self.answer, person, said(ask, person, self._draw))
        return await super().ask(person, ask)


async def _play(plan: Plan, out: Path, answers: int) -> RunProgress:
    halt, shared = Halt(), Shared()
    desk = _Desk(Random(plan.seed), answers, halt)
    shared.once(AskDesk, lambda: desk)
    return await run(Playing(plan, out), out, halt=halt, shared=shared)


def said(ask: Ask, person: str, random: Random) -> Reply:
    """What a person sends for an ask."""
    raw = f'{{"text": "{MARK}"}}'
    if ask.kind in (AskKind.SELF_ASSESSMENT, AskKind.PEER_ASSESSMENT):
        kind = random.choice(["none", "omission"])
        suspicion = 0.5 if ask.kind is AskKind.PEER_ASSESSMENT else None
        return Reply(assessment=Assessment(kind != "none", kind, 0.8, suspicion, f"{MARK} reason"), raw=raw)
    if ask.kind is AskKind.SPEAK:
        return Reply(text=f"{MARK}: I, {person}, say that {random.choice(['Charlie', 'Diana'])} lies.", raw=raw)
    return Reply(choice=random.choice(ask.options), raw=raw)
