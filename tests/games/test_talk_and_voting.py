"""What becomes of a message and of a vote."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.games.core import Ask, AskKind, EventKind, Phase, Reply
from liescope.games.shared_rules import legal_choice, plurality, speech


def speak(limit: int | None) -> Ask:
    return Ask("g", 0, "Alice", AskKind.SPEAK, 1, Phase.DISCUSSION, 1, limit=limit)


def vote(*options: str) -> Ask:
    return Ask("g", 0, "Alice", AskKind.VOTE, 1, Phase.VOTING, options=options)


@given(st.text(), st.none() | st.integers(1, 50))
def test_a_message_keeps_at_most_its_limit_and_a_cut_is_visible(text: str, limit: int | None) -> None:
    said = speech(speak(limit), Reply(text=text))
    whole = text.strip()
    if not whole:
        assert (said["kind"], "fallback" in said) == (EventKind.SILENCE, False)
    elif limit is None or len(whole) <= limit:
        assert (said["text"], said["data"]) == (whole, {})
    else:
        assert len(said["text"]) <= limit
        assert said["text"].endswith("…")
        assert whole.startswith(said["text"][:-1])
        assert said["data"] == {"cut": len(whole)}


@pytest.mark.parametrize("reply", [Reply(), Reply(problem="?"), Reply(text="hi", problem="?"), Reply(choice="Bob")])
def test_an_unusable_message_is_a_flagged_silence(reply: Reply) -> None:
    said = speech(speak(200), reply)
    assert said["kind"] is EventKind.SILENCE
    assert said["fallback"]


@given(st.integers())
def test_a_legal_choice_stands_and_draws_nothing(seed: int) -> None:
    random, untouched = Random(seed), Random(seed)
    assert legal_choice(vote("Bob", "Diana"), Reply(choice="Diana"), random) == ("Diana", "")
    assert random.random() == untouched.random()


@pytest.mark.parametrize(
    "reply", [Reply(), Reply(choice="Alice"), Reply(choice="bob"), Reply(choice="Bob", problem="?"), Reply(text="Bob")]
)
def test_anything_else_is_an_option_drawn_and_flagged(reply: Reply) -> None:
    drawn = {legal_choice(vote("Bob", "Diana"), reply, Random(seed)) for seed in range(30)}
    assert {choice for choice, _ in drawn} == {"Bob", "Diana"}
    assert all(why for _, why in drawn)


@given(st.lists(st.sampled_from("ABCDE"), min_size=1, max_size=9), st.integers())
def test_a_plurality_arrests_somebody_with_the_most_votes_and_names_all_of_those(votes: list[str], seed: int) -> None:
    arrested, tied = plurality(votes, Random(seed))
    most = max(map(votes.count, votes))
    assert {*tied} == {name for name in votes if votes.count(name) == most}
    assert arrested in tied
    assert len({*tied}) == len(tied)
