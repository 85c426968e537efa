"""Sixty assessed Werewolf games from play to report, step by step, beside the games alone without assessments.

python tests/performance/bench_werewolf.py
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from pathlib import Path

from liescope import cli
from liescope.generate.runs.journal import Journal

GAMES = 30  # in each of two cells


def bench_the_whole_path() -> None:
    """Seconds of each command, and what the games hold."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        play = ["play", "werewolf", "--design", "factorial", "--player", "scripted:steady", "--games", str(GAMES)]
        steps = {
            "play, without assessments": [*play, "--learning", "off,on", "--out", str(out / "plain")],
            "play, assessed": [*play, "--learning", "off,on", "--assess", "--out", str(out / "run")],
            "build": ["build", str(out / "run"), "--out", str(out / "corpus")],
            "train tfidf": [
                "train",
                "tfidf",
                "--corpus",
                str(out / "corpus"),
                "--target",
                "role",
                "--out",
                str(out / "m"),
            ],
            "analyse": ["analyse", str(out / "run"), "--out", str(out / "report")],
        }
        total = 0.0
        for name, words in steps.items():
            begin = time.perf_counter()
            with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
                code = cli.main(words)
            seconds = time.perf_counter() - begin
            total += seconds if name != "play, without assessments" else 0.0
            print(f"{name}: {seconds:.1f} s{'' if code == 0 else f' (exit {code})'}")
        with Journal.open(out / "run") as journal:
            events = [len(record.events) for record in journal.records()]
            asks = sum(len(batch) for game in journal.game_ids() for batch in journal.replies(game))
        print(f"{len(events)} games, {sum(events) / len(events):.0f} events and {asks / len(events):.0f} asks a game")
        print(f"play, build, train and analyse together: {total:.0f} s")


if __name__ == "__main__":
    bench_the_whole_path()
