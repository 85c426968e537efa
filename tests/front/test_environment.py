"""A live table: the same games as a run, whoever answers, and whatever stops it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

import liescope
from liescope.common.errors import PlanChanged, UsageError
from liescope.games.core import ASSESSMENTS, FORMS, Ask, AskKind, Event, Reply
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord, Source, Status, record_to_json
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.player_registry import PLAYERS
from liescope.generate.players.prompts import load_prompts
from liescope.generate.runs.journal import Journal
from liescope.live_table import Table

ROOT = Path(__file__).parents[2]
ASIDE = "So they believe me."


def policy(ask: Ask) -> str:
    """What an agent says: a function of the ask alone, now and then unreadable."""
    random = Random(f"{ask.game} {ask.step} {ask.seat}")
    if random.random() < 0.1:
        return random.choice(["", "I would rather not say.", "<think>never ends"])
    if ask.kind in ASSESSMENTS:
        return f'{{"deceptive": true, "type": "omission", "confidence": 0.5, "suspicion": {random.random():.2f}}}'
    if ask.kind in FORMS:
        return '{"to_do": ["Speak first."], "to_avoid": [], "winning_tactic": []}'
    if ask.kind is AskKind.SPEAK:
        return random.choice(['"I am the detective. Bob is the mafioso."', f'"I trust Alice."\n{ASIDE}', "No."])
    choice = random.choice(ask.options)
    return f'{choice}\n"I do not like {choice}."' if ask.kind is AskKind.EXPLAINED_VOTE else f"I choose {choice}."


class Inside:
    """The same agent as a player of a run."""

    source = Source.MODEL

    def __init__(self, name: str, context: PlayerContext) -> None:
        del context
        self.model = name

    async def prepare(self) -> None: ...

    async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
        del view
        return read_reply(ask, policy(ask))

    async def close(self) -> None: ...


def played(table: Table) -> GameRecord:
    while table.ask is not None:
        table.answer(policy(table.ask))
    assert table.done
    return table.record


def in_run(monkeypatch: pytest.MonkeyPatch, out: Path, game: str, **settings: object) -> list[GameRecord]:
    with monkeypatch.context() as patch:
        patch.setitem(PLAYERS, "agent", Inside)
        liescope.play(game, out=out, max_fallbacks=1.0, **settings)
    with Journal.open(out) as journal:
        return list(journal.records())


def rows(run: Path) -> tuple[list[GameRecord], dict[str, object]]:
    with Journal.open(run) as journal:
        return list(journal.records()), {game: journal.calls(game) for game in journal.game_ids()}


@pytest.mark.parametrize("assess", [True, False])
@pytest.mark.parametrize("game", list(GAMES))
def test_a_table_gives_the_records_of_a_run(
    game: str, assess: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With agents in every role against scripts, and in all of them at once."""
    for number, players in enumerate((["agent:policy", "scripted:bold"], ["agent:policy"])):
        plan = {"players": players, "games": 1, "seed": 3, "assess": assess}
        run = in_run(monkeypatch, tmp_path / f"run-{number}", game, **plan)
        for place, record in enumerate(run):
            with liescope.environment(game, number=place, **plan) as table:
                assert played(table) == record
                assert json.dumps(record_to_json(table.record)) == json.dumps(record_to_json(record))


def test_a_table_in_a_folder_is_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = {"players": ["agent:policy"], "seed": 8, "games": 3, "assess": True}
    in_run(monkeypatch, tmp_path / "run", "mini-mafia", **plan)
    for number in (2, 0, 1):
        with liescope.environment("mini-mafia", number=number, out=tmp_path / "tables", **plan) as table:
            played(table)
    assert rows(tmp_path / "tables") == rows(tmp_path / "run")
    with liescope.environment("mini-mafia", number=1, out=tmp_path / "tables", **plan) as table:  # it has ended
        assert (table.done, table.ask, table.record) == (True, None, rows(tmp_path / "run")[0][1])
        assert table.events == table.record.events
        with pytest.raises(UsageError, match="the game is over"):
            table.answer("Bob")
    with pytest.raises(PlanChanged, match="seed"):
        liescope.environment("mini-mafia", out=tmp_path / "tables", **{**plan, "seed": 9})


KILLED = """
import os, signal, sys
import liescope
from tests.front.test_environment import policy
plan = {"players": ["agent:policy"], "seed": 5, "games": 1, "assess": True}
table = liescope.environment("mini-mafia", out=sys.argv[1], **plan)
answers = 0
while table.ask is not None:
    for ask in reversed(table.asks):  # one by one and in another order than they are asked in
        if answers == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        table.answer(policy(ask), ask.seat)
        answers += 1
"""


