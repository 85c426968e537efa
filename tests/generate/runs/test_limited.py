"""Whole runs against endpoints with a rate limit, with outages and with every kind of trouble: no game is lost."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path

import pytest

from liescope.common.errors import BudgetSpent
from liescope.generate.players.openai import pace
from liescope.generate.players.openai.client import LARGEST
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import RunResult, play
from tests.generate.runs.limited_server import Fault, LimitedServer, as_json, by_chance

Serve = Callable[..., LimitedServer]
LIMIT = as_json({"error": {"message": "Rate limit reached", "type": "requests", "code": "rate_limit_exceeded"}})
TROUBLES = (  # and those that are habits of endpoints, in test_habits.py
    Fault(500),
    Fault(401, as_json({"error": {"message": "try again"}})),
    Fault(404, b"no route"),
    Fault(307, headers={"Location": "http://127.0.0.1:9/v1/chat/completions"}),
    Fault(200, b"a" * (LARGEST + 1)),
    Fault(500, b"a" * (LARGEST + 1)),
    Fault(200, gzip.compress(b"a" * 2**26), {"Content-Encoding": "gzip"}),
    Fault(200, b"not packed", {"Content-Encoding": "gzip"}),
    Fault(200, b'data: {"choices": []}\n\n'),
    Fault(500, headers={f"X-{n}": "b" * 1000 for n in range(300)}),
    Fault(402, headers={"Retry-After": "0"}),
)
PASSING_400 = Fault(400, as_json({"error": {"message": "odd"}}))


@pytest.fixture(autouse=True)
def _short_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PROBE", 0.05)
    monkeypatch.setattr(pace, "LONGEST_PROBE", 0.2)


def run(server: LimitedServer, out: Path, **options: object) -> RunResult:
    told = {"design": "self", "concurrency": 64, "preflight": False, "max_fallbacks": 1}
    return play("mini-mafia", out=out, players=[f"openai:stub@{server.url}"], **told | options)


def replies(folder: Path) -> list[object]:
    with Journal.open(folder) as journal:
        return [journal.answers(game_id) for game_id in journal.game_ids()]


@pytest.mark.long
@pytest.mark.parametrize("headers", [{}, {"retry-after-ms": "300"}])
def test_a_rate_limit_loses_no_game_and_is_kept_near(serve: Serve, tmp_path: Path, headers: dict[str, str]) -> None:
    server = serve(per_second=30, limited=Fault(429, LIMIT, headers))
    result = run(server, tmp_path / "run", games=8)
    assert result.complete
    assert (result.tally.failed, result.tally.unrated) == (0, 0)
    assert server.answered == result.tally.calls == 9 * 8
    assert server.refused[429] == result.tally.activity.retries["429"] < server.answered


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.FIRST_WAIT", 0.01)
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.LONGEST_WAIT", 0.1)
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.ASK_TRIES", 12)
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.PLAYER_TRIES", 40)


@pytest.mark.parametrize("troubles", [TROUBLES, [PASSING_400]], ids=["of every kind", "a passing 400"])
@pytest.mark.usefixtures("_impatient")
def test_no_trouble_that_passes_loses_a_game_or_changes_one(
    serve: Serve, tmp_path: Path, troubles: Sequence[Fault]
) -> None:
    kinds = cycle(troubles)
    chance = by_chance(0.3, troubles[0])
    server = serve(fault=lambda seconds, body: next(kinds) if server.answered and chance(seconds, body) else None)
    result = run(server, tmp_path / "run", games=6, assess=True)
    assert result.complete
    assert (result.tally.failed, result.tally.unrated) == (0, 0)
    assert result.tally.calls == server.answered  # each answer is paid for and used once
    assert sum(server.refused.values()) > 10
    server.behaviour.fault = lambda seconds, body: None
    plain = run(server, tmp_path / "plain", games=6, assess=True)
    if PASSING_400 not in troubles:  # an ask is then repeated without its format, and answered otherwise
        assert replies(result.folder) == replies(plain.folder)


def test_a_budget_is_not_outrun_by_requests_under_way(serve: Serve, tmp_path: Path) -> None:
    result = run(serve(latency=0.2), tmp_path / "run", games=60, max_tokens=20_000)
    assert isinstance(result.tally.stop, BudgetSpent)
    assert 18_000 < result.tally.tokens < 22_000


def test_players_of_one_host_share_its_pace(serve: Serve, tmp_path: Path) -> None:
    server = serve(per_second=40, limited=Fault(429, LIMIT))
    players = [f"openai:{name}@{server.url}" for name in ("one", "two")]
    result = play("mini-mafia", out=tmp_path / "run", players=players, games=2, concurrency=64, max_fallbacks=1)
    assert result.complete
    assert server.refused[429] < 0.8 * server.answered
