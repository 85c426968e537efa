"""A live table: the same games as a run, whoever answers, and whatever stops it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

import liescope
from liescope.common.errors import EndpointSilent, PlanChanged, PlayerFailed, UnknownName, UsageError
from liescope.games.core import ASSESSMENTS, CHOICES, FORMS, Ask, AskKind, Event, EventKind, Outcome, Phase, Reply
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord, Seat, Source, Status, record_to_json
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.player_registry import PLAYERS
from liescope.generate.players.prompts.render import load_prompts
from liescope.generate.runs.journal import Journal
from liescope.live_table import Table
from liescope.table_rewards import Rewards, rewards_in

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


def _slow(game: str) -> Any:
    return pytest.param(game, marks=pytest.mark.long if "werewolf" in game else ())


def rows(run: Path) -> tuple[list[GameRecord], dict[str, object]]:
    with Journal.open(run) as journal:
        return list(journal.records()), {game: journal.calls(game) for game in journal.game_ids()}


@pytest.mark.parametrize("assess", [True, False])
@pytest.mark.parametrize("game", [*map(_slow, GAMES)])
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


@pytest.mark.long
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


@pytest.mark.parametrize("game", [*map(_slow, ["mini-mafia", "werewolf"])])
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


STUB = """
import sys
from tests.generate.runs.limited_server import Behaviour, LimitedServer
server = LimitedServer(Behaviour(latency=0.01))
print(server.url, flush=True)
sys.stdin.read()
server.close()
"""


@pytest.fixture(scope="module")
def stub() -> Iterator[str]:
    """The address of a server of OpenAI's protocol in a process of its own."""
    words = [sys.executable, "-c", STUB]
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