def test_a_killed_table_goes_on_from_its_last_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle of a batch too: what was answered is in the journal, and not asked for again."""
    plan = {"players": ["agent:policy"], "seed": 5, "games": 1, "assess": True}
    (whole,) = in_run(monkeypatch, tmp_path / "whole", "mini-mafia", **plan)
    halves = 0
    for answers in (0, 3, 4, 5, 11):
        out = tmp_path / f"killed-{answers}"
        subprocess.run([sys.executable, "-c", KILLED, out, str(answers)], cwd=ROOT, check=False)
        with Journal.open(out) as journal:
            kept = journal.answers(whole.game_id)
        assert len(kept) == answers
        with liescope.environment("mini-mafia", out=out, **plan) as table:
            assert {(ask.step, ask.seat) for ask in table.asks}.isdisjoint(kept)
            halves += bool(answers) and table.asks[0].step == max(step for step, _ in kept)
            assert played(table) == whole
        assert rows(out) == rows(tmp_path / "whole")
    assert halves


def test_a_closed_or_forgotten_table_goes_on_and_others_are_kept_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = {"seats": ["mafioso=agent:policy"], "seed": 5, "games": 2}
    first, second = in_run(monkeypatch, tmp_path / "whole", "mini-mafia", **plan)
    table = liescope.environment("mini-mafia", out=tmp_path / "run", **plan)
    with pytest.raises(UsageError, match="another process"):
        liescope.environment("mini-mafia", out=tmp_path / "run", number=1, **plan)
    assert table.ask is not None
    table.answer(policy(table.ask))
    so_far = table.record
    assert (so_far.status, so_far.outcome) == (Status.FAILED, None)
    assert so_far.events == first.events[: len(so_far.events)]
    table.close()
    with pytest.raises(UsageError, match="the table is closed"):
        table.answer("Bob")
    with liescope.environment("mini-mafia", out=tmp_path / "run", **plan) as table:
        assert played(table) == first
    with liescope.environment("mini-mafia", out=tmp_path / "run", number=1, **plan) as table:
        assert played(table) == second


def test_a_fork_of_a_table_begins_with_its_words(tmp_path: Path) -> None:
    plan = {"players": ["agent:policy"], "seed": 5, "games": 1}
    with liescope.environment("mini-mafia", out=tmp_path / "run", **plan) as table:
        record = played(table)
    with pytest.raises(UsageError, match=r"liescope\.environment"):
        liescope.fork(tmp_path / "run", "0", 4, out=tmp_path / "none", players=["scripted:bold"], times=2)
    forked = {"players": ["scripted:bold"], "others": "scripted:steady", "times": 2}
    liescope.fork(tmp_path / "run", "0", 4, out=tmp_path / "fork", **forked)
    for one in rows(tmp_path / "fork")[0]:
        before = one.meta["fork"]["events"]
        assert one.events[:before] == record.events[:before]
    liescope.build(tmp_path / "run", out=tmp_path / "corpus")
    assert liescope.read(tmp_path / "corpus", "games").collect()["game_id"].to_list() == [record.game_id]


def test_a_run_refuses_agents_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"agent:policy is answered from outside.*liescope\.environment") as refused:
        liescope.play("mini-mafia", players=["agent:policy"], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("game", ["mini-mafia", "werewolf"])
def test_what_is_new_adds_up_to_all_that_a_seat_knows(game: str) -> None:
    """And that is what a chat model in its place would read: nothing of another seat's secrets is in it."""
    prompts = load_prompts("full", game)
    with liescope.environment(game, players=["agent:policy"], seed=2, games=1, assess=True) as table:
        news: dict[str, str] = {}
        while (ask := table.ask) is not None:
            view = [event for event in table.events if event.seen_by(ask.seat)]
            prompt = prompts.render(ask, view)
            new = table.prompt()
            assert new == table.prompt(ask.seat)  # asking again shows it again
            news[ask.seat] = news.get(ask.seat, "") + new.removesuffix(prompt.question).removesuffix("\n")
            assert news[ask.seat] == prompt.stem
            assert table.whole_prompt() == prompt.text
            table.answer(policy(ask))
            whole = table.whole_prompt() if table.ask is not None else ""
            assert ASIDE not in whole
            assert not any(
                f"You are {other}" in whole for other in table.seats if table.ask and other != table.ask.seat
            )
        assert len(news) > 2
        with pytest.raises(UsageError, match="the game is over"):
            table.prompt()


def test_a_table_works_in_a_running_loop_and_many_at_once() -> None:
    plan = {"players": ["agent:policy"], "seed": 4, "games": 6}

    async def one(number: int) -> GameRecord:
        async with await asyncio.to_thread(liescope.environment, "mini-mafia", number=number, **plan) as table:
            while table.ask is not None:
                await table.asend({ask.seat: policy(ask) for ask in table.asks})
            return table.record

    async def sync(number: int) -> GameRecord:
        with liescope.environment("mini-mafia", number=number, **plan) as table:
            return played(table)

    async def both() -> tuple[list[GameRecord], list[GameRecord]]:
        return await asyncio.gather(*map(one, range(6))), [await sync(number) for number in range(6)]

    awaited, waited = asyncio.run(both())
    assert awaited == waited
