"""How often an audit raises an alarm where there is nothing to find.

Texts with labels drawn at random, and games of scripted players whose labels were dealt to other games.

Run: python tests/performance/bench_alarms.py
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import liescope
from liescope.detectors.examples import target_column
from liescope.detectors.study.audit import AuditResult, checked
from liescope.detectors.study.audited import read_audited
from liescope.detectors.study.controls import deal_to_other_games, with_k_of_n

SETS, TEXTS, GAMES = 20, 200, 60
WORDS = ("we", "should", "talk", "about", "this", "and", "look", "at", "how", "people", "voted", "before", "who", "is")


def of_texts(sets: int) -> Iterator[AuditResult]:
    for seed in range(sets):
        draw = random.Random(seed)
        texts = [" ".join(draw.choices(WORDS, k=draw.randint(5, 25))).capitalize() + "." for _ in range(TEXTS)]
        labels = [draw.random() < 0.5 for _ in texts]
        groups = [f"author {number // 4}" for number in range(TEXTS)]
        yield liescope.audit(texts, labels, groups=groups, seed=seed)


def of_games(sets: int) -> Iterator[AuditResult]:
    with tempfile.TemporaryDirectory() as folder:
        run, corpus = Path(folder) / "run", Path(folder) / "corpus"
        players = ["scripted:bold", "scripted:novice"]
        liescope.play("mini-mafia", players=players, games=GAMES // 4, out=run, assess=False)
        liescope.build(run, out=corpus)
        for seed in range(sets):
            data = read_audited(corpus, "role", "out-of-fold", seed)
            draw = np.random.default_rng(seed)
            kept = draw.permutation(data.games["game_id"].to_numpy())[:GAMES]
            spoken, texts, games = (
                table.filter(pl.col("game_id").is_in(kept)) for table in (data.spoken, data.texts, data.games)
            )
            label = target_column("role")
            y = deal_to_other_games(texts[label].to_numpy().astype(bool), texts["siblings"].to_numpy(), seed)
            dealt = with_k_of_n(texts.drop("k_of_n").with_columns(pl.Series(label, y)), "role")
            yield checked(replace(data, spoken=spoken, texts=dealt, games=games), f"dealt {seed}")


def main(kinds: list[str]) -> None:
    for name, results in (("texts", of_texts), ("games", of_games)):
        if kinds and name not in kinds:
            continue
        alarmed = 0
        for audits, result in enumerate(results(SETS), 1):
            alarmed += bool(result.alarms)
            for found in result.alarms:
                print(f"  {result.corpus}: {found.severity}: {found.words}")
            print(f"{name}: {alarmed} of {audits} audits of nothing raise an alarm", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
