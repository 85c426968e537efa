"""The kind `fake` of players, and plans for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from liescope.games.game_registry import find_game
from liescope.games.playable import roles_in_play
from liescope.generate.players import player_registry
from liescope.generate.runs.plan_games import designed, make_plan
from liescope.generate.runs.run_plan import Plan
from tests.generate.runs.fakes import FakeEndpoint, FakePlayer


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
