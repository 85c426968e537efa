"""A vote with its reason: the name decides, the quoted words are what everybody hears."""

from __future__ import annotations

import pytest

from liescope.games.core import AskKind
from liescope.generate.players.parsing import read_reply


@pytest.mark.parametrize(
    ("text", "choice", "reason"),
    [
        ('Bob\n"He dodged my question."', "Bob", "He dodged my question."),
        ("Bob\n“He dodged my question.”", "Bob", "He dodged my question."),
        ('**Bob**\n\n"He dodged."\nPrivately I think he is the jester.', "Bob", "He dodged."),
        ('Bob\nReason: "He dodged."', "Bob", "He dodged."),
        ("Bob", "Bob", ""),
        ('I vote for Bob. "He dodged my question."', "Bob", "He dodged my question."),
        ('{"vote": "Bob", "reason": "He dodged."}', "Bob", "He dodged."),
        ('```json\n{"name": "bob", "explanation": "He dodged."}\n```', "Bob", "He dodged."),
        ('<think>Alice? No.</think>Bob\n"So be it."', "Bob", "So be it."),
        ('My vote: {"vote": "Bob", "reason": "He dodged."}', "Bob", "He dodged."),
        ("Bob\nReason: He dodged.", "Bob", "He dodged."),
        ('Bob "He dodged."', "Bob", "He dodged."),
    ],
)
def test_the_name_and_the_reason_are_read(make_ask, text: str, choice: str, reason: str) -> None:
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert (reply.choice, reply.text, reply.problem) == (choice, reason, "")


def test_what_follows_the_quoted_reason_stays_private(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), 'Bob\n"He dodged."\nHe is my partner, but nobody knows.')
    assert reply.text == "He dodged."
    assert reply.private["reasoning"] == "He is my partner, but nobody knows."


def test_what_follows_a_reason_behind_its_label_stays_private(make_ask) -> None:
    text = "Bob\nReason: He dodged.\n\nHe is my partner, but nobody knows."
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert reply.text == "He dodged."
    assert reply.private["reasoning"] == "He is my partner, but nobody knows."


@pytest.mark.parametrize(
    "text",
    [
        "Bob\nI am the werewolf and Bob is onto me, so he has to go.",
        "As a werewolf I must protect Kate, so I vote for Bob.",
        'I vote for Bob because Alice said "trust me" and lied.',
    ],
)
def test_words_that_are_not_marked_as_meant_for_everybody_stay_private(make_ask, text: str) -> None:
    """Players are told that nobody sees what they write outside the quotation marks."""
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert (reply.choice, reply.text) == ("Bob", "")
    assert reply.private["reasoning"] in text


def test_a_reason_is_kept_where_the_vote_cannot_be_read(make_ask) -> None:
    for text in ('Zed\n"He dodged."', '{"vote": "Zed", "reason": "He dodged."}', '{"vote": 5, "reason": "He dodged."}'):
        reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
        assert reply.problem
        assert (reply.choice, reply.text) == (None, "He dodged.")


@pytest.mark.parametrize("text", ["", "Nobody", '"They all seem fine."', "Alice or Bob", '{"vote": "Zed"}', "{}"])
def test_a_vote_without_a_legal_name_is_a_problem(make_ask, text: str) -> None:
    reply = read_reply(make_ask(AskKind.EXPLAINED_VOTE), text)
    assert reply.choice is None
    assert reply.problem
