"""A choice is the name on the first line; a sentence counts only when it names one player without negation."""

from __future__ import annotations

import random

import pytest

from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.parsing import read_reply


def test_a_name_on_the_first_line_is_read_without_a_note(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.VOTE), "Bob\nNot Alice, because Charlie said so.")
    assert (reply.choice, reply.notes, reply.problem) == ("Bob", (), "")


@pytest.mark.parametrize(
    "raw",
    [
        "**Bob**",
        "bob.",
        '"Bob"',
        "__Bob__",
        "<think>Alice or Charlie? Alice.</think>Bob",
        "I vote for Bob.",
        "I vote Bob, not Alice.",
        "Not Alice. Bob.",
        "I choose Bob instead of Alice or Charlie",
        "I don't vote for Alice, I vote for Bob",
        "Alice is innocent, so I vote for Bob.",
        "My vote is for **Bob** because Alice's claim convinced me.",
        "Alice accuses Bob, and I believe her story: I vote for Bob.",
        "Vote: Bob",
        '{"vote": "Bob"}',
        "I have thought about it.\n\nMy final decision: Bob",
        "Rather than Alice I pick Bob",
        "```\nBob\n```",
        "i vote for bob",
    ],
)
def test_a_lenient_choice_is_the_one_that_was_meant(make_ask, raw: str) -> None:
    reply = read_reply(make_ask(AskKind.VOTE), raw)
    assert (reply.choice, reply.problem) == ("Bob", "")
    assert reply.notes


@pytest.mark.parametrize(
    "raw",
    [
        "not Alice",
        "I would never vote for Alice",
        "Anyone instead of Alice",
        "I can't vote for Alice",
        "Alice is not the mafioso",
        "Alice and Bob are both suspicious",
        "Bobby",
        "Bob-like behaviour",
        "I am Diana",
        "Erin",
        "Alice's claim is weak",
        "I do not know",
        "",
    ],
)
def test_a_negated_doubtful_or_missing_name_is_no_choice(make_ask, raw: str) -> None:
    reply = read_reply(make_ask(AskKind.VOTE), raw)
    assert reply.choice is None
    assert reply.problem


def test_a_first_line_that_leaves_it_open_is_not_settled_by_what_follows(make_ask) -> None:
    reply = read_reply(make_ask(AskKind.VOTE), "Bob or Charlie\nBob spoke first.")
    assert (reply.choice, reply.problem) == (None, "several names and no single choice")


def test_a_name_never_matches_inside_another_word() -> None:
    ask = Ask("g", 0, "Eve", AskKind.VOTE, 1, Phase.VOTING, options=("Ann", "Will", "Al"))
    assert read_reply(ask, "Annabel said that also Alan will go").choice is None
    assert read_reply(ask, "I will vote for Ann, who will never be missed").choice == "Ann"


def test_names_with_signs_of_their_own_are_read() -> None:
    ask = Ask("g", 0, "x", AskKind.VOTE, 1, Phase.VOTING, options=("player_1", "player_10", "Zoë (red)", "a.b*"))
    for name in ask.options:
        assert read_reply(ask, name).choice == name
    assert read_reply(ask, "I vote for player_10").choice == "player_10"


def test_any_mix_of_mentions_gives_an_option_or_a_problem(make_ask) -> None:
    rng = random.Random(5)
    words = ["Alice", "Bob", "Charlie", "Diana", "not", "vote", "for", ",", ".", "\n", "instead of", "**", "is", "so"]
    ask = make_ask(AskKind.VOTE)
    for _ in range(2000):
        reply = read_reply(ask, " ".join(rng.choices(words, k=rng.randint(0, 12))))
        assert (reply.choice in ask.options) != bool(reply.problem)
