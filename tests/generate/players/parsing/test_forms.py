"""Forms: what can be read is kept, what cannot is left out, and nothing is made up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from liescope.games.core import AskKind
from liescope.generate.players.parsing import read_reply


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"to_do": ["Bid high."], "to_avoid": []}', {"to_do": ("Bid high.",), "to_avoid": ()}),
        ('{"avoid": "Beg.", "winning_tactics": ["Stall."]}', {"to_avoid": ("Beg.",), "winning_tactic": ("Stall.",)}),
        ('Here you are:\n```json\n{"to do": [" Bid\\n high. ", 7, ""]}\n```', {"to_do": ("Bid high.",)}),
        ('{"lessons": {"to_do": ["Bid high."]}}', {"to_do": ("Bid high.",)}),
        ("{}", {}),
        ('{"to_do": []}', {"to_do": ()}),
    ],
)  # fmt: skip
def test_lessons_are_read_and_none_is_an_answer(make_ask, text: str, form: dict[str, tuple[str, ...]]) -> None:
    reply = read_reply(make_ask(AskKind.REFLECTION), text)
    assert (reply.form, reply.problem) == (form, "")


@pytest.mark.parametrize("text", ["", "I learned a lot.", "[]", '{"thoughts": "none"}', '{"to_do": ['])
def test_what_holds_no_list_of_lessons_is_a_problem(make_ask, text: str) -> None:
    reply = read_reply(make_ask(AskKind.REFLECTION), text)
    assert reply.form is None
    assert reply.problem


def test_lessons_without_end_are_cut_with_a_note(make_ask) -> None:
    many = ", ".join(f'"lesson {n} {"x" * 900}"' for n in range(50))
    reply = read_reply(make_ask(AskKind.REFLECTION), f'{{"to_do": [{many}]}}')
    assert reply.form is not None
    assert len(reply.form["to_do"]) == 20
    assert max(map(len, reply.form["to_do"])) == 500
    assert "lessons left out or cut" in reply.notes


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"Alice": "werewolf", "Bob": "Villager"}', {"Alice": ("werewolf",), "Bob": ("villager",)}),
        ('{"alice": "wolf", "Diana": "jester", "Bob": "king", "Charlie": null}', {"Alice": ("werewolf",)}),
        ('{"roles": {"Alice": ["seer"], "Bob": "a jester"}}', {"Alice": ("seer",), "Bob": ("jester",)}),
        ("Alice: not a werewolf\nBob: seer or doctor\nCharlie: doctor", {"Charlie": ("doctor",)}),
        ("Alice: the doctor\n- **Bob**: jester (I think)", {"Alice": ("doctor",), "Bob": ("jester",)}),
    ],
)  # fmt: skip
def test_roles_of_the_players_asked_about_are_read(make_ask, text: str, form: dict[str, tuple[str, ...]]) -> None:
    assert read_reply(make_ask(AskKind.NAME_ROLES), text).form == form


@pytest.mark.parametrize("text", ["", "{}", "No idea.", '{"Zed": "jester"}', "Alice: innocent"])
def test_a_form_without_any_role_is_a_problem(make_ask, text: str) -> None:
    reply = read_reply(make_ask(AskKind.NAME_ROLES), text)
    assert reply.form is None
    assert reply.problem


def test_tags_that_are_known_are_read(make_ask) -> None:
    ask = replace(make_ask(AskKind.TAG_LESSON), about=3)
    text = '{"categories": ["Wolf mimicry", "charm", "aggression"], "order": 3}'
    assert read_reply(ask, text).form == {"categories": ("wolf_mimicry", "aggression"), "order": ("3",)}
    assert read_reply(ask, '{"categories": [], "order": 9}').form == {"categories": ()}
    assert read_reply(ask, '{"mood": "good"}').problem


BOB, CY = "guilt(Bob)=mafia", "role(Cy)=detective"


@pytest.mark.parametrize(
    ("text", "beliefs"),
    [
        ('{"1": "true", "2": "cannot know"}', {BOB: "true", CY: "cannot know"}),
        ('```json\n{"1": "False", "2": "True"}\n```', {BOB: "false", CY: "true"}),
        ('{"answers": {"1": false, "2": null}}', {BOB: "false", CY: "cannot know"}),
        ('{"sentence_1": {"answer": "true", "why": "so"}, "sentence_2": "unknown"}', {BOB: "true", CY: "cannot know"}),
        ("1. **False** - I looked, and he is a villager.\n2. **Cannot know**", {BOB: "false", CY: "cannot know"}),
        ("My honest answer:\n\n1: I believe this is false because I am the true mafioso.\n2: I can\u2019t tell.",
         {BOB: "false", CY: "cannot know"}),
        ("**Sentence 1:** not true\n**Sentence 2:** true", {BOB: "false", CY: "true"}),
        ('<think>Bob is lying, so false?</think>{"1": "true"}', {BOB: "true"}),
        ('{"2": "true", "7": "false"}', {CY: "true"}),
    ],
)  # fmt: skip
def test_beliefs_are_read_by_number(make_ask, text: str, beliefs: dict[str, str]) -> None:
    ask = replace(make_ask(AskKind.BELIEFS), options=(BOB, CY))
    assert read_reply(ask, text).form == {claim: (verdict,) for claim, verdict in beliefs.items()}


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("False.", "false"),
        ("I believe this is **false**, because the true mafioso is Cy.", "false"),
        ("True", "true"),
        ("I don't know.", "cannot know"),
        ('{"answer": "cannot know"}', "cannot know"),
        ("It is not certain, but it may be true.", "cannot know"),
    ],
)
def test_a_belief_in_a_single_claim_needs_no_number(make_ask, text: str, verdict: str) -> None:
    ask = replace(make_ask(AskKind.BELIEFS), options=(BOB,))
    assert read_reply(ask, text).form == {BOB: (verdict,)}


@pytest.mark.parametrize(
    "text", ["", "{}", "I can't help with deceiving people.", '{"3": "true"}', "Bob is suspicious."]
)
def test_a_reply_without_a_belief_is_a_problem(make_ask, text: str) -> None:
    reply = read_reply(replace(make_ask(AskKind.BELIEFS), options=(BOB, CY)), text)
    assert reply.form is None
    assert reply.problem
