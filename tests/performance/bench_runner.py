"""How fast the runner is: scripted games on one core.

Run: python tests/performance/bench_runner.py
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path

from liescope.games.game_registry import find_game
from liescope.games.playable import roles_in_play
from liescope.games.record import Status
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import designed, make_plan
from liescope.labeling.label import label_game
from tests.generate.runs.fakes import play

GAMES, PLAYERS = 2000, ["scripted:bold"]


def bench_scripted_games() -> None:
    """Games a second of one core's time: play, journal, read back, label."""
    for assess in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            roles = roles_in_play(find_game("mini-mafia").resolve({"assess": assess}))
            cells = designed("self", roles, PLAYERS)
            plan = make_plan("mini-mafia", {"assess": assess}, PLAYERS, "self", cells, GAMES, 1)
            began, cpu = time.perf_counter(), time.process_time()
            asyncio.run(play(plan, run))
            played, played_cpu = time.perf_counter(), time.process_time()
            with Journal.open(run) as journal:
                done = sum(1 for game in journal.records() if game.status is Status.DONE and label_game(game))
            ended, ended_cpu = time.perf_counter(), time.process_time()
        what = "with assessments" if assess else "without assessments"
        print(
            f"scripted games {what}: {done / (ended_cpu - cpu):,.0f} a second and core with journal and labels "
            f"(playing alone {done / (played_cpu - cpu):,.0f}, labelling {done / (ended_cpu - played_cpu):,.0f}; "
            f"on the clock {done / (ended - began):,.0f}, {done / (played - began):,.0f} playing)"
        )


if __name__ == "__main__":
    bench_scripted_games()
