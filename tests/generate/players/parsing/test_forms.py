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
