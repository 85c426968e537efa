"""Lessons tagged by rules: strategies and theory-of-mind order, on lessons written for these tests and the paper's."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from liescope.labeling.lesson_tags import CATEGORIES, tag

# The example lessons of the Triadic Werewolf paper with its own orders (Table 2, Appendix F.6).
PUBLISHED = [
    (3, "Vote for a player who is not the main suspect (like Joy) to appear wolf-like by deflecting from the "
        "consensus, but only after the main suspect is already exiled to avoid appearing villager-aligned."),
    (3, "Maintain a vote on a non-consensus target during revote to appear stubbornly wolf-like and avoid villager "
        "alignment."),
    (3, "Lean into accusations of being both Werewolf and Jester to create ambiguity and prevent players from settling "
        "on my true role."),
    (2, "Escalate suspicion on multiple players in quick succession to appear erratic and untrustworthy."),
    (1, "Use repeated questioning of players already under scrutiny to amplify suspicion without initiating new "
        "accusations."),
    (2, "Redirect suspicion towards other players to avoid being the center of attention."),
    (1, "Use the initial questions and reactions to gauge players’ behaviors and adjust strategy accordingly."),
]  # fmt: skip

OWN_ORDERS = [
    (3, "Look guilty to the villagers but harmless to the wolves."),
    (3, "Be read as a Werewolf rather than a Villager."),
    (3, "Make villagers think I am dangerous while the wolves see nobody to fear."),
    (3, "Voting late makes me look wolf-aligned, never villager‑aligned."),
    (3, "Stay ordinary to the wolves but look guilty in the eyes of the villagers."),
    (2, "Seem nervous to the villagers."),
    (2, "Appear wolf-like and accuse a villager."),
    (2, "Contradict myself so that others suspect me."),
    (2, "Speak late in order to come across as hesitant."),
    (2, "Overacting makes others believe I am the Jester."),
    (1, "Act like a werewolf when the villagers vote."),
    (1, "Vote against the doctor when the villagers vote for a wolf."),
    (1, "Make Bob look guilty early."),
    (1, "Look for the quietest player and ask why."),
    (1, "Bid high on day one."),
    (2, "Accuse Bob of being a werewolf so as to seem like a helpful villager."),
    (2, "Sound like a villager while accusing another player of being a wolf."),
    (3, "Seem like a wolf to the villagers and like a villager to the wolves."),
    (1, ""),
]

OWN_STRATEGIES = [
    ("Talk like a werewolf on the first day.", {"wolf_mimicry"}),
    ("Be mistaken for one of the wolves by a wolf-like defence.", {"wolf_mimicry"}),
    ("Contradict what you said a minute ago.", {"inconsistency"}),
    ("Be unpredictable from one speech to the next.", {"inconsistency"}),
    ("Escalate every quarrel.", {"aggression"}),
    ("Confront whoever defends a friend.", {"aggression"}),
    ("Drop hints and leave the rest open.", {"subtle_indirection"}),
    ("Redirect the talk to somebody else.", {"subtle_indirection"}),
    ("Stay silent when the talk turns to you.", {"passive_provocation"}),
    ("Don't defend yourself.", {"passive_provocation"}),
    ("You shouldn't mention the jester.", {"anti_jester_tells"}),
    ("Accuse Bob of being a werewolf.", {"aggression"}),
    ("Claim that Bob is acting like a wolf.", set()),
    ("Hesitate before each sentence.", {"passive_provocation"}),
    ("Never beg for an exile, and do not overact.", {"anti_jester_tells"}),
    ("Vote against the majority in the revote.", {"vote_manipulation"}),
    ("Join a bandwagon late.", {"vote_manipulation"}),
    ("Anticipate what people assume about newcomers.", {"meta_modeling"}),
    ("Exploit the others' fear of a hidden enemy.", {"meta_modeling"}),
    ("Ask the loudest player for proof.", {"questioning"}),
    ("Stay silent, then vote with the minority.", {"passive_provocation", "vote_manipulation"}),
    ("Press the accused with questions.", {"aggression", "questioning"}),
    ("Bid high on day one.", set()),
]


@pytest.mark.parametrize(("order", "text"), [*PUBLISHED, *OWN_ORDERS])
def test_the_order_follows_whose_view_the_lesson_takes(order: int, text: str) -> None:
    assert tag(text).order == order


@pytest.mark.parametrize(("text", "strategies"), OWN_STRATEGIES)
def test_a_lesson_carries_every_strategy_that_it_names_and_no_other(text: str, strategies: set[str]) -> None:
    assert set(tag(text).categories) == strategies


def read(name: str) -> list[tuple[int, str]]:
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [(row["order"], row["text"]) for row in map(json.loads, lines)]


def test_lessons_that_shaped_the_rules_get_the_orders_they_were_given() -> None:
    wrong = [(order, text) for order, text in read("lessons_that_shaped_rules.jsonl") if tag(text).order != order]
    assert len(wrong) <= 1, wrong


def test_the_orders_of_lessons_that_did_not_shape_the_rules_are_mostly_right() -> None:
    """80 lessons, labelled and committed before these rules were written. The rules of before found 28 of 28 of the
    first order, 13 of 28 of the second, 1 of 24 of the third."""
    counts = Counter((order, tag(text).order) for order, text in read("lessons_held_out.jsonl"))
    for order, recall, precision in ((1, 0.95, 0.75), (2, 0.7, 0.9), (3, 0.85, 0.9)):
        assert counts[order, order] >= recall * sum(n for (true, _), n in counts.items() if true == order)
        assert counts[order, order] >= precision * sum(n for (_, found), n in counts.items() if found == order)


def test_every_strategy_has_a_lesson_of_its_own_here() -> None:
    alone = {name for _, names in OWN_STRATEGIES if len(names) == 1 for name in names}
    assert alone == set(CATEGORIES)


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
