"""A server that does everything wrong: games end all the same or say why not, and nothing is silent or paid twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from liescope.common.errors import BudgetSpent
from liescope.games.core import EventKind
from liescope.generate.players.player_protocol import PREFLIGHT
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from tests.generate.runs.fault_server import TRANSIENT

ROOT = Path(__file__).parents[3]
Serve = Callable[..., "Server"]


class Server:
    """The faulty server's process."""

    def __init__(self, **plan: Any) -> None:
        command = [sys.executable, "-m", "tests.generate.runs.fault_server", json.dumps(plan)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=dict(os.environ))
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    @property
    def player(self) -> str:
        return f"openai:stub@http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()

    def counts(self) -> dict[str, Any]:
        with urlopen(f"http://127.0.0.1:{self.port}/counts", timeout=10) as answer:
            counts: dict[str, Any] = json.load(answer)
        return counts


@pytest.fixture
def serve() -> Iterator[Serve]:
    running: list[Server] = []

    def start(**plan: Any) -> Server:
        running.append(Server(**plan))
        return running[-1]

    yield start
    for server in running:
        server.close()


def calls(folder: Path) -> list[dict[str, Any]]:
    with Journal.open(folder) as journal:
        return [call for game_id in journal.game_ids() for call in journal.calls(game_id)]


@pytest.mark.long
def test_with_trouble_at_three_requests_in_ten_every_game_ends_and_every_answer_is_paid_once(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve(share=0.3, strange=0.1)
    out = tmp_path / "run"
    options = {"design": "self", "games": 16, "assess": True, "assess_share": 0.3, "timeout": 3}
    result = play("mini-mafia", out=out, players=[server.player], **options)
    counts = server.counts()
    assert set(TRANSIENT) <= set(counts["done"])
    assert result.tally.stop is None
    assert result.tally.done + result.tally.failed == 16
    assert result.tally.done == 16, result.tally.failures
    with Journal.open(out) as journal:
        asked_first = journal.calls(PREFLIGHT)
    made = [*asked_first, *calls(out)]
    paid = [call for call in made if call["completion_tokens"] is not None]
    assert len(paid) == counts["paid"]
    assert len({(call["game_id"], call["step"], call["seat"]) for call in paid}) == len(paid)
    assert counts["strangers"] == 0
    assert sum(result.tally.activity.retries.values()) == len(made) - len(paid)


def test_a_strange_answer_is_marked_in_the_event_and_in_the_call(serve: Serve, tmp_path: Path) -> None:
    server = serve(share=0.0, strange=1.0)
    out = tmp_path / "run"
    result = play("mini-mafia", out=out, players=[server.player], design="self", games=12, timeout=5)
    assert result.complete
    said = {text for call in calls(out) for text in (call["problem"], *call["notes"])}
    assert {"empty message", "refused by the model", "cut off at the token limit"} <= said
    with Journal.open(out) as journal:
        for game in journal.records():
            for event in game.events:
                if event.kind in (EventKind.STATEMENT, EventKind.VOTE) and not event.fallback:
                    assert "\x1b" not in event.text
                    assert len(event.text) <= 200
                assert event.kind is not EventKind.SILENCE or event.fallback or event.text == ""


def test_a_budget_is_not_outrun_by_requests_under_way(serve: Serve, tmp_path: Path) -> None:
    server = serve(share=0.0, strange=0.0, latency=0.2)
    options = {"design": "self", "games": 60, "max_tokens": 20_000}
    result = play("mini-mafia", out=tmp_path / "run", players=[server.player], **options)
    assert isinstance(result.tally.stop, BudgetSpent)
    assert 18_000 < result.tally.tokens < 22_000
