"""What a role is called stands in the game's manifest; methods on counts speak of deceiver, discloser and voter."""

from __future__ import annotations

import re
from pathlib import Path

import liescope.benchmark
from liescope.games.game_registry import GAMES

ROOM = Path(liescope.benchmark.__file__).parent
ROLES = {role for game in GAMES.values() if len(game.roles) > 1 for role in game.roles}  # else: whoever plays


def test_no_role_of_a_game_is_named_in_a_method_on_counts() -> None:
    found = {
        (path.name, word)
        for path in [*sorted((ROOM / "capability").glob("*.py")), ROOM / "reporting.py"]
        for word in re.findall("[a-z]+", path.read_text(encoding="utf-8"))
        if word.removesuffix("s") in ROLES
    }
    assert found == set()