def test_agents_models_and_scripts_sit_at_one_table(stub: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the calls of the model in the journal, and the same game as in a run."""
    seats = ["mafioso=agent:policy", f"detective=openai:stub@{stub}"]
    plan = {"players": ["scripted:bold"], "seats": seats, "seed": 7, "games": 2, "assess": True}
    run = in_run(monkeypatch, tmp_path / "run", "mini-mafia", **plan)
    for number, record in enumerate(run):
        with liescope.environment("mini-mafia", out=tmp_path / "table", number=number, **plan) as table:
            assert {ask.seat for ask in table.asks} <= {seat.name for seat in record.seats if seat.model == "policy"}
            assert played(table) == record
    kept = [[{**call, "latency_ms": 0} for call in calls] for calls in rows(tmp_path / "table")[1].values()]
    assert kept == [[{**call, "latency_ms": 0} for call in calls] for calls in rows(tmp_path / "run")[1].values()]
    assert any(call["prompt_tokens"] for call in kept[0])


def test_a_model_that_cannot_be_asked_ends_the_game_or_pauses_it(tmp_path: Path) -> None:
    with pytest.raises(EndpointSilent, match="start the server"):
        liescope.environment("mini-mafia", seats=["mafioso=agent:policy"], players=["openai:m@http://127.0.0.1:9/v1"])

    class Mute(Inside):
        async def answer(self, ask: Ask, view: Sequence[Event]) -> Reply:
            if ask.kind is AskKind.VOTE:
                raise ValueError("no voice")
            return await super().answer(ask, view)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PLAYERS, "mute", Mute)
        plan = {"seats": ["mafioso=agent:policy"], "players": ["mute:m"], "seed": 1}
        with liescope.environment("mini-mafia", out=tmp_path / "run", **plan) as table:
            with pytest.raises(PlayerFailed, match="no voice"):
                played(table)
            assert (table.done, table.record.status, table.record.outcome) == (True, Status.FAILED, None)
            assert {reward.outcome for reward in table.rewards().values()} == {None}
            assert table.record == rows(tmp_path / "run")[0][0]
        patch.setitem(PLAYERS, "mute", Inside)  # its cause is gone
        with pytest.raises(PlayerFailed, match=r"no voice.*retry_failed=True"):
            liescope.environment("mini-mafia", out=tmp_path / "run", **plan)
        with liescope.environment("mini-mafia", out=tmp_path / "run", retry_failed=True, **plan) as table:
            assert played(table).status is Status.DONE


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty message"),
        ("<think>Who is it?", "the reasoning block never ends"),
        ("Alice or Bob or Charlie or Diana", "several names and no single choice"),
        ("nobody \udcff", "no option is named"),
    ],
)
def test_an_unusable_answer_is_a_problem_of_the_record(text: str, problem: str, tmp_path: Path) -> None:
    """However many there are, the game goes on."""
    with liescope.environment("mini-mafia", players=["agent:policy"], out=tmp_path / "run", games=1, rounds=4) as table:
        while (ask := table.ask) is not None:
            table.answer(text if ask.kind in CHOICES else "")
    (record,) = rows(tmp_path / "run")[0]
    acts = [event for event in record.events if event.kind is EventKind.VOTE]
    assert acts
    assert {event.fallback for event in acts} == {problem}


def test_what_cannot_be_is_said_before_anything_happens(tmp_path: Path) -> None:
    plan = {"players": ["agent:policy"], "games": 2}
    with pytest.raises(UsageError, match="no game 2; its games are 0 to 1: give games="):
        liescope.environment("mini-mafia", number=2, **plan)
    with pytest.raises(UsageError, match="agent needs a name"):
        liescope.environment("mini-mafia", players=["agent:"])
    with pytest.raises(UnknownName, match="roundz"):
        liescope.environment("mini-mafia", roundz=3, **plan)
    with pytest.raises(UsageError, match="out="):
        liescope.environment("werewolf", players=["agent:policy"], design="self", learning="on")
    with liescope.environment("mini-mafia", **plan) as table:
        batch = table.asks
        with pytest.raises(UsageError, match="nothing is asked of Zoe; asked now: "):
            table.send({batch[0].seat: "Bob", "Zoe": "Bob"})
        assert table.asks == batch
        with pytest.raises(UsageError, match="not of type int"):
            table.answer(3)  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]


def event(index: int, kind: EventKind, actor: str | None = None, target: str | None = None, **facts: Any) -> Event:
    return Event(index, kind, 1, Phase.DISCUSSION, 0, actor, target, **facts)


def game_of(*events: Event, winners: tuple[str, ...] | None = ("Ann",), **meta: Any) -> GameRecord:
    roles = {"Ann": ("mafioso", "mafia"), "Bob": ("detective", "town"), "Cyd": ("villager", "town")}
    seats = tuple(Seat(name, *role, role[1] == "mafia", "m", Source.MODEL) for name, role in roles.items())
    setup = event(
        0, EventKind.SETUP, data={"names": [*roles], "composition": {"mafioso": 1, "detective": 1, "villager": 1}}
    )
    dealt = [
        event(i, EventKind.ROLE, name, data={"role": roles[name][0]}, audience=(name,))
        for i, name in enumerate(roles, 1)
    ]
    played = [replace(one, index=number) for number, one in enumerate(events, 4)]
    outcome = None if winners is None else Outcome("mafia", winners, "so", 1)
    return GameRecord("g", "mini-mafia", 1, "", seats, (setup, *dealt, *played), Status.DONE, outcome, meta=meta)


def said(name: str, text: str) -> Event:
    return event(0, EventKind.STATEMENT, name, text=text)


def rated(by: str, about: int, **assessment: Any) -> Event:
    return event(0, EventKind.RATING, by, about=about, data={"assessment": assessment})


def votes(**cast: str) -> list[Event]:
    return [event(0, EventKind.VOTE, voter, target) for voter, target in cast.items()]


def test_rewards_of_games_made_by_hand() -> None:
    nothing = rewards_in(game_of(winners=None))
    assert set(nothing) == {"Ann", "Bob", "Cyd"}
    assert set(nothing.values()) == {Rewards(None, None, None, None)}
    assert {name: one.outcome for name, one in rewards_in(game_of()).items()} == {"Ann": 1, "Bob": 0, "Cyd": 0}
    both = rewards_in(game_of(winners=("Ann", "Cyd")))  # whoever the rules name, whatever the team
    assert [one.outcome for one in both.values()] == [1, 0, 1]


def test_honest_counts_the_claims_that_the_log_decides() -> None:
    game = game_of(
        said("Ann", "I am the detective."),
        said("Ann", "Bob is the detective."),
        said("Bob", "I am the detective. I will vote for Ann."),
        said("Cyd", "What a day."),
        *votes(Bob="Cyd"),  # a broken promise is no false claim
    )
    found = rewards_in(game)
    assert [found[name].honest for name in ("Ann", "Bob", "Cyd")] == [0.5, 1.0, None]


def test_believed_is_read_from_suspicion_else_flags_else_votes() -> None:
    speak = said("Ann", "Good morning.")
    cast = [*votes(Ann="Ann", Bob="Ann", Cyd="Bob"), event(0, EventKind.VOTE, "Cyd", "Ann", fallback="empty message")]
    by_votes = rewards_in(game_of(speak, *cast))
    assert [by_votes[name].believed for name in ("Ann", "Bob", "Cyd")] == [
        0.5,
        0.5,
        1.0,
    ]  # Ann's own and the drawn do not count
    flags = [rated("Bob", 4, deceptive=True), rated("Cyd", 4, deceptive=False), rated("Cyd", 4)]
    assert rewards_in(game_of(speak, *flags, *cast))["Ann"].believed == 0.5
    named = rated("Bob", 4, deceptive=True, suspicion=0.2), rated("Cyd", 4, suspicion=0.4)
    assert rewards_in(game_of(speak, *named, *cast))["Ann"].believed == pytest.approx(0.7)
    doubts = [
        event(0, EventKind.CHOICE, by, about=4, data={"choice": "so", "doubts": by == "Bob"}) for by in ("Bob", "Cyd")
    ]
    assert rewards_in(game_of(speak, *doubts))["Ann"].believed == 0.5
    dead = event(0, EventKind.ARREST, None, "Ann")
    after = rewards_in(game_of(*votes(Bob="Ann", Cyd="Ann"), dead, *votes(Bob="Cyd", Cyd="Bob")))
    assert after["Ann"].believed == 0  # nobody can vote for it any more


def test_caught_is_the_mean_score_of_a_detector_on_what_was_said(played_model: Path) -> None:
    """Also in the middle of a game, from a folder or a detector that is open."""
    opened = liescope.load(played_model)
    with liescope.environment("mini-mafia", players=["agent:policy"], seed=1, detector=opened) as table:
        early = {name: reward.caught for name, reward in table.rewards().items()}
        record = played(table)
        found = {name: reward.caught for name, reward in table.rewards().items()}
    assert set(early.values()) == {None}
    assert found == {name: reward.caught for name, reward in rewards_in(record, str(played_model)).items()}
    for name, caught in found.items():
        texts = [one.text for one in record.events if one.kind is EventKind.STATEMENT and one.actor == name]
        assert (caught is None) == (not texts)
        assert caught is None or 0 < caught < 1
    assert len({*found.values()} - {None}) > 1
