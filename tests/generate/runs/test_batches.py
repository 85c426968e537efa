"""Runs by batches: the same games as by single requests, whatever becomes of a batch, and nothing is paid for twice."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from liescope.common.errors import BadData, EndpointRefused, EndpointSilent, UsageError
from liescope.generate.players.openai import batch_queue
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import RunResult, label, play
from tests.generate.players.openai.batch_server import (
    DROPPED,
    STATES,
    BatchServer,
    Plan,
    Rows,
    done,
    failed,
    not_done,
)
from tests.generate.players.openai.stub import Answer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
QUICK = {"QUIET": 0.05, "FIRST_POLL": 0.01, "LONGEST_POLL": 0.02, "FIRST_PAUSE": 0.01, "_FULL_PAUSE": 0.05}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in QUICK.items():
        monkeypatch.setattr(batch_queue, name, seconds)


@pytest.fixture
def server() -> Iterator[BatchServer]:
    server = BatchServer()
    yield server
    server.close()


def run(server: BatchServer, out: Path, games: int = 4, **options: Any) -> RunResult:
    options = {"batch": True, "preflight": False, "design": "self", "price": ["m=1000,1000"], **options}
    return play("mini-mafia", out=out, players=[f"openai:m@{server.url}"], games=games, **options)


def events(folder: Path) -> list[object]:
    with Journal.open(folder) as journal:
        return [record.events for record in journal.records()]


@pytest.fixture
def reference(server: BatchServer, tmp_path: Path) -> list[object]:
    """The events of a run of four games by single requests."""
    run(server, tmp_path / "reference", batch=False)
    return events(tmp_path / "reference")


def attempts(folder: Path) -> list[dict[str, Any]]:
    with Journal.open(folder) as journal:
        return [call for game_id in journal.game_ids() for call in journal.calls(game_id)]


def test_a_run_by_batches_is_the_run_by_single_requests(server: BatchServer, tmp_path: Path) -> None:
    single = run(server, tmp_path / "single", games=6, batch=False, assess=True)
    alone = server.alone
    assert alone == single.tally.calls
    batched = run(server, tmp_path / "batched", games=6, assess=True)
    assert batched.complete
    assert events(tmp_path / "batched") == events(tmp_path / "single")
    # One request found out whether schemas are taken; every other came in a batch, once.
    assert server.alone == alone + 1
    assert len(server.paid) == server.paid.total() == alone - 1
    # Games go step by step, all at once: there are about as many batches as steps of a game.
    assert len(server.batches) <= 1.5 * max(call["step"] for call in attempts(tmp_path / "single"))
    assert batched.tally.cost == pytest.approx(single.tally.cost)  # no discount is known for this host
    with Journal.open(tmp_path / "batched") as journal:
        call = next(call for call in attempts(tmp_path / "batched") if call["latency_ms"] is None)
        (request,) = journal.requests(call["game_id"], call["step"], call["seat"])
        assert request.via == "batch"


def test_a_known_host_gives_a_discount(server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = run(server, tmp_path / "full", games=1, roles="fixed").tally.cost
    monkeypatch.setitem(batch_queue._DISCOUNTS, server.url.split("/")[2], 0.5)
    assert run(server, tmp_path / "half", games=1, roles="fixed").tally.cost == pytest.approx(full / 2)


def every(share: int, other: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Rows], tuple[Rows, Rows]]:
    """Results in which every so many-th line is another one, in the error file."""

    def results(rows: Rows) -> tuple[Rows, Rows]:
        return (
            [done(row) for place, row in enumerate(rows) if place % share],
            [other(row) for place, row in enumerate(rows) if place % share == 0],
        )

    return results


TROUBLES: dict[str, Plan] = {
    "a rate limit": Plan(results=every(3, lambda row: failed(row, 429))),
    "a server error": Plan(results=every(3, lambda row: failed(row, 500))),
    "expired": Plan((*STATES[:2], "expired"), every(3, not_done)),
    "expired, and says nothing": Plan((*STATES[:2], "expired"), lambda rows: ([done(row) for row in rows[1:]], [])),
    "a time-out": Plan(results=every(2, lambda row: not_done(row, "request_timeout"))),
    "lines that are none": Plan(results=lambda rows: ([{"custom_id": "?"}, {}, *map(done, rows[1:])], [])),
}


@pytest.mark.parametrize("name", TROUBLES)
def test_what_a_batch_leaves_goes_into_the_next(
    server: BatchServer, tmp_path: Path, name: str, reference: list[object]
) -> None:
    server.plan = lambda number, rows: Plan() if number % 2 else TROUBLES[name]
    result = run(server, tmp_path / "run")
    assert (result.complete, result.tally.retried) == (True, 0)
    assert set(server.paid.values()) == {1}
    problems = [call["problem"] for call in attempts(tmp_path / "run") if call["attempt"] < 2]
    assert any(problems)  # each is a row of the journal
    assert events(tmp_path / "run") == reference


def test_a_request_that_no_batch_answers_fails_its_game_alone(server: BatchServer, tmp_path: Path) -> None:
    def results(rows: Rows) -> tuple[Rows, Rows]:
        bad = rows[0]["custom_id"] if not unlucky else unlucky[0]
        unlucky.append(bad)
        return [done(row) for row in rows if row["custom_id"] != bad], [
            failed(row, 400) for row in rows if row["custom_id"] == bad
        ]

    unlucky: list[str] = []
    server.plan = lambda number, rows: Plan(results=results)
    result = run(server, tmp_path / "run")
    assert (result.tally.done, result.tally.failed) == (3, 1)
    (reason,) = result.tally.failures
    assert "it rejects the request (400)" in reason


def test_a_server_without_batches_is_told_at_once(server: BatchServer, tmp_path: Path) -> None:
    server.fault = lambda method, path, number, when: Answer({"detail": "Not Found"}, 404)
    result = run(server, tmp_path / "run")
    assert isinstance(result.tally.stop, EndpointRefused)
    assert "takes no files of requests (it answered 404: Not Found); leave --batch out" in str(result.tally.stop)
    server.fault = lambda method, path, number, when: None
    assert run(server, tmp_path / "run", batch=False).complete


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan((*STATES[:2], "cancelled"), every(2, lambda row: not_done(row, "batch_cancelled"))), "was cancelled"),
        (
            Plan((STATES[0], "failed"), errors={"data": [{"code": "model_not_found", "message": "No model m."}]}),
            "refuses the batch batch-0: No model m.",
        ),
    ],
)
def test_a_batch_that_was_stopped_pauses_the_run_and_the_same_command_goes_on(
    server: BatchServer, tmp_path: Path, plan: Plan, words: str
) -> None:
    server.plan = lambda number, rows: plan if number == 0 else Plan()
    first = run(server, tmp_path / "run")
    assert isinstance(first.tally.stop, EndpointRefused)
    assert words in str(first.tally.stop)
    assert run(server, tmp_path / "run").complete
    assert set(server.paid.values()) == {1}


def test_a_full_queue_is_waited_for_with_smaller_files(server: BatchServer, tmp_path: Path) -> None:
    """The limit on what an account may have waiting shows as a batch that failed."""
    message = "Enqueued token limit reached for m in organization o. Limit: 90,000 enqueued tokens."
    full = Plan((STATES[0], "failed"), errors={"data": [{"code": "token_limit_exceeded", "message": message}]})
    server.plan = lambda number, rows: full if len(rows) > 3 else Plan()
    assert run(server, tmp_path / "run", games=8).complete
    assert set(server.paid.values()) == {1}
    server.plan = lambda number, rows: full
    result = run(server, tmp_path / "never", games=2, give_up_after="0.3s")
    assert isinstance(result.tally.stop, EndpointSilent)
    assert "Enqueued token limit reached" in str(result.tally.stop)


@pytest.mark.parametrize("path", ["/files", "/batches", "/batches/batch-0", "/files/file-output-batch-0/content"])
@pytest.mark.parametrize("trouble", [DROPPED, Answer({"error": {"message": "overloaded"}}, 503), Answer([], 200)])
def test_trouble_on_the_way_is_waited_out_and_no_batch_is_made_twice(
    server: BatchServer, tmp_path: Path, path: str, trouble: Answer
) -> None:
    times = {"before": 0, "after": 0}

    def fault(method: str, asked: str, number: int, when: str) -> Answer | None:
        if asked != path or (method, path) == ("GET", "/batches") or times[when] >= 2:
            return None
        times[when] += 1
        return trouble

    server.fault = fault
    assert run(server, tmp_path / "run", games=2).complete
    assert set(server.paid.values()) == {1}
    files = [batch.file for batch in server.batches.values()]
    assert len(set(files)) == len(files)


CLIENT = f"""
import sys
from liescope import cli
from liescope.generate.players.openai import batch_queue
for name, seconds in {QUICK!r}.items():
    setattr(batch_queue, name, seconds)
