"""Lessons written for the purpose, and agreement of those who rated the same games."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

from liescope.benchmark.analyses.frames import Frames
from liescope.benchmark.analyses.rated import lesson_agreement, lesson_vocabulary, rater_agreement
from liescope.labeling.lesson_tags import CATEGORIES
from tests.benchmark.analyses.made import column_wise, made, table_of

lesson_categories = table_of("lesson_categories")
lesson_orders = table_of("lesson_orders")
lesson_third_order = table_of("lesson_third_order")

THIRD = "Appear wolf-like and avoid villager alignment."
SECOND = "Look nervous so that others suspect me."
FIRST = "Ask the loudest player for proof."


def learned(
    *lessons: tuple[str, str, bool], tags: Sequence[tuple[str, str, str, list[str], int | None]] = ()
) -> Frames:
    """Lessons as (model, text, kept), each of a game of its own; tags as (model, text, judge, categories, order)."""
    rows = [
        {"game_id": f"{model}-{n}", "model": model, "turn": n, "kind": "to_do", "text": text, "kept": kept}
        for n, (model, text, kept) in enumerate(lessons)
    ]
    of = {(row["model"], row["text"]): row for row in rows}
    judged = [
        {**of[model, text], "rater": judge, "categories": categories, "order": order}
        for model, text, judge, categories, order in tags
    ]
    return made(lessons=rows, tags=judged)


def test_orders_are_shares_of_the_models_own_lessons() -> None:
    table = lesson_orders(learned(*[("a", THIRD, True)] * 3, ("a", SECOND, True), ("b", FIRST, True)))
    assert table.select("model", "order", "lessons", "n", "rate").rows() == [
        ("a", 1, 0, 4, 0.0),
        ("a", 2, 1, 4, 0.25),
        ("a", 3, 3, 4, 0.75),
        ("b", 1, 1, 1, 1.0),
        ("b", 2, 0, 1, 0.0),
        ("b", 3, 0, 1, 0.0),
    ]
    assert (table["lo"] <= table["rate"]).all()
    assert (table["rate"] <= table["hi"]).all()


def test_near_duplicates_that_were_not_kept_do_not_count() -> None:
    table = lesson_orders(learned(("a", THIRD, True), ("a", FIRST, False)))
    assert table["n"].unique().to_list() == [1]


def test_a_lesson_counts_for_every_strategy_and_every_strategy_has_a_row() -> None:
    table = lesson_categories(learned(("a", "Stay silent, then vote.", True), ("a", "Bid high.", True)))
    assert table["category"].to_list() == list(CATEGORIES)
    found = dict(table.filter(pl.col("lessons") > 0).select("category", "rate").iter_rows())
    assert found == {"passive_provocation": 0.5, "vote_manipulation": 0.5}


def test_each_labeller_has_its_own_rate_of_third_order_lessons() -> None:
    frames = learned(
        ("a", THIRD, True),
        ("a", FIRST, True),
        ("b", FIRST, True),
        tags=[("a", THIRD, "j", [], 3), ("a", FIRST, "j", [], 3), ("b", FIRST, "j", [], None)],
    )
    table = lesson_third_order(frames)
    assert table.select("model", "labeller", "third", "n").rows() == [
        ("a", "rules", 1, 2),
        ("a", "j", 2, 2),
        ("b", "rules", 0, 1),
    ]


def test_a_judge_that_repeats_the_rules_agrees_fully_and_one_that_ignores_the_lesson_does_not() -> None:
    lessons = [("a", THIRD, True), ("a", SECOND, True), ("a", FIRST, True)]
    same = [
        ("a", THIRD, "same", ["wolf_mimicry"], 3),
        ("a", SECOND, "same", ["meta_modeling"], 2),
        ("a", FIRST, "same", ["questioning"], 1),
    ]
    blind = [("a", text, "blind", ["aggression"], 2) for _, text, _ in lessons]
    table = lesson_agreement(learned(*lessons, tags=same + blind))
    assert table.height == 3 * (1 + len(CATEGORIES))
    assert set(table.select("one", "other").rows()) == {("rules", "same"), ("rules", "blind"), ("blind", "same")}
    kappa = {(row["other"], row["question"]): row["kappa"] for row in table.filter(one="rules").to_dicts()}
    assert kappa["same", "order"] == kappa["same", "questioning"] == 1
    assert kappa["blind", "order"] == 0
    assert kappa["same", "aggression"] is None
    (row,) = table.filter(one="rules", other="blind", question="aggression").to_dicts()
    assert (row["n"], row["share_one"], row["share_other"]) == (3, 0.0, 1.0)


def test_vocabulary_finds_the_word_that_one_model_alone_uses() -> None:
    frames = learned(
        ("a", "Use deflection, always deflection, wolf-like.", True),
        ("b", "Use questions of the jester, always questions.", True),
    )
    best = lesson_vocabulary(frames).filter(rank=1)
    assert best.select("model", "term", "occurrences").rows() == [("a", "deflection", 2), ("b", "questions", 2)]
    terms = set(lesson_vocabulary(frames)["term"])
    assert "wolf-like" in terms
    assert not {"always", "of", "jester", "the"} & terms


def test_vocabulary_needs_two_models_to_compare() -> None:
    assert lesson_vocabulary(learned(("a", FIRST, True))).is_empty()
    assert lesson_vocabulary(learned(("a", "The jester.", True), ("b", "A wolf.", True))).is_empty()


def ratings(rater: str, flags: list[bool | None]) -> list[dict[str, object]]:
    games, statements = ([f"g{n % 4}" for n in range(len(flags))], [f"s{n}" for n in range(len(flags))])
    by = {"observer": "Bob", "rater": rater, "flag": flags, "type": "none"}
    return [dict(row) for row in column_wise(game_id=games, statement_id=statements, **by)]


FLAGS: dict[str, list[bool | None]] = {
    "players": [True, True, False, False, True, False, None, True],
    "judge": [True, False, False, False, True, True, True, True],
}


def test_kappa_is_cohens_over_what_both_answered() -> None:
    table = rater_agreement(made(ratings=[row for rater in FLAGS for row in ratings(rater, FLAGS[rater])]))
    (row,) = table.filter(question="flag").to_dicts()
    pairs = [(a, b) for a, b in zip(FLAGS["players"], FLAGS["judge"], strict=True) if a is not None and b is not None]
    assert (row["one"], row["other"], row["n"], row["games"]) == ("players", "judge", 7, 4)
    assert row["kappa"] == pytest.approx(cohen_kappa_score(*zip(*pairs, strict=True)))
    assert row["raw"] == pytest.approx(sum(a == b for a, b in pairs) / 7)
    assert (row["share_one"], row["share_other"]) == (4 / 7, 4 / 7)
    assert row["lo"] <= row["kappa"] <= row["hi"]


def test_every_two_of_three_raters_are_compared_and_one_alone_with_nobody() -> None:
    three = [row for rater in ("b", "players", "a") for row in ratings(rater, FLAGS["judge"])]
    table = rater_agreement(made(ratings=three)).filter(question="flag")
    assert table.select("one", "other").rows() == [("a", "b"), ("players", "a"), ("players", "b")]
    assert table["kappa"].to_list() == [1.0, 1.0, 1.0]
    assert rater_agreement(made(ratings=ratings("a", FLAGS["judge"]))).is_empty()


def test_where_everybody_says_the_same_kappa_is_not_defined() -> None:
    same = [row for rater in ("a", "b") for row in ratings(rater, [True] * 8)]
    (row,) = rater_agreement(made(ratings=same)).filter(question="flag").to_dicts()
    assert (row["raw"], row["kappa"], row["lo"]) == (1.0, None, None)


def test_reports_and_named_roles_are_compared_too() -> None:
    statements = [
        {"game_id": "g", "statement_id": f"s{n}", "rater": rater, "label_self": n % 2 == 0}
        for rater in ("players", "j")
        for n in range(4)
    ]
    guesses = [
        {"game_id": "g", "observer": "Bob", "target": name, "rater": rater, "guess": guess}
        for rater, guess in (("j", "villager"), ("k", "jester"))
        for name in ("Alice", "Charlie")
    ]
    rows = {row["question"]: row for row in rater_agreement(made(statements=statements, guesses=guesses)).to_dicts()}
    assert (rows["report"]["kappa"], rows["report"]["one"]) == (1.0, "players")
    assert (rows["role"]["raw"], rows["role"]["share_one"]) == (0.0, None)
