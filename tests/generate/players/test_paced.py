"""Programs at the pace of people: slower for more words, the same for the same place, never slower than the limit."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

from liescope.common.errors import RunPaused
from liescope.games.core import Ask, AskKind, Event, EventKind, Phase, Reply
from liescope.generate.players.human import Paced, Pacing
from liescope.generate.players.player_protocol import Halt, PlayerContext
from liescope.generate.players.scripted import open_scripted
from liescope.generate.runs.job import Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import seats_plan
from liescope.generate.runs.runner import run

ASK = Ask("game-000001", 3, "Alice", AskKind.SPEAK, 1, Phase.DISCUSSION)


def said(index: int, actor: str, text: str) -> Event:
    return Event(index, EventKind.STATEMENT, 1, Phase.DISCUSSION, actor=actor, text=text)


def test_more_to_read_and_to_type_takes_longer_up_to_the_limit() -> None:
    pacing, words = Pacing(), "I think that Bob is lying to us. " * 4
    silent = pacing.seconds(ASK, (), Reply(text=""))
    typed = pacing.seconds(ASK, (), Reply(text=words))
    heard = (said(0, "Bob", words), said(1, "Carol", words))
    assert silent < typed < pacing.seconds(ASK, heard, Reply(text=words)) <= pacing.most
    assert pacing.seconds(ASK, heard, Reply(text=words * 100)) == pacing.most
    known = (*heard, said(2, "Alice", "Yes."))
    assert pacing.seconds(ASK, known, Reply(text=words)) == typed, "what was read before is not read again"


def test_it_is_drawn_from_the_place_and_differs_between_seats_and_steps() -> None:
    pacing = Pacing()
    seconds = [pacing.seconds(replace(ASK, step=step), (), Reply(choice="Bob")) for step in range(400)]
    assert seconds == [pacing.seconds(replace(ASK, step=step), (), Reply(choice="Bob")) for step in range(400)]
    assert len(set(seconds)) == 400
    assert 0.8 * pacing.thinking < median(seconds) < 1.25 * pacing.thinking
    text = Reply(text="x" * 100)
    typing = {seat: pacing.seconds(replace(ASK, seat=seat), (), text) for seat in ("Alice", "Bob")}
    assert typing["Alice"] != typing["Bob"]


def test_a_run_that_ends_does_not_wait_for_the_pace() -> None:
    async def answered() -> float:
        halt, began = Halt(), time.monotonic()
        player = open_scripted("bold", PlayerContext(log=lambda _: None, game="mini-mafia"))
        paced = Paced(player, Pacing(thinking=1000, most=1000), halt)
        asyncio.get_running_loop().call_later(0.05, halt.set, RunPaused("enough"))
        names = {"names": ["Alice", "Bob"], "composition": {"mafioso": 1, "villager": 1}}
        setup = Event(0, EventKind.SETUP, 0, Phase.SETUP, data=names)  # type: ignore[arg-type]
        role = Event(1, EventKind.ROLE, 0, Phase.SETUP, actor="Alice", data={"role": "villager"})
        reply = await paced.answer(replace(ASK, kind=AskKind.VOTE, options=("Bob",)), (setup, role))
        assert reply.choice == "Bob"
        return time.monotonic() - began

    assert asyncio.run(answered()) < 20


def test_pacing_changes_nothing_but_time_and_simultaneous_answers_wait_together(tmp_path: Path) -> None:
    held = dict.fromkeys(("Alice", "Bob", "Charlie", "Diana"), "scripted:bold")
    plan = seats_plan("mini-mafia", {"assess": True}, held, 3)

    async def played(out: Path, pacing: Pacing | None) -> float:
        began = time.monotonic()
        await run(Playing(plan, out), out, pacing=pacing)
        return time.monotonic() - began

    slow = asyncio.run(played(tmp_path / "slow", Pacing(thinking=0, reading=1e9, typing=1e9)))
    asyncio.run(played(tmp_path / "fast", None))
    assert slow < 60
    records = []
    for name in ("slow", "fast"):
        with Journal.open(tmp_path / name) as journal:
            records.append(list(journal.records()))
    assert records[0] == records[1]
