"""Replies are paid for once, by game and place; and a folder that is no cache is an error, never an answer."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import BadData, UsageError
from liescope.generate.players.reply_cache import FILE, LARGEST, ReplyCache
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import RunResult, play
from liescope.generate.runs.run_commands import summarise
from tests.generate.players.openai.stub import Request, Stub, fails, says
from tests.generate.runs.limited_server import Fault, LimitedServer, by_chance


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.FIRST_WAIT", 0.001)


@pytest.fixture
def server(serve: Callable[..., LimitedServer]) -> LimitedServer:
    return serve(latency=0.0)


def run(url: str, out: Path, games: int = 3, **options: Any) -> RunResult:
    options = {"cache": out.parent / "cache", "price": ["m=1000,1000"], "design": "self", "preflight": False, **options}
    options = {"max_fallbacks": 1, **options}  # what the server answers is often of no use
    return play("mini-mafia", out=out, players=[f"openai:m@{url}"], games=games, **options)


def events(folder: Path) -> list[object]:
    with Journal.open(folder) as journal:
        return [record.events for record in journal.records()]


def test_a_second_run_of_the_same_plan_asks_nothing_costs_nothing_and_is_the_same(
    server: LimitedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.behaviour.fault = by_chance(0.1, Fault(500), Fault(429, headers={"retry-after-ms": "1"}))
    first = run(server.url, tmp_path / "first", assess=True)
    assert (first.tally.from_cache, first.tally.cost > 0) == (0, True)
    sent = server.answered
    again = run(server.url, tmp_path / "again", assess=True, max_cost=0.0)
    assert server.answered == sent == again.tally.calls == again.tally.from_cache
    assert events(tmp_path / "again") == events(tmp_path / "first")
    assert (again.tally.tokens, again.tally.cost) == (0, 0.0)
    summarise(again, as_json=False)
    assert f"{sent} of the replies were in the cache" in capsys.readouterr().out
    with Journal.open(tmp_path / "again") as journal:
        assert journal.spent() == (0, 0.0)
        calls = [call for game_id in journal.game_ids() for call in journal.calls(game_id)]
        assert {call["via"] for call in calls} == {"cache"}
        assert {call["cost"] for call in calls} == {0.0}
        assert {call["attempt"] for call in calls} == {1}
        ask = calls[0]
        (request,) = journal.requests(ask["game_id"], ask["step"], ask["seat"])
        assert request.via == "cache"
        assert request.body is not None
    # And the run that is resumed with nothing kept but its plan.
    shutil.rmtree(tmp_path / "again")
    run(server.url, tmp_path / "again", assess=True)
    assert server.answered == sent


def test_a_plan_with_more_games_pays_for_those_alone(server: LimitedServer, tmp_path: Path) -> None:
    few = run(server.url, tmp_path / "few", games=2)
    more = run(server.url, tmp_path / "more", games=3)
    assert more.tally.from_cache == few.tally.calls
    assert server.answered == more.tally.calls
    assert events(tmp_path / "more")[:2] == events(tmp_path / "few")
    # Other seeds are other draws, also where the words are the same.
    other = run(server.url, tmp_path / "other", games=2, seed=1)
    assert other.tally.from_cache == 0


def test_games_that_ask_the_same_thing_get_answers_of_their_own(
    serve_stub: Callable[..., Stub], tmp_path: Path
) -> None:
    stub = serve_stub(lambda request, number: says(f"I trust nobody, for reason {number}."))
    options = {"cache": tmp_path / "cache", "design": "self", "roles": "fixed", "concurrency": 1, "preflight": False}
    options["max_fallbacks"] = 1  # none can be read
    play("mini-mafia", out=tmp_path / "run", players=[f"openai:m@{stub.url}"], games=8, **options)
    bodies = [str(request.body) for request in stub.requests]
    assert len(set(bodies)) < len(bodies)  # there are equal questions, and each was asked
    with Journal.open(tmp_path / "run") as journal:
        said = [reply.raw for game_id in journal.game_ids() for reply in journal.answers(game_id).values()]
    assert len(set(said)) == len(said) == len(bodies)


def test_errors_are_not_kept_and_refusals_of_the_model_are(serve_stub: Callable[..., Stub], tmp_path: Path) -> None:
    def script(request: Request, number: int) -> Any:
        return fails(400, "odd") if number < 3 else says(None, refusal="I will not.")

    stub = serve_stub(script)
    first = run(stub.url, tmp_path / "first", games=1)
    sent = len(stub.requests)
    again = run(stub.url, tmp_path / "again", games=1)
    assert (len(stub.requests), again.tally.from_cache) == (sent, sent - 3)
    assert again.tally.fallbacks == first.tally.fallbacks


WRITER = """
import sys
from pathlib import Path
from liescope.generate.players.reply_cache import ReplyCache
with ReplyCache(Path(sys.argv[1])) as cache:
    for number in range(200):
        cache.keep(f"key {number}", f"by {sys.argv[2]}")
        assert cache.find(f"key {number}") is not None