sys.exit(cli.main(sys.argv[1:]))
"""


def client(server: BatchServer, out: Path) -> subprocess.Popen[str]:
    words = ["play", "mini-mafia", "--player", f"openai:m@{server.url}", "--design", "self", "--games", "4"]
    command = [sys.executable, "-c", CLIENT, *words, "--batch", "--no-preflight", "--json", "--out", str(out)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("how", "known"),
    [(signal.SIGKILL, True), (signal.SIGKILL, False), (signal.SIGINT, True)],
    ids=["killed while a batch is under way", "killed before its id was known", "interrupted"],
)
def test_a_stopped_run_finds_its_batch_again(
    server: BatchServer, tmp_path: Path, how: signal.Signals, known: bool, reference: list[object]
) -> None:
    if not known:
        server.fault = lambda method, path, number, when: (
            DROPPED if (method, path, when) == ("POST", "/batches", "after") else None
        )
    server.held.clear()
    process = client(server, tmp_path / "run")
    wait_for(lambda: server.asked["GET /batches/ID"] if known else server.batches)
    process.send_signal(how)
    said = process.communicate(timeout=60)
    assert process.returncode == (130 if how is signal.SIGINT else -9), said
    with pytest.raises(UsageError, match="batches under way, which are paid for: add --batch"):
        run(server, tmp_path / "run", batch=False)
    server.fault = lambda method, path, number, when: None
    server.held.set()
    assert run(server, tmp_path / "run").tally.done == 4
    assert set(server.paid.values()) == {1}
    files = [batch.file for batch in server.batches.values()]
    assert len(set(files)) == len(files)
    assert known or server.asked["GET /batches"]
    assert events(tmp_path / "run") == reference


def test_what_the_preflight_found_out_needs_no_request_outside_of_batches(server: BatchServer, tmp_path: Path) -> None:
    assert run(server, tmp_path / "run", games=1, assess=True, preflight=True).complete
    assert server.alone == 1


def under_way(server: BatchServer, run_folder: Path) -> sqlite3.Connection:
    """What a run keeps of its batches, after it was stopped by a cancelled one."""
    server.plan = lambda number, rows: Plan((*STATES[:2], "cancelled"), every(2, not_done))
    run(server, run_folder)
    server.plan = lambda number, rows: Plan()
    (file,) = run_folder.glob("batches/*/batches.sqlite")
    return sqlite3.connect(file, isolation_level=None)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE requests SET answer = '[200, \"{}\"]' WHERE answer NOTNULL", "is not what was written"),
        ("CREATE TRIGGER t AFTER INSERT ON requests BEGIN DELETE FROM requests; END", "no batches of this version"),
        ("PRAGMA user_version = 7", "no batches of this version"),
    ],
)
def test_a_changed_folder_of_batches_is_an_error_and_never_an_answer(
    server: BatchServer, tmp_path: Path, change: str, words: str
) -> None:
    base = under_way(server, tmp_path / "run")
    base.executescript(change)
    base.close()
    with pytest.raises(BadData, match=words):
        run(server, tmp_path / "run")


def test_a_batch_that_its_account_has_lost_is_told(server: BatchServer, tmp_path: Path) -> None:
    base = under_way(server, tmp_path / "run")
    base.execute("UPDATE batches SET ended = 0")
    base.close()
    server.batches.clear()
    stop = run(server, tmp_path / "run").tally.stop
    assert isinstance(stop, EndpointRefused)
    assert "knows no batch batch-0 (it answered 404: Not Found); if they are lost, delete" in str(stop)


def test_a_judge_sends_all_it_has_as_one_file(server: BatchServer, tmp_path: Path) -> None:
    play("mini-mafia", out=tmp_path / "run", games=5)
    judge = f"openai:m@{server.url}?json=none"
    judged = label(
        tmp_path / "run", judge, out=tmp_path / "judged", preflight=False, batch=True, cache=tmp_path / "cache"
    )
    assert judged.complete
    assert server.paid.total() == judged.tally.calls
    steps = max(call["step"] for call in attempts(tmp_path / "judged")) + 1
    assert len(server.batches) <= 1.5 * steps
    again = label(tmp_path / "run", judge, out=tmp_path / "again", batch=True, cache=tmp_path / "cache")
    assert again.tally.from_cache == again.tally.calls == server.paid.total()


def test_keys_go_to_every_address_and_into_no_file(
    server: BatchServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-" + "secret" * 5
    monkeypatch.setenv("MY_API_KEY", secret)

    def echoing(rows: Rows) -> tuple[Rows, Rows]:
        lines = [done(row) for row in rows]
        for line in lines:
            line["response"]["body"]["choices"][0]["message"]["content"] = f"My key is {secret}"
        return lines, []

    server.plan = lambda number, rows: Plan(results=echoing)
    player = f"openai:m@{server.url}?key_env=MY_API_KEY"
    play("mini-mafia", out=tmp_path / "run", players=[player], games=1, batch=True, preflight=False)
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {secret}"}
    kept = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert not [data for data in kept if secret.encode() in data]
    assert any(b"My key is" in data for data in kept)
