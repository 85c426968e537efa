"""A corpus of a million statements: how fast it is written, and how much memory that takes.

Run with: python tests/performance/bench_corpus.py [STATEMENTS]
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
STATEMENTS = 1_000_000

# Games are copies of a few played ones under new ids, each text new, so that nothing can be shared.
WORK = """
import json, resource, sys, time
from dataclasses import replace
from pathlib import Path
from liescope.games.core import AskKind, Assessment, Reply
from liescope.games.mafia import MINI_MAFIA, MiniMafia
from liescope.games.record import Source, record
from liescope.games.session import drive, start
from liescope.generate.corpus import pack

def answer(ask, view):
    if ask.kind is AskKind.SPEAK:
        return Reply(text="I am the detective: I investigated Bob and Bob is mafia. " * 2)
    if ask.options:
        return Reply(choice=ask.options[0])
    return Reply(assessment=Assessment(True, "fabrication", 0.5, 0.5, "a reason of some length, as models give it"))

def played(seed):
    session = start(lambda: MiniMafia(replace(MINI_MAFIA, assess=True), seed, f"game-{seed}"))
    drive(session, answer)
    return record(session.game, session.outcome, dict.fromkeys(session.game.names, ("model", Source.MODEL)))

def stream(count):
    stock = [played(seed) for seed in range(20)]
    call = dict(step=0, seat="Alice", attempt=1, kind="speak", model="model", problem="", notes=[], prompt_tokens=900,
                cached_tokens=0, completion_tokens=60, cost=0.001, latency_ms=812.5, response_id="r",
                served_model="model", via=None)
    for number in range(count):
        game = stock[number % len(stock)]
        events = tuple(replace(e, text=f"{e.text} ({number})") if e.text else e for e in game.events)
        name = f"game-{number:07}"
        calls = [{**call, "game_id": name, "step": step, "raw": f"a raw response of some length {number}"}
                 for step in range(9)]
        yield "bench", replace(game, game_id=name, events=events), calls

peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
count = int(sys.argv[2]) // 6
before = peak()
began = time.perf_counter()
facts = pack(stream(count), Path(sys.argv[1]) / "corpus")
print(json.dumps({"statements": facts.statements, "rows": sum(sum(n.values()) for n in facts.rows.values()),
    "seconds": time.perf_counter() - began, "before": before, "peak": peak(),
    "bytes": sum(file.bytes for file in facts.files)}))
"""


def measure(statements: int) -> dict[str, float]:
    """Build a corpus of that many statements in a process of its own; memory in MiB."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-c", WORK, folder, str(statements)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def bench_corpus(statements: int = STATEMENTS) -> None:
    """Prints the peak memory of a tenth of the statements, of all, and their ratio: near 1 is flat."""
    small, large = measure(statements // 10), measure(statements)
    for found in (small, large):
        print(
            f"{found['statements']:>9,.0f} statements, {found['rows']:,.0f} rows of all configs: "
            f"{found['seconds']:.0f} s, {found['statements'] / found['seconds']:,.0f} statements/s, "
            f"{found['rows'] / found['seconds']:,.0f} rows/s; peak {found['peak']:.0f} MiB "
            f"({found['before']:.0f} before the build), {found['bytes'] / 1e6:.0f} MB of Parquet"
        )
    ratio = large["peak"] / small["peak"]
    slope = (large["peak"] - small["peak"]) / (large["statements"] - small["statements"])
    pace = [found["seconds"] / found["statements"] for found in (small, large)]
    print(
        f"ten times the statements take {ratio:.2f} times the memory and {pace[1] / pace[0]:.2f} times the time each; "
        f"{slope * 1e6:.0f} MiB more for each million: {small['peak'] + slope * 1e7:,.0f} MiB at ten million, "
        f"{(small['peak'] + slope * 1e7) / 4096:.2f} of the 4 GiB limit"
    )


if __name__ == "__main__":
    bench_corpus(int(sys.argv[1]) if len(sys.argv) > 1 else STATEMENTS)
