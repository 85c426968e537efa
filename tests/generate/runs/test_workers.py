"""Runs that several processes play: the same run as one process makes, whatever is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs import lesson_book
from liescope.generate.runs.job import Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import label, play
from liescope.generate.runs.run_plan import Plan, PlannedGame
from liescope.generate.runs.shards import engine
from liescope.generate.runs.shards.crew import Dealer, Purse
from liescope.generate.runs.shards.worker import Allowance
from tests.generate.runs.limited_server import Behaviour, Fault, LimitedServer
from tests.generate.runs.test_kill import CONCURRENCY, Server, begin, command, end, state

pytestmark = pytest.mark.slow
GAMES = 8
ENCODER = """
from zlib import crc32
import numpy as np

class SentenceTransformer:
    def __init__(self, *_, **__):
        pass

    def encode(self, texts, **_):
        vectors = np.array([np.random.default_rng(crc32(text.encode())).normal(size=99) for text in texts])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    server = Server(0.02)
    yield server
    server.close()


@pytest.fixture(scope="module")
def whole(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A run by one process, and the requests that it took."""
    run = tmp_path_factory.mktemp("whole") / "run"
    code, _, complained = end(begin(command(server, run, GAMES)))
    assert code == 0, complained
    return run, server.rest()


def by_workers(server: Server, out: Path, workers: int) -> list[str]:
    return [*command(server, out, GAMES), "--workers", str(workers)]


def rows(run: Path) -> dict[str, list[Any]]:
    """The tables of a journal, byte for byte; attempts without their order and the time that they took."""
    base = sqlite3.connect(run / "journal.sqlite")
    kept = {
        "games": "SELECT * FROM games ORDER BY number",
        "replies": "SELECT * FROM replies ORDER BY game_id, step, seat",
        "unanswered": "SELECT * FROM unanswered ORDER BY game_id, step, seat",
        "templates": "SELECT * FROM templates ORDER BY digest, name",
        "requests": "SELECT id FROM requests ORDER BY id",
        "attempts": "SELECT game_id, step, seat, problem, raw, prompt_tokens, completion_tokens, cost, request, "
        "response_id, served_model FROM attempts ORDER BY game_id, step, seat, place",
    }
    found = {table: base.execute(query).fetchall() for table, query in kept.items()}
    base.close()
    return found


def requests(run: Path) -> list[Any]:
    with Journal.open(run) as journal:
        calls = [(game, call["step"], call["seat"]) for game in journal.game_ids() for call in journal.calls(game)]
        return [[(one.body, one.model) for one in journal.requests(*call)] for call in calls]


def test_a_run_by_workers_is_the_run_that_one_process_makes(
    server: Server, whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    code, said, complained = end(begin(by_workers(server, run, 2)))
    assert code == 0, complained
    summary = json.loads(said)
    assert summary["games"] == {"planned": GAMES, "done": GAMES, "failed": 0, "before": 0}
    assert summary["calls"] == len(whole[1])
    assert Counter(server.rest()) == Counter(whole[1])
    assert rows(run) == rows(whole[0])
    assert requests(run) == requests(whole[0])
    with Journal.open(run) as one, Journal.open(whole[0]) as other:
        assert one.plan == other.plan
        assert one.endpoint_facts() == other.endpoint_facts()
    assert sorted(path.name for path in run.iterdir()) == sorted(path.name for path in whole[0].iterdir())


def test_judged_games_are_the_same_too(whole: tuple[Path, list[str]], tmp_path: Path) -> None:
    one, many = (
        label(whole[0], "scripted:steady", roles=True, out=tmp_path / name, workers=workers)
        for name, workers in (("one", 1), ("many", 2))
    )
    assert rows(many.folder) == rows(one.folder)
    assert many.tally.calls == one.tally.calls


def test_a_run_and_its_workers_killed_at_random_moments_lose_nothing_and_ask_nothing_twice(
    server: Server, whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    """A worker whose run is killed finishes its requests, and keeps them for the next start."""
    random, run, seen = Random(3), tmp_path / "run", Counter[str]()
    for workers in (2, 1):
        process = begin(by_workers(server, run, workers))
        seen.update(server.wait_for(random.randrange(10, len(whole[1]) // 5)))  # how many it takes depends on the port
        process.kill()
        end(process)
        time.sleep(0.2)  # requests on their way, of workers that the system has not yet told
        seen.update(server.rest())
    code, _, complained = end(begin(by_workers(server, run, 2)))
    assert code == 0, complained
    seen.update(server.rest())
    assert Counter(whole[1]) - seen == Counter()
    assert (seen - Counter(whole[1])).total() <= 2 * CONCURRENCY  # of the one that played without workers
    assert rows(run)["games"] == rows(whole[0])["games"]
    assert rows(run)["replies"] == rows(whole[0])["replies"]
    assert not (run / "shards").exists()


def test_a_worker_that_is_killed_is_replaced_and_its_games_go_on(
    server: Server, whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    process = begin(by_workers(server, run, 2))
    seen = Counter(server.wait_for(40))
    os.kill(_children(process.pid)[0], signal.SIGKILL)
    code, said, complained = end(process)
    assert code == 0, complained
    seen.update(server.rest())
    assert json.loads(said)["games"]["done"] == GAMES
    assert Counter(whole[1]) - seen == Counter()
    assert (seen - Counter(whole[1])).total() <= CONCURRENCY  # the killed worker's own, under way
    assert rows(run)["replies"] == rows(whole[0])["replies"]


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_ctrl_c_reaches_all_workers_and_what_is_under_way_is_kept(
    server: Server, whole: tuple[Path, list[str]], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    process = begin(by_workers(server, run, 2))
    server.wait_for(40)
    process.send_signal(signal.SIGINT)
    code, said, complained = end(process)
    asked = 40 + len(server.rest())
    assert (code, said) == (130, "")
    assert f"run the same command again to go on with {run}" in complained
    assert "Traceback" not in complained
    kept = state(run)[1]
    assert len(kept) == asked
    assert kept.items() <= state(whole[0])[1].items()


def test_a_budget_holds_across_workers(server: Server, tmp_path: Path) -> None:
    limit = 40_000
    process = begin([*by_workers(server, tmp_path / "run", 2), "--max-tokens", str(limit)])
    code, said, complained = end(process)
    server.rest()
    assert code == 1
    assert "budget" in complained
    spent = json.loads(said)["tokens"]
    most = max(tokens for tokens in _tokens(tmp_path / "run"))
    assert 0.95 * limit <= spent < limit + CONCURRENCY * most  # those under way when it was used up still count
    assert f"budget of {limit:,} in tokens is used up ({spent:,} spent)" in complained


def _tokens(run: Path) -> list[int]:
    base = sqlite3.connect(run / "journal.sqlite")
    found = [one for (one,) in base.execute("SELECT prompt_tokens + completion_tokens FROM attempts")]
    base.close()
    return found


def test_workers_share_an_endpoints_limit_and_a_budget_of_which_all_have_something_to_spend(tmp_path: Path) -> None:
    limit = 2_000_000
    server = LimitedServer(Behaviour(per_second=40, limited=Fault(429)))
    try:
        player = f"openai:stub@{server.url}"
        result = play(
            "mini-mafia",
            out=tmp_path / "run",
            players=[player],
            design="self",
            games=12,
            concurrency=64,
            workers=2,
            max_tokens=limit,
            preflight=False,
        )
    finally:
        server.close()
    assert result.complete
    assert 0 < result.tally.tokens < limit / 2
    assert server.answered == result.tally.calls == 9 * 12
    assert server.refused[429] == result.tally.activity.retries["429"] < server.answered


def test_what_a_player_lacks_is_said_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        play("mini-mafia", out=tmp_path / "run", players=["openai:m"], design="self", workers=2)
    assert not (tmp_path / "run").exists()


def test_workers_that_keep_dying_end_the_run_with_their_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho out of memory >&2\nexit 9\n")
    python.chmod(0o755)
    monkeypatch.setattr(engine.sys, "executable", str(python))
    with pytest.raises(UsageError, match=r"3 workers in a row died.*(out of memory|no message)"):
        play("mini-mafia", out=tmp_path / "run", games=4, workers=2)
    monkeypatch.undo()
    assert play("mini-mafia", out=tmp_path / "run", games=4, workers=2).complete
    assert not (tmp_path / "run" / "shards").exists()


@pytest.mark.parametrize("times", [1, 2, 5])
def test_a_shard_taken_again_changes_nothing(whole: tuple[Path, list[str]], tmp_path: Path, times: int) -> None:
    with Journal.open(whole[0]) as shard, Journal.create(tmp_path / "run", shard.plan) as journal:
        pieces = shard.everything()
        some = [(table, rows[: len(rows) // 3]) for table, rows in pieces]
        for part in (some, *[pieces] * times):
            journal.absorb("a", part)
        journal.keep_templates(shard.plan["templates"], shard.templates(shard.plan["templates"]))
        journal.commit()
    assert rows(tmp_path / "run") == rows(whole[0])


def test_every_chain_is_dealt_once_and_fewer_at_a_time_towards_the_end(
    plan: Callable[..., Plan], tmp_path: Path
) -> None:
    job = Playing(plan(games=100, players=("scripted:bold",), design="self"), tmp_path)
    games: list[PlannedGame] = [game for chain in job.chains(set()) for game in chain]
    ended, begun = {games[3].game_id}, {games[7].game_id, games[90].game_id}
    dealer = Dealer(job, ended, begun)
    firsts = [dealer.first("a", 8, 2), dealer.first("b", 8, 1)]
    assert {7, 90} == {number for first in firsts for (number,) in first} - set(range(17)) | {7}
    dealt, sizes, taken = [chain for first in firsts for chain in first], [], 8
    while not dealer.exhausted:
        more = dealer.more("a", taken, taken - 8, 2)
        dealt, taken = dealt + more, taken + len(more)
        sizes.append(len(more))
    assert sorted(number for chain in dealt for number in chain) == [n for n in range(100) if n != 3]
    assert max(sizes) > 4
    assert sizes[-2] == 1
    assert dealer.take_over("b", "c", {games[firsts[1][0][0]].game_id}) == firsts[1][1:]


def test_allowances_never_add_up_to_more_than_the_budget() -> None:
    random = Random(1)
    for workers in (1, 2, 5):
        purse = Purse(1000.0, 100.0)
        spent = dict.fromkeys("abcde"[:workers], 0.0)
        allowed = {name: purse.allow(name, 0.0, workers) or 0.0 for name in spent}
        for _ in range(2000):
            name = random.choice(list(spent))
            spent[name] = random.uniform(spent[name], allowed[name])
            before = allowed[name]
            allowed[name] = purse.allow(name, spent[name], workers) or 0.0
            assert allowed[name] >= before
            assert 100.0 + sum(allowed.values()) <= 1000.0 + 1e-6
        for name in spent:  # all that is left can be spent
            for _ in range(200):
                spent[name] = allowed[name]
                allowed[name] = purse.allow(name, spent[name], workers) or 0.0
        assert 100.0 + sum(spent.values()) > 990.0


def test_what_a_worker_spent_before_it_died_counts_though_it_did_not_tell() -> None:
    purse = Purse(1000.0, 100.0)
    assert purse.allow("a", 0.0, 2) == 225.0
    assert purse.allow("b", 0.0, 2) == 225.0
    purse.close("a", spent=260.0)
    assert purse.spent == 260.0
    assert purse.allow("b", 50.0, 1) == 50.0 + 1000.0 - 310.0


@pytest.fixture
def light_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In place of the bundled encoder, which each process loads for seconds: only equal texts are alike."""
    packages = {
        "sentence_transformers": ENCODER,
        "transformers": "class utils: pass\n",
        "transformers.utils": "class logging:\n    set_verbosity_error = disable_progress_bar = dict\n",
    }
    for name, code in packages.items():
        folder = tmp_path.joinpath("packages", *name.split("."))
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(code, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "packages"))
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    lesson_book.open_similarity.cache_clear()
    yield
    lesson_book.open_similarity.cache_clear()
    for name in packages:
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("light_encoder")
def test_a_learning_cell_stays_with_one_worker_and_its_book_comes_back(tmp_path: Path) -> None:
    one, many = (
        play(
            "werewolf",
            out=tmp_path / str(workers),
            players=["scripted:bold"],
            design="self",
            games=3,
            learning="on,off",
            workers=workers,
        )
        for workers in (1, 2)
    )
    assert rows(many.folder) == rows(one.folder)
    books = sorted(path.name for path in (one.folder / "lessons").iterdir())
    assert len(books) == 1
    for book in books:
        assert (many.folder / "lessons" / book).read_bytes() == (one.folder / "lessons" / book).read_bytes()


def test_a_worker_that_has_spent_its_allowance_to_the_last_token_asks_for_more() -> None:
    def ask() -> None:
        asked.append(allowance.used_up)
        allowance.allow(200, None)

    asked: list[bool] = []
    context = PlayerContext(log=lambda attempt: None, game="", limits=Limits(max_tokens=100), spent_tokens=100)
    allowance = Allowance(context, ask)
    allowance.check()
    assert asked == [True]
