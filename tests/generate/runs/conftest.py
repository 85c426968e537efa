"""The kind `fake` of players, and plans for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from liescope import cli
from liescope.games.game_registry import find_game
from liescope.games.playable import roles_in_play
from liescope.generate.players import player_registry
from liescope.generate.runs.plan_games import designed, make_plan
from liescope.generate.runs.run_plan import Plan
from tests.generate.players.openai.stub import Script, Stub
from tests.generate.runs.fakes import FakeEndpoint, FakePlayer
from tests.generate.runs.limited_server import Behaviour, LimitedServer


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> FakeEndpoint:
    endpoint = FakeEndpoint()
    monkeypatch.setitem(player_registry.PLAYERS, "fake", lambda name, table: FakePlayer(name, table, endpoint))
    return endpoint


@pytest.fixture
def plan() -> Callable[..., Plan]:
    """plan(games=…, players=…, game=…, seed=…, **options) for fake players."""

    def make(
        games: int = 3,
        players: Sequence[str] = ("fake:a", "fake:b"),
        game: str = "mini-mafia",
        seed: int = 1,
        design: str = "background",
        seating: str = "balanced",
        **options: Any,
    ) -> Plan:
        roles = roles_in_play(find_game(game).resolve(options))
        return make_plan(game, options, players, design, designed(design, roles, players), games, seed, seating)

    return make


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "first"


@pytest.fixture
def say(endpoint: FakeEndpoint, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """say(word, …): exit code, standard output and standard error of the command."""

    def run(*words: object) -> tuple[int, str, str]:
        code = cli.main([str(word) for word in words])
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def serve() -> Iterator[Callable[..., LimitedServer]]:
    """serve(latency=…, …): a server of that behaviour."""
    with ExitStack() as running:
        yield lambda **behaviour: running.enter_context(closing(LimitedServer(Behaviour(**behaviour))))


@pytest.fixture
def serve_stub() -> Iterator[Callable[[Script], Stub]]:
    """serve_stub(script): a server that answers by this script."""
    with ExitStack() as running:
        yield lambda script: running.enter_context(closing(Stub(script)))
