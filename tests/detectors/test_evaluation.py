"""Evaluation: thresholds from other games, controls that know what they should, players in their own seat."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from liescope.common.errors import UnknownName, UsageError
from liescope.common.report.contents import markdown
from liescope.common.report.files import write
from liescope.detectors.examples import label_counts, labelled, read_statements
from liescope.detectors.study.beside_players import (
    ballots,
    detective_claims,
    in_the_villagers_seat,
    on_statements,
)
from liescope.detectors.study.controls import BESIDE_DETECTORS, K_OF_N, ROLE_ORACLE, deal_to_other_games
from liescope.detectors.study.evaluate import evaluate
from liescope.detectors.study.evaluation_report import report
from liescope.detectors.study.figures import Figure
from liescope.detectors.study.findings import EvaluationResult
from liescope.detectors.study.metrics import NO_THRESHOLDS, OF_SHUFFLES
from liescope.detectors.study.scorers import CUT, cut, evaluate_scores
from liescope.detectors.study.scores import ScoringPlan, score_table, scripted_warning, with_script
from liescope.detectors.training import train
from liescope.generate.corpus.read import read
from tests.detectors.conftest import Corpus, Rows, elsewhere


@pytest.fixture(scope="module")
def evaluation(model: Path, corpus: Path) -> EvaluationResult:
    return evaluate([model], corpus, split="test", observers=True)


@pytest.fixture(scope="module")
def whole(model: Path, corpus: Path) -> EvaluationResult:
    """What a user gets who names no split."""
    return evaluate([model], corpus)


def value(rows: Sequence[Figure], detector: str, metric: str, split: str = "test") -> float | None:
    (row,) = [r for r in rows if (r.scorer, r.metric, r.where, r.against) == (detector, metric, split, None)]
    return row.value


def test_controls_know_what_they_should_and_nothing_else(evaluation: EvaluationResult, whole: EvaluationResult) -> None:
    for result, split in ((evaluation, "test"), (whole, "out-of-fold")):
        auroc = {row.scorer: row.value for row in result.rows if (row.metric, row.where) == ("auroc", split)}
        # The role is the label here, and in every game as many deceive.
        known = {f"control:{name}" for name in BESIDE_DETECTORS if name not in (ROLE_ORACLE, K_OF_N)}
        assert set(auroc) == {"tfidf", *known}
        assert auroc["tfidf"] > max(auroc[f"control:{name}"] for name in ("length", "position", "model_identity"))
        (shuffles,) = (row for row in result.rows if row.metric == OF_SHUFFLES)
        assert abs(shuffles.value - 0.5) < 0.05
        assert shuffles.lo < 0.5 < shuffles.hi


def test_dealing_labels_to_other_games_keeps_their_number_and_the_spread_over_games(corpus: Path) -> None:
    data = labelled(read_statements(corpus, ["train"]), "role", 0)
    dealt = deal_to_other_games(data.y, data.groups, seed=1)
    assert dealt.sum() == data.y.sum()
    assert (dealt != data.y).any()
    # Every game has two deceptive statements of six, before and after.
    assert {int(dealt[data.groups == game].sum()) for game in np.unique(data.groups)} == {2}


def test_a_control_that_is_the_model_finds_a_corpus_where_the_model_is_the_answer(
    make_corpus: Corpus, tmp_path: Path
) -> None:
    def same(rows: Rows) -> None:
        for row in rows["statements"]:
            row["speaker_model"] = "liar" if row["label_role"] else "saint"
        for game in rows["games"]:
            for seat in game["seats"]:
                seat["model"] = "liar" if seat["deceives"] else "saint"

    corpus = make_corpus(games=60, change=same)
    train("tfidf", corpus, out=tmp_path / "m", folds=0)
    assert value(evaluate(tmp_path / "m", corpus).rows, "control:model_identity", "auroc") == 1


def test_thresholds_never_come_from_the_games_that_are_evaluated(evaluation: EvaluationResult) -> None:
    assert evaluation.plan.threshold_split == "validation"
    chosen = evaluation.thresholds["tfidf", "role"]
    # Deal the evaluated labels anew: the thresholds must not move.
    flipped = evaluation.statements.with_columns(label_role=pl.col("label_role") ^ (pl.col("split") == "test"))
    assert evaluate_scores(evaluation.scores, flipped, evaluation.plan).thresholds["tfidf", "role"] == chosen


def test_a_corpus_of_its_own_is_judged_whole_each_game_by_what_learned_from_others(whole: EvaluationResult) -> None:
    mine = whole.scores.filter(scorer="tfidf").join(whole.statements, on="statement_id")
    assert mine.height == whole.statements.height == len(set(mine["statement_id"]))
    assert set(mine["split"]) == {"train", "validation", "test"}
    assert mine["fold"].min() == 0
    assert mine.group_by("game_id").agg(pl.col("fold").n_unique())["fold"].max() == 1
    # Verdicts and suspects are those of the finished detector, which learned from the rest.
    assert {row.where.partition(":")[0] for row in whole.rows if "promised=" in row.where} == {"test"}


def test_thresholds_of_a_fold_are_chosen_on_the_others(whole: EvaluationResult) -> None:
    table = whole.scores.filter(scorer="tfidf").join(
        whole.statements.select("statement_id", "split", y="label_role"), on="statement_id"
    )
    held_out = pl.col("fold") == 0
    chosen, flipped = (
        cut("tfidf", one, NO_THRESHOLDS, whole.plan) for one in (table, table.with_columns(y=pl.col("y") ^ held_out))
    )
    names = [name for name in chosen.columns if name.startswith(CUT)]
    here, there = (one.select("fold", *names).unique() for one in (chosen, flipped))
    assert here.height == chosen["fold"].n_unique() > 2
    assert here.filter(held_out).equals(there.filter(held_out))
    assert not here.filter(~held_out).sort("fold").equals(there.filter(~held_out).sort("fold"))


def test_every_statement_level_figure_is_recomputed_from_the_saved_scores(
    whole: EvaluationResult, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "report"
    write(report(whole), out)
    data = json.loads((out / "report.json").read_text(encoding="utf-8"))
    scores, statements = pl.read_parquet(out / "scores.parquet"), with_script(read_statements(corpus))
    plan = ScoringPlan(data["split"], tuple(data["hold_out"]), data["seed"])
    again = [row.to_json() for row in evaluate_scores(scores, statements, plan).rows]
    assert again == data["figures"][: len(again)]


def test_a_split_with_one_class_gives_nulls_and_a_reason(model: Path, make_corpus: Corpus) -> None:
    def honest_test(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_role"] = row["label_role"] and row["split"] != "test"

    evaluation = evaluate([model], make_corpus(change=honest_test), split="test")
    assert value(evaluation.rows, "tfidf", "auroc") is None
    assert value(evaluation.rows, "tfidf", "brier") is not None
    assert any("tfidf" in note and "all" in note and "honest" in note for note in evaluation.notes)


def test_a_missing_threshold_is_named_with_what_it_could_not_be_chosen_on(corpus: Path) -> None:
    statements = read_statements(corpus)
    no_lies = pl.when(pl.col("split") == "validation").then(pl.lit(value=False))
    honest = statements.with_columns(label_role=no_lies.otherwise(pl.col("label_role")))
    scores = score_table(statements["statement_id"], np.linspace(0, 1, statements.height), "m", "role")
    assert evaluate_scores(scores, honest, ScoringPlan("test")).notes == (
        "m, role, test: no deceptive statement of validation has a score, so there is no threshold for macro F1",
    )
    frozen = {"m": {"1pct": None, "5pct": None, "macro_f1": 0.5}}
    assert evaluate_scores(scores, statements, ScoringPlan("test", frozen=frozen)).notes == (
        "m, role, test: none was chosen, so there is no threshold for an FPR of 1%, an FPR of 5%",
    )


def test_what_is_found_says_on_whom_and_what_was_not_tried(
    evaluation: EvaluationResult, whole: EvaluationResult
) -> None:
    for result, held_out in ((evaluation, False), (whole, True)):
        _, whom, left = (found.words for found in result.findings)
        judged = result.plan.evaluated(result.statements)
        assert whom.startswith(f"Tried on {judged.height} statements (")
        assert f"{judged['game_id'].n_unique()} games" in whom
        assert ("each scored by what learned from other games" in whom) == held_out
        assert "it abstains on " in left
        assert "It was not tried on any other corpus" in left


def test_a_corpus_that_no_model_was_trained_on_is_evaluated_as_a_whole(model: Path, make_corpus: Corpus) -> None:
    evaluation = evaluate([model], make_corpus(models=["model-x", "model-a"], change=elsewhere))
    assert evaluation.plan.split == "all"
    assert set(evaluation.statements["split"]) == {"train", "validation", "test"}
    assert value(evaluation.rows, "control:length", "auroc", "all") is not None
    assert value(evaluation.rows, "control:length", "recall_at_5pct_fpr", "all") is None
    # What no detector has heard stands by itself in the table by model.
    assert evaluation.plan.hold_out == ("model-x",)
    whom = evaluation.findings[1].words
    assert "by 2 models, 1 of them held out of training" in whom
    assert value(evaluation.rows, "tfidf", "auroc", "all:model=model-x") is not None
    saved = json.loads((model / "model.json").read_text(encoding="utf-8"))["thresholds"]
    assert evaluation.thresholds["tfidf", "role"] == saved


def test_statements_without_a_label_are_counted_by_reason(make_corpus: Corpus, tmp_path: Path) -> None:
    def reasons(rows: Rows) -> None:
        for row in rows["statements"]:
            row["label_claim_null"] = "no claim" if row["label_claim"] is None else ""

    corpus = make_corpus(change=reasons)
    train("tfidf", corpus, out=tmp_path / "m", target="claim", folds=0)
    evaluation = evaluate([tmp_path / "m"], corpus)
    test = read_statements(corpus, ["test"])
    assert evaluation.without_label == {"no claim": test["label_claim"].null_count()}
    assert "have no label and are left out" in markdown(report(evaluation))
    # Whoever knows no word, but what share of a game's statements deceive, ranks nothing within it.
    assert value(evaluation.rows, f"control:{K_OF_N}", "auroc_within") == 0.5
    assert value(evaluation.rows, f"control:{ROLE_ORACLE}", "auroc_within") > 0.5


def test_a_target_without_any_label_is_refused_with_those_that_exist_and_several_are_refused(
    make_corpus: Corpus, tmp_path: Path
) -> None:
    def unsaid(rows: Rows) -> None:
        elsewhere(rows)
        for row in rows["statements"]:
            row["label_self"] = None

    corpus, foreign = make_corpus(games=60), make_corpus(games=12, change=unsaid)
    for target in ("self", "role"):
        train("tfidf", corpus, out=tmp_path / target, target=target, folds=0)
    counts = label_counts(read_statements(foreign))
    words = f"small, split all, has a self label; labels there are: role {counts['role']}, claim {counts['claim']}"
    with pytest.raises(UsageError, match=words):
        evaluate(tmp_path / "self", foreign)
    with pytest.raises(UsageError, match="role for role and self for self; evaluate them one after the other"):
        evaluate([tmp_path / "role", tmp_path / "self"], foreign)


def test_two_detectors_are_compared_with_the_same_games_left_out(corpus: Path) -> None:
    statements = read_statements(corpus)
    noise = np.random.default_rng(1).random(statements.height)
    lie = statements["label_role"].to_numpy()
    scores = [("good", 0.5 * lie + 0.5 * noise), ("copy", 0.5 * lie + 0.5 * noise), ("guess", noise)]
    tables = [score_table(statements["statement_id"], score, name, "role") for name, score in scores]
    rows = evaluate_scores(pl.concat(tables), statements, ScoringPlan("test")).rows
    found = {(r.scorer, r.against, r.metric): r for r in rows if r.against}
    same = [r for (one, other, _), r in found.items() if (one, other) == ("good", "copy")]
    assert same
    for row in same:  # a copy differs by nothing, and could only in games of a kind that was not seen
        assert row.value == 0
        assert -row.lo == row.hi == pytest.approx(1 - 0.025 ** (1 / row.games))
    assert found["good", "guess", "auroc_difference"].lo > 0
    assert found["good", "guess", "matched_recall_5pct_difference"].lo > 0


def test_a_score_shifted_for_a_game_or_a_model_loses_no_rank_within_it(
    corpus: Path,
) -> None:
    statements = read_statements(corpus, ["test"])
    rng = np.random.default_rng(0)
    log_odds = statements["label_role"].to_numpy() + rng.normal(0, 1, statements.height)
    game_shift = statements["game_id"].rank("dense").cast(pl.Int64).to_numpy() % 2 * 6.0
    of_b = (statements["speaker_model"] == "model-b").to_numpy()
    tables = [
        score_table(statements["statement_id"], 1 / (1 + np.exp(-score)), name, "role")
        for name, score in {
            "plain": log_odds,
            "by game": log_odds + game_shift,
            "by model": log_odds + 3.0 * of_b,
        }.items()
    ]
    rows = evaluate_scores(pl.concat(tables), statements, ScoringPlan("test")).rows
    assert value(rows, "by game", "auroc") < value(rows, "plain", "auroc") - 0.1
    assert value(rows, "by game", "auroc_within") == pytest.approx(value(rows, "plain", "auroc_within"))
    # Within the statements of one model, a shift of all of them changes nothing.
    at_b = [value(rows, name, "auroc", "test:model=model-b") for name in ("plain", "by model")]
    assert at_b[0] == pytest.approx(at_b[1])


def test_a_model_is_not_evaluated_on_games_it_has_seen_under_this_split_or_another(
    model: Path, corpus: Path, make_corpus: Corpus
) -> None:
    with pytest.raises(UsageError, match="evaluate on --split test"):
        evaluate([model], corpus, split="all")

    def turned(rows: Rows) -> None:
        turn = {"train": "test", "test": "train", "validation": "validation"}
        for config in rows.values():
            for row in config:
                row["split"] = turn[row["split"]]

    with pytest.raises(UsageError, match="was trained, or had its thresholds chosen, on"):
        evaluate([model], make_corpus(change=turned))


def test_observers_who_know_beat_a_detector_that_guesses_on_the_same_statements(corpus: Path) -> None:
    statements = read_statements(corpus)
    rng = np.random.default_rng(0)
    scores = score_table(statements["statement_id"], rng.random(statements.height), "guess", "role")
    ratings = read(corpus, "ratings").collect()
    rows, notes = on_statements(scores, statements, ratings, ScoringPlan("train"))
    assert notes == []
    everybody = [r for r in rows if r.where == "train:rated-by-all"]
    auroc = {r.scorer: r.value for r in everybody if r.metric == "auroc"}
    differences = {r.against: r for r in everybody if r.metric == "auroc_difference"}
    difference = differences["observers:suspicion"]
    assert difference.value == pytest.approx(auroc["guess"] - auroc["observers:suspicion"])
    assert difference.hi < 0
    villagers = [r for r in rows if r.where == "train:rated-by-villagers" and r.metric == "auroc"]
    # A villager does not rate itself, so fewer statements are rated by villagers than by anybody.
    assert 0 < villagers[0].statements < difference.statements


def test_ratings_are_not_set_beside_a_label_that_is_made_of_them(corpus: Path) -> None:
    statements = read_statements(corpus)
    scores = score_table(statements["statement_id"], np.full(statements.height, 0.5), "d", "peer")
    rows, notes = on_statements(scores, statements, read(corpus, "ratings").collect(), ScoringPlan("train"))
    assert rows == []
    note = notes[-1]
    assert "label_peer is made from the ratings" in note


def test_the_rule_of_detective_claims_suspects_whoever_makes_none() -> None:
    said = pl.DataFrame(
        {"statement_id": ["role", "checked", "of another", "villager", "nothing"], "speaker": ["Bob"] * 5}
    )
    made = [
        ("role", "role", "role(Bob)=detective"),
        ("role", "guilt", "guilt(Alice)=mafia"),
        ("checked", "investigation", "investigation(Alice)=mafia"),
        ("of another", "role", "role(Alice)=detective"),
        ("villager", "role", "role(Bob)=villager"),
    ]
    claims = pl.DataFrame(
        [
            {"statement_id": key, "speaker": "Bob", "origin": "rules", "kind": kind, "normal": normal}
            for key, kind, normal in made
        ]
    )
    table = detective_claims(said, claims, "role")
    assert dict(table.select("statement_id", "score").iter_rows()) == {
        "role": 0.0,
        "checked": 0.0,
        "of another": 1.0,
        "villager": 1.0,
        "nothing": 1.0,
    }


def test_the_warning_says_how_much_is_scripted() -> None:
    assert scripted_warning(["model"]) == ""
    assert scripted_warning(["model", "scripted"]).startswith("Some of the words")
    assert scripted_warning(["scripted"]).startswith("The words")


def _seat(corpus: Path, score: Callable[[pl.DataFrame], pl.Series]) -> tuple[list[Figure], list[str], pl.DataFrame]:
    statements = read_statements(corpus)
    votes = read(corpus, "votes").collect()
    scores = score_table(statements["statement_id"], score(statements).to_numpy().astype(float), "d", "role")
    asked = ballots(statements, votes, read(corpus, "games").collect())
    rows, notes = in_the_villagers_seat(scores, asked, statements, ScoringPlan("all"))
    return rows, notes, votes


def test_a_detector_that_knows_names_the_mafioso_always_and_one_that_knows_nothing_half_the_time(corpus: Path) -> None:
    knowing, _, _ = _seat(corpus, lambda statements: statements["label_role"])
    blind, _, _ = _seat(corpus, lambda statements: statements["label_role"] * 0.0)
    # The villager's own statements look worst of all: they must not count, the villager does not suspect itself.
    villain, _, _ = _seat(corpus, lambda s: 0.5 * s["label_role"] + (s["speaker_role"] == "villager"))
    assert value(knowing, "d", "names_mafioso", "all") == 1
    assert value(blind, "d", "names_mafioso", "all") == 0.5
    assert value(villain, "d", "names_mafioso", "all") == 1


def test_votes_that_the_rules_drew_are_left_out_people_are_shown_apart_and_differences_are_paired(corpus: Path) -> None:
    rows, notes, votes = _seat(corpus, lambda statements: statements["label_role"])
    usable = votes.filter(pl.col("fallback") == "")
    assert f"{votes.height - usable.height} of {votes.height} villagers' votes" in notes[0]
    people = usable.filter(pl.col("voter_source") == "human")
    voted = [r for r in rows if r.scorer == "observers:villager_vote"]
    (row,) = [r for r in voted if r.where == "all:people"]
    assert row.games == people.height > 0
    assert row.value == pytest.approx((people["target_role"] == "mafioso").mean())
    (all_models,) = [r for r in voted if r.where == "all"]
    assert all_models.games == usable.height - people.height
    by_model = [r for r in voted if "villager=" in r.where]
    assert sum(r.games for r in by_model) == all_models.games
    found = {(r.scorer, r.metric): r for r in rows if r.where == "all"}
    difference = found["d", "names_mafioso_difference"]
    assert difference.against == "observers:villager_vote"
    assert difference.value == pytest.approx(found["d", "names_mafioso"].value - all_models.value)
    # The detector is always right, so all the width comes from the villagers' votes.
    assert difference.hi - difference.lo == pytest.approx(all_models.hi - all_models.lo, rel=0.05)


def test_figures_by_the_model_of_the_mafioso_are_of_its_games_whoever_votes(make_corpus: Corpus) -> None:
    def one_voter(rows: Rows) -> None:
        for vote in rows["votes"]:
            vote["voter_model"] = "somebody"

    corpus = make_corpus(games=20, change=one_voter)
    rows, _, votes = _seat(corpus, lambda statements: statements["label_role"])
    seats = read(corpus, "games").collect().select("game_id", "seats").explode("seats").unnest("seats")
    deceiver = dict(seats.filter("deceives").select("game_id", "model").iter_rows())
    cast = votes.filter(fallback="").filter(pl.col("voter_source") != "human")["game_id"]
    found = {row.where: row.games for row in rows if row.scorer == "d" and row.metric == "names_mafioso"}
    assert found["all:villager=somebody"] == len(cast) == found["all"]
    for model in set(deceiver.values()):
        assert found[f"all:mafioso={model}"] == sum(deceiver[game] == model for game in cast) > 0


def test_a_player_who_said_nothing_neither_gains_nor_loses_suspicion(corpus: Path) -> None:
    statements = read_statements(corpus).filter(pl.col("speaker_role") != "detective")
    asked = ballots(statements, read(corpus, "votes").collect(), read(corpus, "games").collect())
    scores = score_table(statements["statement_id"], np.full(statements.height, 0.9), "d", "role")
    rows, _ = in_the_villagers_seat(scores, asked, statements, ScoringPlan("all"))
    assert value(rows, "d", "names_mafioso", "all") == 0.5


def test_an_unknown_split_and_an_empty_one_are_refused(model: Path, corpus: Path, make_corpus: Corpus) -> None:
    with pytest.raises(UnknownName, match="all, out-of-fold, test"):
        evaluate([model], corpus, split="tests")

    def all_train(rows: Rows) -> None:
        for config in rows.values():
            for row in config:
                row["split"] = "train"

    with pytest.raises(UsageError, match="no statement in the split 'test'"):
        evaluate([model], make_corpus(games=10, change=all_train))


def test_a_model_that_was_heard_under_another_name_is_not_held_out(make_corpus: Corpus, tmp_path: Path) -> None:
    learned = make_corpus(games=60, models=("gpt-4.1-mini", "grok-3"))
    other = make_corpus(games=60, models=("openai/gpt-4.1_mini", "llama-3.1"), change=elsewhere)
    model = train("tfidf", learned, out=tmp_path / "m", folds=0).model
    result = evaluate(model, other)
    assert result.plan.hold_out == ("llama-3.1",)
    assert any("openai/gpt-4.1_mini is taken for gpt-4.1-mini" in note for note in result.notes)


def test_an_evaluation_is_replaced_only_when_asked(model: Path, corpus: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "report", shutil.copytree(model, tmp_path / "renamed")
    evaluate(model, corpus, out=out, split="test")
    before = (out / "report.json").read_bytes()
    with pytest.raises(UsageError, match="--overwrite"):
        evaluate(other, corpus, out=out, split="test")
    assert (out / "report.json").read_bytes() == before
    evaluate(other, corpus, out=out, split="test", overwrite=True)
    assert list(json.loads((out / "report.json").read_text(encoding="utf-8"))["models"]) == ["renamed"]
