"""CPU seconds and peak memory of whole jobs by the number of statements: how they grow, and what they rest on.

Run with: python tests/performance/bench_scale.py [STATEMENTS …], as in 100000 300000 1000000

Scripted games of Mini-Mafia, six statements each. Every job runs in a process of its own. "data of the encoder" is
all that it does before it learns: statements, games, texts, tokens, and the order of its batches.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SIZES = (6_000, 12_000, 24_000)
CELLS, SAID = 8, 6  # of the design with two players; statements of a game
JOBS = {
    "play": "liescope.play('mini-mafia', players=['scripted:bold', 'scripted:steady'], games={games}, out='run')",
    "build": "liescope.build('run', out='corpus')",
    "audit": "liescope.audit('corpus')",
    "train tfidf": "liescope.train('tfidf', 'corpus', target='role', out='model')",
    "train tfidf, no folds": "liescope.train('tfidf', 'corpus', target='role', folds=0, out='once')",
    "data of the encoder": """
from liescope.detectors.detector_settings import TrainSettings
from liescope.detectors.fine_tuning.batches import Batches
from liescope.detectors.material import read_material
from liescope.detectors.training import Recipe
encoder = Recipe.of('encoder', 'role', TrainSettings(), {{}}).untrained()
data = read_material('corpus', 'corpus', 'role', encoder.text).data
encoder._begin()
rows = encoder._rows(encoder._read(data.examples).texts)
len(Batches(rows.lengths, data.y, 32, 0))""",
    "score": """
import polars
polars.scan_parquet('corpus/statements/*.parquet').sink_parquet('said.parquet')
liescope.score_file('model', 'said.parquet', out='scores.parquet')""",
}
TOLD = """
import json, resource
used = resource.getrusage(resource.RUSAGE_SELF)
(line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))  # of this process alone
print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "peak": int(line.split()[1]) / 1024}))
"""


def main(sizes: list[int]) -> None:
    print(f"{'':22} {'statements':>10} {'CPU s':>8} {'per 100,000':>11} {'peak MB':>8}")
    for size in sizes:
        with TemporaryDirectory() as folder:
            for name, job in JOBS.items():
                code = f"import liescope\n{job.format(games=-(-size // (CELLS * SAID)))}\n{TOLD}"
                where = {"PYTHONPATH": str(Path(__file__).parents[2])}
                done = subprocess.run(
                    [sys.executable, "-c", code], cwd=folder, env=where, capture_output=True, text=True, check=True
                )
                told = json.loads(done.stdout.splitlines()[-1])
                each = told["cpu"] / size * 1e5
                print(f"{name:22} {size:10,} {told['cpu']:8.1f} {each:11.1f} {told['peak']:8.0f}", flush=True)


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or list(SIZES))
