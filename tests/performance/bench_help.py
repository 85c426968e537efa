"""What it costs to ask for help: CPU seconds (the least of three) and modules of `liescope COMMAND --help`.

Run with: python tests/performance/bench_help.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from liescope import cli

ROOT = Path(__file__).parents[2]
WORK = "import sys; from liescope import cli; cli.main(sys.argv[1:]); print(len(sys.modules), file=sys.stderr)"


def cost(words: list[str]) -> tuple[float, int]:
    """CPU seconds of a process of its own, and the modules in it at the end."""
    before = os.times()
    done = subprocess.run([sys.executable, "-c", WORK, *words], cwd=ROOT, capture_output=True, text=True, check=True)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, int(done.stderr)


if __name__ == "__main__":
    print(f"{'command':10} {'CPU s':>6} {'modules':>8}")
    for name in ["", *cli._MODULES]:
        seconds, modules = min(cost([*filter(None, [name]), "--help"]) for _ in range(3))
        print(f"{name or '(all)':10} {seconds:6.2f} {modules:8,}")
