"""A bid is one whole number from 0 to 10, however it is dressed; anything else is no bid."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.games.core import AskKind
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.parsing.choice import read_bid


@pytest.mark.parametrize(
    ("text", "bid"),
    [
        ("7", "7"),
        (" 0 ", "0"),
        ("10", "10"),
        ("**7**", "7"),
        ("7/10", "7"),
        ("7 out of 10", "7"),
        ("7.0", "7"),
        ("Bid: 7", "7"),
        ("My bid is 7.", "7"),
        ("I want to answer Bob, so I bid 9 this time.", "9"),
        ("On a scale from 0 to 10, I would say 3.", "3"),
        ('{"bid": 4}', "4"),
        ('```json\n{"urgency": 4, "reasoning": "2 of them accuse me"}\n```', "4"),
        ("8\nI was accused twice by 2 players.", "8"),
        ("15", "10"),
        ("-3", "0"),
        ("<think>5 or 6?</think>6", "6"),
    ],
)
def test_one_number_is_the_bid(make_ask, text: str, bid: str) -> None:
    reply = read_reply(make_ask(AskKind.BID), text)
    assert (reply.choice, reply.problem) == (bid, "")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "seven",
        "5 or 6",
        "I bid 3, or maybe bid 8",
        "Bid: 7 or 8",
        '{"bid": 1e400}',
        "2.5",
        "{}",
        '{"bid": "high"}',
        "v2.1",
    ],
)
def test_anything_else_is_no_bid(make_ask, text: str) -> None:
    reply = read_reply(make_ask(AskKind.BID), text)
    assert reply.choice is None
    assert reply.problem


def test_what_was_bent_is_noted() -> None:
    assert read_bid("7").reply.notes == ()
    assert read_bid("15").reply.notes == ("bid outside 0 to 10",)
    assert read_bid("my bid is 4").reply.notes == ("bid in a sentence",)


@given(st.text(max_size=200))
def test_any_text_is_a_bid_within_bounds_or_a_problem(text: str) -> None:
    found = read_bid(text).reply
    assert (found.choice is None) == bool(found.problem)
    assert found.choice is None or 0 <= int(found.choice) <= 10
