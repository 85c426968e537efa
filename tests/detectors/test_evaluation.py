"""Evaluation: thresholds from other games, controls that know what they should, players in their own seat."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from liescope.common.errors import UnknownName, UsageError
from liescope.detectors.evaluation.controls import control_scores, deal_to_other_games
from liescope.detectors.evaluation.observers import (
    DETECTIVE_CLAIM,
    Tables,
    detective_claims,
    in_the_villagers_seat,
    on_statements,
)
from liescope.detectors.evaluation.report import scripted_warning, write_report
from liescope.detectors.evaluation.run import EvaluationResult, evaluate
from liescope.detectors.evaluation.scores import MetricRow, ScoringPlan, evaluate_scores, score_table
from liescope.detectors.examples import labelled, read_statements
from liescope.detectors.textualize import TextConfig
from liescope.detectors.training import Recipe, train_recipe
from liescope.generate.corpus import read

Corpus = Callable[..., Path]
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("models") / "tfidf"
    train_recipe(corpus, out, Recipe("tfidf", "role", TextConfig(), {}))
    return out


@pytest.fixture(scope="module")
def evaluation(model: Path, corpus: Path) -> EvaluationResult:
    return evaluate([model], corpus, observers=True, draws=100)


def value(rows: Sequence[MetricRow], detector: str, metric: str, split: str = "test") -> float | None:
    (row,) = [r for r in rows if (r.detector, r.metric, r.split) == (detector, metric, split)]
    return row.value


def test_controls_know_what_they_should_and_nothing_else(evaluation: EvaluationResult) -> None:
    auroc = {row.detector: row.value for row in evaluation.figures.rows if row.metric == "auroc"}
    assert auroc["control:role_oracle"] == 1
    assert auroc["control:majority"] == 0.5
    assert abs(auroc["control:shuffled"] - 0.5) < 0.2
    assert auroc["tfidf"] > max(auroc[f"control:{name}"] for name in ("length", "position", "model_identity"))
    assert value(evaluation.rows, "control:majority", "recall_at_5pct_fpr") == 0


def test_the_shuffled_control_is_at_chance_on_average(corpus: Path) -> None:
    statements = read_statements(corpus)
    train, others = (statements.filter(pl.col("split") == name) for name in ("train", "validation"))
    found = []
    for seed in range(8):
        scores = control_scores(train, others, "role", seed)
        rows = evaluate_scores(scores, statements, ScoringPlan("validation", draws=10)).rows
        found.append(value(rows, "control:shuffled", "auroc", "validation"))
    assert abs(np.mean(found) - 0.5) < 0.06


def test_dealing_labels_to_other_games_keeps_their_number_and_the_spread_over_games(corpus: Path) -> None:
    data = labelled(read_statements(corpus, ["train"]), "role", 0)
    dealt = deal_to_other_games(data, seed=1)
    assert dealt.sum() == data.y.sum()
    assert (dealt != data.y).any()
    # Every game has two deceptive statements of six, before and after.
    assert {int(dealt[data.groups == game].sum()) for game in np.unique(data.groups)} == {2}


def test_a_control_that_is_the_model_finds_a_corpus_where_the_model_is_the_answer(make_corpus: Corpus) -> None:
    def same(rows: Rows) -> None:
        for row in rows["statements"]:
            row["speaker_model"] = "liar" if row["label_role"] else "saint"

    statements = read_statements(make_corpus(games=60, change=same))
    train, test = (statements.filter(pl.col("split") == name) for name in ("train", "test"))
    rows = evaluate_scores(control_scores(train, test, "role"), statements, ScoringPlan("test", draws=10)).rows
    assert value(rows, "control:model_identity", "auroc") == 1


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_thresholds_never_come_from_the_games_that_are_evaluated(split: str, model: Path, corpus: Path) -> None:
    evaluation = evaluate([model], corpus, split=split, draws=10)
    assert evaluation.plan.threshold_split != split
    chosen = evaluation.figures.thresholds["tfidf", "role"]
    # Deal the evaluated labels anew: the thresholds must not move.
    flipped = evaluation.statements.with_columns(
        label_role=pl.when(pl.col("split") == split).then(~pl.col("label_role")).otherwise(pl.col("label_role"))
    )
    assert evaluate_scores(evaluation.scores, flipped, evaluation.plan).thresholds["tfidf", "role"] == chosen


def test_every_statement_level_figure_is_recomputed_from_the_saved_scores(
    evaluation: EvaluationResult, corpus: Path, tmp_path: Path
) -> None:
    write_report(tmp_path, evaluation)
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    scores, statements = pl.read_parquet(tmp_path / "scores.parquet"), read_statements(corpus)
    plan = ScoringPlan(report["split"], tuple(report["hold_out"]), report["draws"], report["seed"])
    again = [row.to_json() for row in evaluate_scores(scores, statements, plan).rows]
    assert again == report["rows"][: len(again)]


def test_the_train_split_is_evaluated_out_of_fold(model: Path, corpus: Path) -> None:
    evaluation = evaluate([model], corpus, split="train", draws=10)
    mine = evaluation.scores.filter(pl.col("detector") == "tfidf").join(
        evaluation.statements.filter(pl.col("split") == "train"), on="statement_id", how="semi"
    )
    assert (mine["fold"] >= 0).all()
    assert mine["statement_id"].is_unique().all()


def test_intervals_hold_their_values_and_every_row_has_the_documented_fields(evaluation: EvaluationResult) -> None:
    for row in evaluation.rows:
        data = row.to_json()
        fields = "detector target split metric value lo hi statements games prevalence"
        assert list(data) == fields.split()
        if row.lo is not None and row.hi is not None and row.metric == "auroc":
            assert row.lo <= row.value <= row.hi
    json.dumps([row.to_json() for row in evaluation.rows], allow_nan=False)


def test_a_split_with_one_class_gives_nulls_and_a_reason(model: Path, make_corpus: Corpus) -> None:
    def honest_test(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_role"] = row["label_role"] and row["split"] != "test"

    evaluation = evaluate([model], make_corpus(change=honest_test), draws=20)
    assert value(evaluation.rows, "tfidf", "auroc") is None
    assert value(evaluation.rows, "tfidf", "brier") is not None
    assert any("tfidf" in note and "all" in note and "honest" in note for note in evaluation.notes)


def test_held_out_models_get_rows_of_their_own_statements(make_corpus: Corpus, tmp_path: Path) -> None:
    def hold_out(rows: Rows) -> None:
        games = {row["game_id"]: [s["model"] for s in row["seats"]] for row in rows["games"]}
        for config in rows.values():
            for row in config:
                if "model-c" in games[row["game_id"]]:
                    row["split"] = "test"

    models = ("model-a", "model-b", "model-a", "model-b", "model-a", "model-c", "model-b")
    corpus = make_corpus(models=models, hold_out=["model-c"], change=hold_out)
    train_recipe(corpus, tmp_path / "m", Recipe("tfidf", "role", TextConfig(), {}))
    evaluation = evaluate([tmp_path / "m"], corpus, observers=True, draws=20)
    statements = read_statements(corpus, ["test"])
    (row,) = [r for r in evaluation.rows if (r.detector, r.split, r.metric) == ("m", "test:held-out", "auroc")]
    assert row.statements == statements.filter(pl.col("speaker_model") == "model-c").height > 0
    assert any(r.split == "test:held-out" and r.metric == "names_mafioso" for r in evaluation.rows)


def test_a_model_is_not_evaluated_on_games_it_has_seen_under_another_split(model: Path, make_corpus: Corpus) -> None:
    def turned(rows: Rows) -> None:
        turn = {"train": "test", "test": "train", "validation": "validation"}
        for config in rows.values():
            for row in config:
                row["split"] = turn[row["split"]]

    with pytest.raises(UsageError, match="was trained, or had its thresholds chosen, on"):
        evaluate([model], make_corpus(change=turned))


def test_a_model_of_another_corpus_keeps_the_thresholds_it_was_saved_with(model: Path, make_corpus: Corpus) -> None:
    def fresh(rows: Rows) -> None:
        for config in rows.values():
            for row in config:
                row["game_id"] = "other-" + row["game_id"]
                if "statement_id" in row:
                    row["statement_id"] = "other-" + row["statement_id"]

    evaluation = evaluate([model], make_corpus(change=fresh), draws=10)
    saved = json.loads((model / "model.json").read_text(encoding="utf-8"))["thresholds"]
    assert evaluation.figures.thresholds["tfidf", "role"] == saved


def test_observers_who_know_beat_a_detector_that_guesses_on_the_same_statements(corpus: Path) -> None:
    statements = read_statements(corpus)
    rng = np.random.default_rng(0)
    scores = score_table(statements["statement_id"], rng.random(statements.height), "guess", "role")
    ratings = read(corpus, "ratings").collect()
    rows, notes = on_statements(scores, statements, ratings, ScoringPlan("train", draws=200))
    assert notes == []
    (difference,) = [r for r in rows if (r.metric, r.split) == ("auroc_minus_suspicion", "train:rated-by-all")]
    auroc = {r.detector: r.value for r in rows if (r.metric, r.split) == ("auroc", "train:rated-by-all")}
    assert difference.value == pytest.approx(auroc["guess"] - auroc["observers:suspicion"])
    assert difference.hi < 0
    villagers = [r for r in rows if r.split == "train:rated-by-villagers" and r.metric == "auroc"]
    # A villager does not rate itself, so fewer statements are rated by villagers than by anybody.
    assert 0 < villagers[0].statements < difference.statements


def test_ratings_are_not_set_beside_a_label_that_is_made_of_them(corpus: Path) -> None:
    statements = read_statements(corpus)
    scores = score_table(statements["statement_id"], np.full(statements.height, 0.5), "d", "peer")
    rows, (note,) = on_statements(scores, statements, read(corpus, "ratings").collect(), ScoringPlan("train", draws=10))
    assert rows == []
    assert "label_peer is made from the ratings" in note


def test_the_rule_of_detective_claims_suspects_whoever_makes_none() -> None:
    def claim(kind: str, subject: str, value: str) -> dict[str, str]:
        return {"kind": kind, "subject": subject, "value": value}

    said = pl.DataFrame(
        {
            "statement_id": ["role", "checked", "of another", "villager", "nothing"],
            "speaker": ["Bob"] * 5,
            "claims": [
                [claim("role", "Bob", "detective"), claim("guilt", "Alice", "mafia")],
                [claim("investigation", "Alice", "mafia")],
                [claim("role", "Alice", "detective")],
                [claim("role", "Bob", "villager")],
                [],
            ],
        }
    )
    table = detective_claims(said, ["role", "claim"])
    assert dict(table.filter(pl.col("target") == "role").select("statement_id", "score").iter_rows()) == {
        "role": 0.0,
        "checked": 0.0,
        "of another": 1.0,
        "villager": 1.0,
        "nothing": 1.0,
    }
    assert table.height == 10


def test_the_controls_sit_in_the_villagers_seat_too(evaluation: EvaluationResult) -> None:
    seated = {row.detector for row in evaluation.rows if row.metric == "names_mafioso"}
    assert {"control:length", "control:position", "control:shuffled", DETECTIVE_CLAIM} <= seated


def test_the_warning_says_how_much_is_scripted() -> None:
    assert scripted_warning(["model"]) == ""
    assert scripted_warning(["model", "scripted"]).startswith("Some of the words")
    assert scripted_warning(["scripted"]).startswith("The words")


def _seat(corpus: Path, score: Callable[[pl.DataFrame], pl.Series]) -> tuple[list[MetricRow], list[str], Tables]:
    statements = read_statements(corpus)
    tables = Tables(statements, read(corpus, "votes").collect(), read(corpus, "games").collect())
    scores = score_table(statements["statement_id"], score(statements).to_numpy().astype(float), "d", "role")
    rows, notes = in_the_villagers_seat(scores, tables, ScoringPlan("all", draws=50))
    return rows, notes, tables


def test_a_detector_that_knows_names_the_mafioso_always_and_one_that_knows_nothing_half_the_time(corpus: Path) -> None:
    knowing, _, _ = _seat(corpus, lambda statements: statements["label_role"])
    blind, _, _ = _seat(corpus, lambda statements: statements["label_role"] * 0.0)
    # The villager's own statements look worst of all: they must not count, the villager does not suspect itself.
    villain, _, _ = _seat(corpus, lambda s: 0.5 * s["label_role"] + (s["speaker_role"] == "villager"))
    assert value(knowing, "d", "names_mafioso", "all") == 1
    assert value(blind, "d", "names_mafioso", "all") == 0.5
    assert value(villain, "d", "names_mafioso", "all") == 1


def test_votes_that_the_rules_drew_are_left_out_and_counted_and_people_are_shown_apart(corpus: Path) -> None:
    rows, notes, tables = _seat(corpus, lambda statements: statements["label_role"])
    usable = tables.votes.filter(pl.col("fallback") == "")
    assert f"{tables.votes.height - usable.height} of {tables.votes.height} villagers' votes" in notes[0]
    people = usable.filter(pl.col("voter_source") == "human")
    (row,) = [r for r in rows if r.split == "all:people" and r.metric == "villager_votes_mafioso"]
    assert row.games == people.height > 0
    assert row.value == pytest.approx((people["target_role"] == "mafioso").mean())
    (all_models,) = [r for r in rows if r.split == "all" and r.metric == "villager_votes_mafioso"]
    assert all_models.games == usable.height - people.height
    by_model = [r for r in rows if "villager=" in r.split and r.metric == "villager_votes_mafioso"]
    assert sum(r.games for r in by_model) == all_models.games


def test_the_difference_in_the_villagers_seat_is_paired(corpus: Path) -> None:
    rows, _, _ = _seat(corpus, lambda statements: statements["label_role"])
    found = {r.metric: r for r in rows if r.split == "all"}
    difference = found["names_mafioso_minus_villager"]
    assert difference.value == pytest.approx(found["names_mafioso"].value - found["villager_votes_mafioso"].value)
    # The detector is always right, so all the width comes from the villagers' votes.
    votes = found["villager_votes_mafioso"]
    assert difference.hi - difference.lo == pytest.approx(votes.hi - votes.lo)


def test_a_player_who_said_nothing_neither_gains_nor_loses_suspicion(corpus: Path) -> None:
    statements = read_statements(corpus).filter(pl.col("speaker_role") != "detective")
    tables = Tables(statements, read(corpus, "votes").collect(), read(corpus, "games").collect())
    scores = score_table(statements["statement_id"], np.full(statements.height, 0.9), "d", "role")
    rows, _ = in_the_villagers_seat(scores, tables, ScoringPlan("all", draws=10))
    assert value(rows, "d", "names_mafioso", "all") == 0.5


def test_a_report_of_scripted_games_says_that_it_finds_nothing_about_models(
    make_corpus: Corpus, tmp_path: Path
) -> None:
    corpus = make_corpus(games=80, source="scripted")
    train_recipe(corpus, tmp_path / "m", Recipe("tfidf", "role", TextConfig(), {}))
    files = write_report(tmp_path / "r", evaluate([tmp_path / "m"], corpus, observers=True, draws=20))
    assert all(path.stat().st_size for path in files)
    assert {path.name for path in files} >= {"report.md", "report.json", "report.csv", "scores.parquet"}
    assert any(path.suffix == ".png" for path in files)
    assert scripted_warning(["scripted"]) in (tmp_path / "r" / "report.md").read_text(encoding="utf-8")


def test_a_report_of_model_games_says_no_such_thing(evaluation: EvaluationResult, tmp_path: Path) -> None:
    write_report(tmp_path / "r", evaluation)
    words = (tmp_path / "r" / "report.md").read_text(encoding="utf-8")
    assert scripted_warning(["scripted"]) not in words
    assert "control:length" in words
    assert "names the mafioso, minus the villager's vote" in words


def test_an_unknown_split_and_an_empty_one_are_refused(model: Path, make_corpus: Corpus) -> None:
    with pytest.raises(UnknownName, match="test, train, validation"):
        evaluate([model], make_corpus(games=10), split="tests")

    def all_train(rows: Rows) -> None:
        for config in rows.values():
            for row in config:
                row["split"] = "train"

    with pytest.raises(UsageError, match="no statement in the split 'test'"):
        evaluate([model], make_corpus(games=10, change=all_train))
