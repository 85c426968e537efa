"""Observers weighed by their agreement, and how many of them they are worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope.common.agreement import Flags, alpha, dawid_skene, effective, pairs_of, residuals
from liescope.detectors.examples import read_statements
from liescope.detectors.study.beside_players import ballots, by_then
from liescope.detectors.study.evaluate import evaluate
from liescope.detectors.study.observers import crowd_of, observer_rows
from liescope.detectors.study.scores import ScoringPlan, score_table
from liescope.generate.corpus.read import collected, read
from tests.detectors.conftest import Corpus, Rows

RECALL = np.array([0.9, 0.8, 0.6, 0.95, 0.3])
FALSE = np.array([0.1, 0.3, 0.5, 0.2, 0.3])
ONE = np.ones((1, 1), dtype=np.float32)


def answered(seed: int, items: int = 1500, shared: float = 0.0) -> tuple[Flags, np.ndarray]:
    """Every observer on every item. shared: the probability that all of them draw the same luck."""
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.35
    luck = np.where((rng.random(items) < shared)[:, None], rng.random(items)[:, None], rng.random((items, len(RECALL))))
    yes = luck < np.where(truth[:, None], RECALL, FALSE)
    item, observer = (grid.ravel() for grid in np.meshgrid(np.arange(items), np.arange(len(RECALL)), indexing="ij"))
    return Flags(item, observer, yes.ravel()), truth


def test_agreement_alone_shows_how_reliable_each_observer_is() -> None:
    answers, truth = answered(0)
    found = dawid_skene(answers)
    assert found.recall == pytest.approx(RECALL, abs=0.08)
    assert found.false_positive_rate == pytest.approx(FALSE, abs=0.08)
    share = np.bincount(answers.item, weights=answers.yes) / 5
    # Weighing is worth more than counting heads, and one coin lies between.
    right = {name: ((p > 0.5) == truth).mean() for name, p in {"full": found.posterior, "heads": share}.items()}
    coin = dawid_skene(answers, one_coin=True)
    assert coin.false_positive_rate == pytest.approx(1 - coin.recall)
    right["coin"] = ((coin.posterior > 0.5) == truth).mean()
    assert right["full"] > right["coin"] > right["heads"]


@pytest.mark.parametrize(("count", "full"), [(1, False), (2, False), (3, True)])
def test_too_few_observers_of_an_item_are_said_to_be_too_few(count: int, full: bool) -> None:
    items = 30
    answers = pl.DataFrame(
        {
            "item": [f"s{n}" for n in range(items) for _ in range(count)],
            "game_id": [f"g{n // 3}" for n in range(items) for _ in range(count)],
            "observer": [f"o{k}" for _ in range(items) for k in range(count)],
            "yes": [(n + k) % 3 == 0 for n in range(items) for k in range(count)],
        }
    )
    crowd = crowd_of(answers, "flags", "rated-by-all")
    assert ("dawid_skene" in crowd.together.columns) == full
    assert len(crowd.notes) == 1 - full
    assert all(f"at most {count} answers to an item" in note for note in crowd.notes)
    # What one receiver a message says can still be held against the labels.
    truth = answers.unique("item").with_columns(y=pl.col("item").str.ends_with("0"))
    rows = observer_rows(crowd, truth, "self", "test", ScoringPlan("test"))
    assert {(row.scorer, row.metric) for row in rows} >= {("observer:o0", "recall"), ("observers:all", "observers")}
    worth = next(row for row in rows if row.metric == "effective_observers")
    assert (worth.value is None) == (count != 2)  # of three, one says yes: their errors could not be more opposed


def test_observers_who_err_together_are_worth_fewer() -> None:
    found = []
    for shared in (0.0, 1.0):
        answers, truth = answered(3, shared=shared)
        together, pairs = pairs_of(residuals(answers, truth), answers.item, len(truth))
        found.append(float(effective(np.array([5.0]), np.array([together.sum() / pairs.sum()]))[0]))
    assert found[0] == pytest.approx(5, abs=0.5)
    assert found[1] < 2


def test_equal_errors_make_one_observer_of_many() -> None:
    assert effective(np.array([5.0, 5.0]), np.array([1.0, 0.0])).tolist() == [1.0, 5.0]


def test_observers_who_always_answer_alike_do_not_make_others_more_independent() -> None:
    answers, truth = answered(3, shared=1.0)
    alone = pairs_of(residuals(answers, truth), answers.item, len(truth))
    items = np.arange(len(truth))
    silent = [Flags(items, np.full(len(items), 5 + n), np.zeros(len(items), bool)) for n in range(3)]
    parts = zip(*((one.item, one.observer, one.yes) for one in (answers, *silent)), strict=True)
    joined = Flags(*(np.concatenate(part) for part in parts))
    beside = pairs_of(residuals(joined, truth), joined.item, len(truth))
    assert beside[0].sum() / beside[1].sum() == pytest.approx(alone[0].sum() / alone[1].sum())
    assert np.isnan(effective(np.array([3.0]), np.array([-0.5]))[0])


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
    assert found["observers:all", rated, "observers", None].value == 2
    assert 1 <= found["observers:all", rated, "effective_observers", None].value <= 2.6


def test_without_votes_and_ratings_nothing_is_said_of_observers(model: Path, make_corpus: Corpus) -> None:
    corpus = make_corpus(change=lambda rows: (rows["votes"].clear(), rows["ratings"].clear()))
    found = evaluate(model, corpus, split="test", observers=True)
    assert not [row for row in found.rows if row.scorer.startswith("observer")]
    assert any("was rated by another player" in note for note in found.notes)


def test_alpha_is_krippendorffs() -> None:
    """Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section A: two observers, ten items, 0.095."""
    first, second = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    item = np.repeat(np.arange(10), 2)
    yes = np.array([one for pair in zip(first, second, strict=True) for one in pair], dtype=bool)
    found = alpha(item, yes, np.zeros(20, dtype=np.int64), ONE)
    assert found[0] == pytest.approx(0.095, abs=5e-4)


def test_alpha_is_one_for_people_who_agree_and_leaves_out_what_one_person_judged() -> None:
    item, yes = np.array([0, 0, 1, 1, 2, 3]), np.array([1, 1, 0, 0, 1, 0], dtype=bool)
    assert alpha(item, yes, np.zeros(6, dtype=np.int64), ONE)[0] == 1
    assert np.isnan(alpha(item[:2], yes[:2], np.zeros(2, dtype=np.int64), ONE)[0])
