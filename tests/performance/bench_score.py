"""Scoring files: rows a second and peak memory of each kind of detector, and the encoder beside a plain pipeline.

Run with: python tests/performance/bench_score.py [TFIDF_ROWS] [ENCODER_ROWS]

The texts have the lengths of the published Mini-Mafia games (mean 139 characters) and no two are equal, so that nothing
is gained by scoring a text once.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import liescope
from liescope.detectors.text_form import textualize

ROOT = Path(__file__).parents[2]
WORK = """
import json, sys, liescope

def peak():  # of this process alone: ru_maxrss begins with that of its parent
    (line,) = (line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024

model = liescope.load(sys.argv[1])
before = peak()
done = liescope.score_file(model, sys.argv[2], out=sys.argv[3])
print(json.dumps({"rows": done.statements, "seconds": done.seconds, "before": before, "peak": peak()}))
"""


def texts(stock: list[str], count: int) -> Iterator[str]:
    """Statements of the stock, joined and cut to the lengths of real ones, each with its number."""
    draw = random.Random(0)
    for number in range(count):
        length = min(max(round(draw.gauss(132, 57)), 5), 310)
        said = f"{number}:"
        while len(said) < length:
            said = f"{said} {draw.choice(stock)}"
        yield said[:length]


def statement_file(path: Path, stock: list[str], count: int) -> Path:
    """Games of six statements by three players, in a Parquet file."""
    rows = range(count)
    table = {
        "statement_id": [f"game-{row // 6:07}:{row % 6}" for row in rows],
        "game_id": [f"game-{row // 6:07}" for row in rows],
        "speaker": [("Alice", "Bob", "Diana")[row % 3] for row in rows],
        "names": [["Alice", "Bob", "Charlie", "Diana"]] * count,
        "text": list(texts(stock, count)),
    }
    pl.DataFrame(table).write_parquet(path)
    return path


def bench_files(model: str, stock: list[str], count: int, folder: Path) -> None:
    """Prints the speed and the peak memory for a tenth of the rows and for all: near-equal peaks are flat memory."""
    for rows in (count // 10, count):
        made = statement_file(folder / "in.parquet", stock, rows)
        command = [sys.executable, "-c", WORK, model, str(made), str(folder / f"out-{Path(model).name}-{rows}.parquet")]
        found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
        print(
            f"{Path(model).name:9} {rows:>9,} rows: {rows / found['seconds']:>8,.0f} rows/s; "
            f"peak {found['peak']:,.0f} MiB ({found['before']:,.0f} before)"
        )


def bench_beside_a_pipeline(model: str, stock: list[str], count: int, folder: Path) -> None:
    """The same texts through `pipeline("text-classification")` at its defaults and through `score_file`, turn by turn
    in one process, so that both have the same machine.
    """
    from transformers import pipeline

    detector = liescope.load(model)
    plain = pipeline("text-classification", f"{model}/encoder")
    reader = detector.reader()
    rows = pl.read_parquet(statement_file(folder / "in.parquet", stock, count))
    wall, cpu, most = np.zeros(2), np.zeros(2), 0.0
    for number, part in enumerate(rows.iter_slices(max(count // 4, 1))):
        part.write_parquet(folder / "part.parquet")
        read = [one.example for one in reader.read_all(enumerate(part.iter_rows(named=True)))]
        said = [textualize(example, detector.file.text) for example in read if example is not None]
        marks = [(time.perf_counter(), time.process_time())]
        found = plain(said)
        marks.append((time.perf_counter(), time.process_time()))
        liescope.score_file(detector, folder / "part.parquet", out=folder / f"part-{number}.parquet")
        marks.append((time.perf_counter(), time.process_time()))
        spent = np.diff(np.array(marks), axis=0)
        wall, cpu = wall + spent[:, 0], cpu + spent[:, 1]
        expected = np.array([one["score"] if one["label"] == "deceptive" else 1 - one["score"] for one in found])
        scores = pl.read_parquet(folder / f"part-{number}.parquet")["score"].to_numpy()
        most = max(most, float(np.abs(scores - expected).max()))
    print(
        f"encoder, {count:,} rows: pipeline {count / wall[0]:.1f} rows/s, liescope {count / wall[1]:.1f} rows/s, ratio "
        f"{wall[0] / wall[1]:.1f} (of CPU time {cpu[0] / cpu[1]:.1f}); largest difference {most:.1e}; "
        f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB"
    )


def bench_score(tfidf_rows: int = 1_000_000, encoder_rows: int = 4_000) -> None:
    """All of it, with detectors trained on scripted games."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        liescope.play("mini-mafia", players=["scripted:bold"], games=60, out=folder / "run")
        corpus = liescope.build([folder / "run"], out=folder / "corpus").folder
        stock = liescope.read(corpus, "statements").select("text").collect()["text"].unique().sort().to_list()
        for kind, options in (("tfidf", {}), ("embedding", {}), ("encoder", {"max_steps": 20})):
            liescope.train(kind, corpus, out=folder / kind, folds=0, **options)
        bench_beside_a_pipeline(str(folder / "encoder"), stock, encoder_rows, folder)
        for kind, rows in (("tfidf", tfidf_rows), ("embedding", encoder_rows), ("encoder", encoder_rows)):
            bench_files(str(folder / kind), stock, rows, folder)


if __name__ == "__main__":
    bench_score(*map(int, sys.argv[1:]))
