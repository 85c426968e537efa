"""CPU seconds and modules of what takes no time to compute: training on a small frame, and scoring one statement.

Run with: python tests/performance/bench_own_data.py

Each is measured in a fresh process, whole: the interpreter, all imports, the work.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

ROWS = 480
WORK = {
    "train tfidf on the frame": "import polars, liescope; liescope.train('tfidf', polars.read_parquet({own}), out={m})",
    "audit the frame": "import polars, liescope; liescope.audit(polars.read_parquet({own}))",
    "score a statement": "from liescope.cli import main; main(['score', {m}, 'I am Bob.'])",
    "load the model": "import liescope; liescope.load({m})",
}


def frame() -> pl.DataFrame:
    """Texts of which half lie, with a few words more often than the others."""
    draw = random.Random(1)
    honest, lies = (f"{kind}{n}" for kind in ("plain", "odd") for n in range(20)), [f"odd{n}" for n in range(20)]
    words = [*honest]
    rows = [
        (" ".join([*draw.choices(words, k=20), *draw.choices(lies if n % 2 else words, k=3), str(n)]), n % 2 == 1)
        for n in range(ROWS)
    ]
    return pl.DataFrame(rows, {"text": pl.String, "deceptive": pl.Boolean}, orient="row")


def main() -> None:
    with TemporaryDirectory() as scratch:
        frame().write_parquet(Path(scratch) / "own.parquet")
        places = {"own": repr(f"{scratch}/own.parquet"), "m": repr(f"{scratch}/m")}
        for name, work in WORK.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            code = f"{work.format(**places)}\nimport sys; print(len(sys.modules), file=sys.stderr)"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            print(f"{name:26} {seconds:5.2f} CPU s  {int(done.stderr.split()[-1]):5,} modules")


if __name__ == "__main__":
    main()
