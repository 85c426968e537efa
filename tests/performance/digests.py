"""Digests of all that scripted games of every kind leave behind, to see that a change for speed changes nothing else.

Run on both sides of a change, and compare: python tests/performance/digests.py > before.txt
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from liescope.games.game_registry import find_game
from liescope.games.playable import roles_in_play
from liescope.generate.corpus import build
from liescope.generate.runs.plan_games import designed, make_plan
from liescope.generate.runs.runner import play

PLAYERS = ("scripted:bold", "scripted:steady", "scripted:novice")
KINDS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("mini-mafia", {}, 70),
    ("mini-mafia", {"assess": True}, 70),
    ("mini-mafia", {"assess": True, "assess_share": 0.5}, 40),
    ("mini-mafia", {"assess": True, "show_suspicion": True, "message_limit": 60}, 30),
    ("mini-mafia", {"mutual_discovery": True, "reveal_dead": True}, 60),
    ("mafia", {}, 60),
    ("mafia", {"assess": True}, 40),
    ("werewolf", {}, 40),
    ("werewolf", {"assess": True, "message_limit": 80}, 20),
    ("dyadic-werewolf", {"assess": True}, 20),
    ("one-night-werewolf", {"assess": True}, 60),
)
KEPT = {"replies": "game_id, step, position", "games": "number"}


def digests(game: str, options: dict[str, Any], games: int) -> dict[str, str]:
    """By name, the digest of each table of the journal and of each file of the corpus."""
    roles = roles_in_play(find_game(game).resolve(options))
    plan = make_plan(game, options, PLAYERS, "self", designed("self", roles, PLAYERS), games, 11)
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        asyncio.run(play(plan, run))
        base = sqlite3.connect(run / "journal.sqlite")
        found = {
            table: sha256(repr(base.execute(f"SELECT * FROM {table} ORDER BY {order}").fetchall()).encode()).hexdigest()
            for table, order in KEPT.items()
        }
        base.close()
        files = build(run, out=Path(folder) / "corpus", transcript=True).facts.files
    return found | {file.path: file.sha256 for file in files}


if __name__ == "__main__":
    for name, options, games in KINDS:
        for what, digest in digests(name, options, games).items():
            print(f"{name} {options} {what}: {digest}", flush=True)
