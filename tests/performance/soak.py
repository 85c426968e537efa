"""A soak: thousands of games against a server full of faults, killed at random again and again.

    python tests/performance/soak.py [GAMES] [KILLS]

The same plan is played twice: undisturbed, and by processes that are killed (SIGKILL) at random moments and started
again. Both runs must hold the same games and replies, no answer of the server may be in a journal twice, and the memory
of the undisturbed process must not grow with the games. It prints figures; it stops by itself.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

from liescope.generate.runs.journal import Journal

ROOT = Path(__file__).parents[2]
KINDS = ["500", "503", "cut body", "malformed JSON", "empty body", "reset", "429 with Retry-After"]
PLAN = {"share": 0.1, "strange": 0.1, "kinds": KINDS, "latency": 0.01}
LONGEST = 3600.0  # seconds for one run


def serve() -> tuple[subprocess.Popen[bytes], int]:
    command = [sys.executable, "-m", "tests.generate.runs.fault_server", json.dumps(PLAN)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def begin(out: Path, port: int, games: int) -> subprocess.Popen[bytes]:
    player = f"openai:stub@http://127.0.0.1:{port}/v1"
    command = [sys.executable, "-m", "liescope", "play", "mini-mafia", "--player", player, "--design", "self"]
    command += ["--games", str(games), "--out", str(out), "--timeout", "10"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def resident(process: subprocess.Popen[bytes]) -> int:
    """Bytes of memory that a process holds; 0 once it has ended."""
    try:
        fields = Path(f"/proc/{process.pid}/statm").read_text().split()
    except OSError:
        return 0
    return int(fields[1]) * 4096 if len(fields) > 1 else 0


def undisturbed(out: Path, port: int, games: int) -> list[int]:
    """Play to the end; the memory every two seconds."""
    process, memory, until = begin(out, port, games), [], time.monotonic() + LONGEST
    while process.poll() is None and time.monotonic() < until:
        memory.append(resident(process))
        time.sleep(2)
    process.kill()
    return [size for size in memory if size]


def disturbed(out: Path, port: int, games: int, kills: int, seconds: float) -> int:
    """Play to the end through kills at random moments; how many there were."""
    dice, killed, until = random.Random(1), 0, time.monotonic() + LONGEST
    while time.monotonic() < until:
        process = begin(out, port, games)
        patience = 3 + dice.random() * 2 * seconds / (kills + 1) if killed < kills else LONGEST
        try:
            process.wait(min(patience, max(until - time.monotonic(), 1)))
            if process.returncode == 0:
                return killed
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
    return killed


def content(folder: Path) -> tuple[dict[str, object], int]:
    """Each game with its replies; and how many answers with tokens belong to one ask beyond the first."""
    games, twice = {}, 0
    with Journal.open(folder) as journal:
        for game in journal.records():
            replies = {key: reply.raw for key, reply in journal.answers(game.game_id).items()}
            games[game.game_id] = (game.events, game.outcome, replies)
            paid = [
                (call["step"], call["seat"])
                for call in journal.calls(game.game_id)
                if call["completion_tokens"] is not None
            ]
            twice += len(paid) - len(set(paid))
    return games, twice


def main() -> None:
    games, kills = (int(word) for word in (*sys.argv[1:], "10000", "30")[:2])
    place = Path(tempfile.mkdtemp(prefix="soak-"))
    server, port = serve()
    try:
        began = time.monotonic()
        memory = undisturbed(place / "undisturbed", port, games)
        seconds = time.monotonic() - began
        quarter = max(len(memory) // 4, 1)
        first, last = sum(memory[quarter : 2 * quarter]) / quarter, sum(memory[-quarter:]) / quarter
        print(f"undisturbed: {games:,} games in {seconds:,.0f} s, {games / seconds:,.0f} a second")
        print(f"memory: second quarter {first / 2**20:,.0f} MiB, last quarter {last / 2**20:,.0f} MiB")
        killed = disturbed(place / "killed", port, games, kills, seconds)
        one, twice_one = content(place / "undisturbed")
        other, twice_other = content(place / "killed")
        print(f"killed {killed} times: {len(other):,} games, equal: {one == other and len(one) == games}")
        print(f"answers with tokens beyond the first of an ask: {twice_one} and {twice_other}")
        with urlopen(f"http://127.0.0.1:{port}/counts", timeout=30) as answer:
            print(f"the server: {json.load(answer)}")
    finally:
        server.kill()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
