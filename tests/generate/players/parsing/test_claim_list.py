"""A model's list of claims is read however models write it, and nothing else is taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.parsing import read_reply

ASK = Ask("g", 0, "Alice", AskKind.FIND_CLAIMS, 1, Phase.DISCUSSION, options=("mafia",), about=3)
CLAIM = '{"kind": "role", "subject": "Alice", "object": "detective", "polarity": "affirmed", "quote": "I am"}'
FIELDS = ("role", "Alice", "detective", "affirmed", "I am")


@pytest.mark.parametrize(
    "raw",
    [
        f'{{"claims": [{CLAIM}]}}',
        f"[{CLAIM}]",
        CLAIM,
        f'```json\n{{"claims": [{CLAIM}]}}\n```',
        f'{{"claims": [{CLAIM},],}}',
        f"Here is what I found:\n\n[{CLAIM}]\n\nLet me know if you need more.",
        f'Alice [the speaker] says so.\n```\n{{"claims": [{CLAIM}]}}\n```',
        f"<think>Is she? [maybe]</think>[{CLAIM}]",
    ],
)
def test_a_list_is_read_in_every_dress(raw: str) -> None:
    reply = read_reply(ASK, raw)
    assert (reply.form, reply.problem) == ({"1": FIELDS}, "")


@pytest.mark.parametrize("raw", ["[]", '{"claims": []}', '{"claims": null}', "null", "None.", "```json\n[]\n```"])
def test_an_empty_list_is_an_answer(raw: str) -> None:
    reply = read_reply(ASK, raw)
    assert (reply.form, reply.problem) == ({}, "")


@pytest.mark.parametrize("raw", ["", "There are no clear claims here.", '{"claim', "[1, 2]", '{"answer": "yes"}'])
def test_what_is_no_list_is_a_problem_and_never_an_empty_list(raw: str) -> None:
    reply = read_reply(ASK, raw)
    assert reply.form is None
    assert reply.problem


def test_claims_that_cannot_be_read_are_left_out_and_noted() -> None:
    reply = read_reply(ASK, f'[{CLAIM}, "Alice lies", {{"kind": 3}}, {{"kind": "vote", "subject": null}}]')
    assert reply.form == {"1": FIELDS, "2": ("vote", "", "", "", "")}
    assert "claims left out that could not be read" in reply.notes


@given(st.text())
def test_no_text_raises(raw: str) -> None:
    reply = read_reply(ASK, raw)
    assert (reply.form is None) == bool(reply.problem)