"""


def test_many_processes_may_use_it_at_once(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path / "cache"), str(number)], stderr=subprocess.PIPE)
        for number in range(2)
    ]
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [(b"", 0)] * 2
    with ReplyCache(tmp_path / "cache") as cache:
        assert all(str(cache.find(f"key {number}")).startswith("by ") for number in range(200))


def made(folder: Path, change: str = "") -> Path:
    """A folder with one reply, and then a change."""
    with ReplyCache(folder) as cache:
        cache.keep("key", "reply")
    base = sqlite3.connect(folder / FILE, isolation_level=None)
    base.executescript(change)
    base.close()
    return folder


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE replies SET reply = 'another'",
        "UPDATE replies SET reply = 7",
        "UPDATE replies SET hash = 'x'",
        f"UPDATE replies SET reply = CAST(zeroblob({LARGEST + 1}) AS TEXT)",
        "INSERT INTO replies SELECT 'other', reply, hash FROM replies",
        "CREATE TRIGGER t AFTER INSERT ON replies BEGIN DELETE FROM replies; END",
        "ALTER TABLE replies RENAME TO old; CREATE VIEW replies AS SELECT key, 'x' AS reply, hash FROM old",
        "PRAGMA user_version = 9",
        "DROP TABLE replies",
    ],
)
def test_a_changed_cache_is_an_error_and_never_another_answer(tmp_path: Path, change: str) -> None:
    folder = made(tmp_path / "cache", change)

    def use() -> None:
        with ReplyCache(folder) as cache:
            assert cache.find("key") == "reply"
            cache.find("other")

    with pytest.raises(BadData, match="delete it"):
        use()


def test_folders_that_are_none_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("words")
    with pytest.raises(UsageError, match="cannot hold a reply cache"):
        ReplyCache(tmp_path / "file")
    for name in ("text", "link", "pipe"):
        (tmp_path / name).mkdir()
    (tmp_path / "text" / FILE).write_text("This is no database. " * 100)
    (tmp_path / "link" / FILE).symlink_to(tmp_path / "file")
    os.mkfifo(tmp_path / "pipe" / FILE)
    for name in ("text", "link", "pipe"):
        with pytest.raises(BadData, match="delete it"):
            ReplyCache(tmp_path / name)


def test_a_reply_of_another_shape_is_none(server: LimitedServer, tmp_path: Path) -> None:
    """Whoever can write to the folder can hash as well: what is no completion is still not used."""
    from liescope.generate.players import reply_cache

    run(server.url, tmp_path / "first", games=1)
    base = sqlite3.connect(tmp_path / "cache" / FILE)
    with base:
        for (key,) in base.execute("SELECT key FROM replies").fetchall():
            row = ('{"content": ["no text"]}', reply_cache.answer_hash(key, '{"content": ["no text"]}'), key)
            base.execute("UPDATE replies SET reply = ?, hash = ? WHERE key = ?", row)
    base.close()
    with pytest.raises(BadData, match="not what was written"):
        run(server.url, tmp_path / "again", games=1)


def test_neither_prompts_nor_addresses_are_kept(server: LimitedServer, tmp_path: Path) -> None:
    run(server.url, tmp_path / "run", games=1)
    with Journal.open(tmp_path / "run") as journal:
        (game_id,) = journal.game_ids()
        call = journal.calls(game_id)[0]
        (request,) = journal.requests(game_id, call["step"], call["seat"])
    prompt = str(request.body["messages"][0]["content"])
    kept = b"".join(file.read_bytes() for file in (tmp_path / "cache").iterdir())
    assert str(server.port).encode() not in kept
    assert prompt.splitlines()[0].encode() not in kept
