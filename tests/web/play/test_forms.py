"""Forms take what a browser sends from what they show, and refuse the rest in words for a person."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.games.core import Ask, AskKind, Phase
from liescope.games.game_registry import GAMES
from liescope.web.play.host_page import blank
from liescope.web.play.seat_lines import form_of, read_form
from liescope.web.play.table_setup import PERSON, same_table

VOTE = Ask("g", 3, "Bob", AskKind.VOTE, 1, Phase.VOTING, options=("Ann", "Cid"))
SPEAK = Ask("g", 3, "Bob", AskKind.SPEAK, 1, Phase.DISCUSSION, 1, 2, limit=20)
REASON = replace(VOTE, kind=AskKind.EXPLAINED_VOTE, limit=20)
BID = Ask("g", 3, "Bob", AskKind.BID, 1, Phase.DISCUSSION, options=tuple(map(str, range(11))))
PEER = Ask("g", 3, "Bob", AskKind.PEER_ASSESSMENT, 1, Phase.DISCUSSION, about=2)
OWN = replace(PEER, kind=AskKind.SELF_ASSESSMENT)
RATED = {"deceptive": "no", "confidence": "70", "suspicion": "30", "type": "", "reason": ""}


def test_what_is_chosen_and_typed_becomes_the_reply() -> None:
    assert read_form(VOTE, {"choice": "Cid"}).choice == "Cid"
    assert read_form(BID, {"choice": "10"}).choice == "10"
    spoken = read_form(SPEAK, {"text": " two\r\nlines\x00 "})
    assert (spoken.text, spoken.problem) == ("two\nlines", "")
    assert read_form(SPEAK, {"text": "", "silent": "yes"}).text == ""
    explained = read_form(REASON, {"choice": "Ann", "text": "a hunch"})
    assert (explained.choice, explained.text) == ("Ann", "a hunch")


def test_a_rating_is_a_flag_with_shares_of_one() -> None:
    rating = read_form(PEER, RATED).assessment
    assert rating is not None
    assert (rating.deceptive, rating.type, rating.confidence, rating.suspicion) == (False, "none", 0.7, 0.3)
    own = read_form(OWN, {**RATED, "deceptive": "yes", "type": "omission"}).assessment
    assert own is not None
    assert (own.deceptive, own.type, own.suspicion) == (True, "omission", None)


@pytest.mark.parametrize(
    ("ask", "given", "words"),
    [
        (VOTE, {}, "Choose"),
        (VOTE, {"choice": "Bob"}, "Choose"),
        (BID, {"choice": "11"}, "Choose"),
        (SPEAK, {"text": "  "}, "Write something"),
        (SPEAK, {"text": "x" * 21}, "At most 20"),
        (REASON, {"choice": "Ann", "text": ""}, "reason"),
        (PEER, {**RATED, "deceptive": ""}, "yes or no"),
        (PEER, {**RATED, "deceptive": "yes"}, "in which way"),
        (PEER, {**RATED, "deceptive": "yes", "type": "none"}, "in which way"),
        (PEER, {**RATED, "confidence": ""}, "how sure"),
        (PEER, {**RATED, "confidence": "101"}, "how sure"),
        (PEER, {**RATED, "suspicion": "٣"}, "suspect"),
        (PEER, {**RATED, "reason": "x" * 501}, "At most 500"),
    ],
)
def test_what_lacks_something_is_refused_in_words_for_the_person(ask: Ask, given: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_form(ask, given)


def test_people_are_asked_nothing_that_only_judges_are() -> None:
    with pytest.raises(UsageError, match="name_roles"):
        form_of(replace(VOTE, kind=AskKind.NAME_ROLES))


@pytest.mark.parametrize("game", GAMES)
def test_a_host_form_that_is_sent_as_it_stands_makes_the_usual_table(game: str) -> None:
    form = blank(game)
    typed = {field.name: field.value for field in (*form.fields, *form.options) if field.kind != "switch"}
    setup = form.filled(typed).setup()
    assert setup.options == {}
    assert list(setup.seats) == list(GAMES[game].spec.seats())
    assert list(setup.seats.values()).count(PERSON) == 1
    assert same_table(setup, form.filled(typed).setup())
    assert not same_table(setup, form.filled({**typed, "assess": "yes"}).setup())


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"people": "0"}, "People .* a whole number from 1"),
        ({"people": "many"}, "'many' is not a whole number"),
        ({"words": "2"}, "Seconds to say something: .* from 5"),
        ({"rounds": "1.5"}, "'1.5' is not a whole number"),
        ({"assess_share": "nan"}, "a number from 0"),
        ({"message_limit": "-1"}, "from 0"),
        ({"people": "9"}, "9 people do not fit"),
        ({"mafiosos": "9"}, "14 players need 14 names"),
    ],
)
def test_what_makes_no_table_is_said_and_nothing_typed_is_lost(typed: dict[str, Any], words: str) -> None:
    form = blank("mafia").filled({"filler": "scripted:bold", **typed})
    with pytest.raises(UsageError, match=words):
        form.setup()
    fields = {field.name: field.value for field in (*form.fields, *form.options)}
    assert fields["filler"] == "scripted:bold"
    assert all(fields[name] == value for name, value in typed.items())


def test_a_vote_on_something_else_than_a_player_is_not_asked_as_one_on_a_player() -> None:
    names = ("Ann", "Bob", "Cid")
    assert form_of(VOTE, names).question == form_of(VOTE).question == "Whom do you vote for?"
    assert form_of(replace(VOTE, options=("pet", "city")), names).question == "What do you vote for?"
