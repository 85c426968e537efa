"""Lessons tagged by rules: strategies and theory-of-mind order, on lessons written for these tests and the paper's."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from liescope.labeling.lesson_tags import tag


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()]


LESSONS = lines("lessons.jsonl")  # the first seven are the paper's, with its orders (Table 2, Appendix F.6)


@pytest.mark.parametrize("row", LESSONS, ids=lambda row: row["text"][:50])
def test_a_lesson_has_the_order_of_the_view_it_takes_and_every_strategy_that_it_names_and_no_other(row) -> None:
    tags = tag(row["text"])
    assert tags.order == row.get("order", tags.order)
    assert sorted(tags.categories) == row.get("strategies", sorted(tags.categories))


def read(name: str) -> list[tuple[int, str]]:
    return [(row["order"], row["text"]) for row in lines(name)]


def test_lessons_that_shaped_the_rules_get_the_orders_they_were_given() -> None:
    wrong = [(order, text) for order, text in read("lessons_that_shaped_rules.jsonl") if tag(text).order != order]
    assert len(wrong) <= 2, wrong


def test_the_orders_of_lessons_that_did_not_shape_the_rules_are_mostly_right() -> None:
    """80 lessons, labelled and committed before these rules were written. The rules of before found 28 of 28 of the
    first order, 13 of 28 of the second, 1 of 24 of the third."""
    counts = Counter((order, tag(text).order) for order, text in read("lessons_held_out.jsonl"))
    for order, recall, precision in ((1, 0.95, 0.75), (2, 0.7, 0.9), (3, 0.85, 0.9)):
        assert counts[order, order] >= recall * sum(n for (true, _), n in counts.items() if true == order)
        assert counts[order, order] >= precision * sum(n for (_, found), n in counts.items() if found == order)


def test_the_strategies_come_in_the_papers_order() -> None:
    found = tag("Ask, vote and attack like a wolf.").categories
    assert found == ("wolf_mimicry", "aggression", "vote_manipulation", "questioning")


def test_case_spacing_and_kinds_of_hyphen_do_not_matter() -> None:
    text = "Appear stubbornly wolf-like and avoid villager alignment."
    assert tag(text) == tag(text.upper()) == tag(text.replace("-", "‑").replace(" ", "\n  "))


@pytest.mark.parametrize("part", ["appear ", "to the ", "being both ", "accusations of ", "not ", "a", "create "])
def test_a_hostile_text_takes_time_in_proportion_to_its_length(part: str) -> None:
    def seconds(length: int) -> float:
        """Of the processor, whatever else it does."""
        start = time.process_time()
        tag(part * length)
        return time.process_time() - start

    assert seconds(30_000) < 12 * seconds(5_000) + 0.1
