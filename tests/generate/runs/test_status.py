"""What a run is doing is told from its folder, whether its process still lives or not."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import liescope
from liescope.common.errors import BadData
from liescope.generate.runs import run_progress as module
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_progress import STATE_FILE
from tests.generate.runs.limited_server import LimitedServer
from tests.generate.runs.test_interrupt import begin, wait_until


@pytest.fixture
def server(serve: Callable[..., LimitedServer]) -> LimitedServer:
    return serve(latency=0.3)


def test_a_run_under_way_is_told_from_another_process_and_so_is_its_end(
    server: LimitedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    process = begin(server, out)
    try:
        wait_until(lambda: (out / STATE_FILE).exists() and liescope.status(out).begun)
        going = liescope.status(out)
        assert going.running
        assert (going.planned, going.failed) == (50, 0)
        assert f"127.0.0.1:{server.port}" in "\n".join(going.lines())
        process.send_signal(signal.SIGKILL)
        process.wait()
        monkeypatch.setattr(module, "SILENT", 0.0)
        cut_off = liescope.status(out)
        assert not cut_off.running
        assert "was cut off" in next(cut_off.lines())
    finally:
        process.kill()
        process.communicate()


def test_a_run_that_ended_says_so_and_why(server: LimitedServer, tmp_path: Path) -> None:
    out = tmp_path / "run"
    liescope.play("mini-mafia", out=out, players=["scripted:bold"], games=3)
    ended = liescope.status(out)
    assert not ended.running
    assert (ended.done, ended.planned, ended.begun) == (3, 3, 0)
    assert "play ended" in next(ended.lines())
    with Journal.open(out) as journal:
        made = sum(len(journal.answers(game_id)) for game_id in journal.game_ids())
    assert (ended.replies, ended.tokens) == (made, None)
    liescope.play("mini-mafia", out=out, players=["scripted:bold"], games=3)  # finds nothing left to do
    after = liescope.status(out)
    assert after.state.calls == 0
    assert list(after.lines())[1:] == ["3 of 3 games done", f"{made} replies"]
    again = tmp_path / "other"
    server.behaviour.latency = 0.0
    stopped = liescope.play(
        "mini-mafia", out=again, players=[f"openai:stub@{server.url}"], design="self", games=50, max_tokens=2000
    )
    assert stopped.tally.stop is not None
    assert "budget" in next(liescope.status(again).lines())
    assert all(len(line) <= 80 for line in list(liescope.status(again).lines())[1:])
    told = json.loads(json.dumps(liescope.status(again).to_json()))
    assert told["games"]["done"] == stopped.tally.done
    assert told["tokens"] >= 2000
    assert f"{told['tokens']:,} tokens" in "\n".join(liescope.status(again).lines())


def test_an_imported_run_counts_what_came_in(tmp_path: Path) -> None:
    chats = tmp_path / "chats.jsonl"
    turns = [{"role": "user", "content": "Was it you?"}, {"role": "assistant", "content": "No."}]
    chats.write_text("".join(json.dumps({"messages": turns, "lie": lie}) + "\n" for lie in (True, False)))
    liescope.import_games("chat", chats, out=tmp_path / "run")
    found = liescope.status(tmp_path / "run")
    assert [line.partition(": ")[2] or line for line in found.lines()] == ["imported (chat)", "2 conversations"]
    assert found.replies == 0


def test_a_damaged_state_is_named_and_costs_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run"
    liescope.play("mini-mafia", out=out, games=1)
    (out / STATE_FILE).write_text('{"command": "play", "tokens": -1}')
    with pytest.raises(BadData, match=r"status\.json"):
        liescope.status(out)
    assert liescope.play("mini-mafia", out=out, games=1).complete
    (out / STATE_FILE).unlink()
    assert liescope.status(out).done == 1
