"""Players who vote and rate, beside detectors."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from liescope.detectors.examples import read_statements
from liescope.detectors.study.beside_players import ballots, by_then
from liescope.detectors.study.evaluate import evaluate
from liescope.detectors.study.scores import score_table
from liescope.generate.corpus.read import collected, read
from tests.detectors.conftest import Corpus, Rows


def test_a_detector_on_a_ballot_knows_nothing_that_is_said_after_it(make_corpus: Corpus) -> None:
    def two_ballots(rows: Rows) -> None:
        rows["votes"] += [{**row, "ballot": 2} for row in rows["votes"]]
        for row in rows["statements"]:
            row["phase"] = "defence" if row["round"] == 2 else "discussion"

    corpus = make_corpus(games=20, change=two_ballots)
    statements = read_statements(corpus)
    items = ballots(statements, *(collected(read(corpus, name), corpus) for name in ("votes", "games")))
    late = (statements["phase"] == "defence").to_numpy()
    means = by_then(items, score_table(statements["statement_id"], late.astype(float), "m", "role"), statements)
    assert dict(means.group_by("ballot").agg(pl.col("score").mean()).iter_rows()) == {1: 0.0, 2: 0.5}


def test_votes_and_ratings_stand_beside_a_detector(model: Path, corpus: Path) -> None:
    rows = evaluate(model, corpus, split="test", observers=True).rows
    found = {(r.scorer, r.where, r.metric, r.against): r for r in rows}
    rated, voted = "test:rated-by-all", "test:voted-on"
    for split, who in ((rated, "observers:flags"), (voted, "observers:votes")):
        ours, theirs = found["tfidf", split, "auroc", None], found[who, split, "auroc", None]
        difference = found["tfidf", split, "auroc_difference", who]
        assert difference.value == pytest.approx(ours.value - theirs.value)
        assert difference.lo <= difference.value <= difference.hi
    observers = {r.scorer for r in rows if r.where == rated and r.metric == "recall" and r.scorer[:9] == "observer:"}
    assert observers == {f"observer:model-{m} ({role})" for m in "ab" for role in ("mafioso", "detective", "villager")}


def test_without_votes_and_ratings_nothing_is_said_of_observers(model: Path, make_corpus: Corpus) -> None:
    corpus = make_corpus(change=lambda rows: (rows["votes"].clear(), rows["ratings"].clear()))
    found = evaluate(model, corpus, split="test", observers=True)
    assert not [row for row in found.rows if row.scorer.startswith("observer")]
    assert any("was rated by another player" in note for note in found.notes)
