"""How fast the runner is: scripted games on one core, and requests against the bare client on a slow endpoint.

Run: python tests/performance/bench_runner.py
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import aiohttp

from liescope.games.game_registry import find_game
from liescope.games.mafia import MiniMafia
from liescope.games.playable import roles_in_play
from liescope.games.record import Status
from liescope.games.session import start
from liescope.generate.players.prompts.render import load_prompts
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import designed, make_plan
from liescope.generate.runs.run_plan import Plan
from liescope.generate.runs.runner import Limits, play
from liescope.labeling.label import label_game

GAMES = 2000
LATENCY = 0.2
CONNECTIONS = 256
WAVES = 5  # games one after the other in each place; six statements and three votes a game
REQUESTS = CONNECTIONS * WAVES * 9
STUB = Path(__file__).parents[1] / "generate" / "runs" / "stub_server.py"


def _plan(players: list[str], games: int, assess: bool = False) -> Plan:
    options = {"assess": assess}
    roles = roles_in_play(find_game("mini-mafia").resolve(options))
    return make_plan("mini-mafia", options, players, "self", designed("self", roles, players), games, 1)


def bench_scripted_games() -> None:
    """Games a second of one core's time: play, journal, read back, label."""
    for assess in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            run = Path(folder) / "run"
            plan = _plan(["scripted:bold"], GAMES, assess)
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


def bench_requests_against_the_bare_client() -> None:
    """The runner's requests a second as a share of the bare SDK client's, on the same endpoint at the same width."""
    server = subprocess.Popen([sys.executable, str(STUB), str(LATENCY)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    port = int(server.stdout.readline())
    drain = subprocess.Popen(["cat"], stdin=server.stdout, stdout=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/v1"
        # Taken in turns, the best of each: what else the machine does meanwhile slows both, though never equally.
        turns = [(_timed(lambda: asyncio.run(_bare(url))), _timed(lambda: _through_the_runner(url))) for _ in range(3)]
    finally:
        server.kill()
        server.wait()
        drain.wait()
    (bare, bare_cpu), (mine, mine_cpu) = (max(pace for pace in side) for side in zip(*turns, strict=True))
    print(
        f"requests a second at {LATENCY * 1000:.0f} ms and {CONNECTIONS} connections: runner {mine:,.0f}, bare client "
        f"{bare:,.0f}: {mine / bare:.0%} (no client can pass {CONNECTIONS / LATENCY:,.0f}); "
        f"a request costs {mine_cpu:.2f} ms of the processor, a bare one {bare_cpu:.2f} ms"
    )


def _timed(work: Callable[[], float]) -> tuple[float, float]:
    """What the work measured, requests a second; and processor time for each request, ms."""
    began = time.process_time()
    pace = work()
    return pace, (time.process_time() - began) * 1000 / REQUESTS


def _prompt() -> str:
    """A prompt as the runner's players send it, so that both sides put the same work on the endpoint."""
    game = MiniMafia()
    (ask,) = start(lambda: game).asks
    return load_prompts("full", "mafia").render(ask, game.view(ask.seat)).text


async def _bare(url: str) -> float:
    """aiohttp's client with nothing around it."""
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS))
    left = iter(range(REQUESTS))
    prompt = _prompt()

    async def ask() -> None:
        for number in left:
            body = {"model": "stub", "messages": [{"role": "user", "content": f"{prompt} {number}"}]}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                await response.json()

    began = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    seconds = time.perf_counter() - began
    await session.close()
    return REQUESTS / seconds


def _through_the_runner(url: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        plan = _plan([f"openai:stub@{url}"], CONNECTIONS * WAVES)
        tally = asyncio.run(play(plan, Path(folder) / "run", Limits(concurrency=CONNECTIONS)))
        return tally.calls / (time.perf_counter() - began)


if __name__ == "__main__":
    bench_scripted_games()
    bench_requests_against_the_bare_client()
