"""What becomes of a message and of a vote."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liescope.common.errors import UnknownName
from liescope.games.core import Ask, AskKind, EventKind, Phase, Reply
from liescope.games.game_registry import GAMES, find_game
from liescope.games.record import Source, record
from liescope.games.script.persona import PROFILES
from liescope.games.session import drive, start
from liescope.games.shared_rules import legal_choice, plurality, speech
from liescope.generate.players.parsing.reply_forms import read_form
from liescope.generate.players.scripted import ScriptedPlayer
from liescope.labeling.acts import second_order_guesses


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


@pytest.mark.parametrize("name", ["mini-mafia", "werewolf", "one-night-werewolf"])
def test_asking_what_the_others_think_changes_no_word_and_no_vote_and_is_told_to_nobody(name: str) -> None:
    played, script = find_game(name), ScriptedPlayer("bold", PROFILES["bold"], name)
    told = []
    for second_order in (False, True):
        session = start(lambda asked=second_order: played.make(played.spec.replaced(second_order=asked), 5, "g"))
        drive(session, script.say)
        events = session.events
        asked = [event for event in events if event.kind is EventKind.SECOND_ORDER]
        told.append([(e.kind, e.actor, e.target, e.text) for e in events if e.kind is not EventKind.SECOND_ORDER])
        ballots = {(event.day, event.phase) for event in events if event.kind is EventKind.VOTE}
        assert {(event.day, event.phase) for event in asked} == (ballots if second_order else set())
        for event in asked:
            voted = {e.actor for e in events if (e.kind, e.day, e.phase) == (EventKind.VOTE, event.day, event.phase)}
            assert event.audience == (event.actor,)
            assert set(event.data["suspects"]) == voted - {event.actor}
            assert all(whom in voted - {other} for other, whom in event.data["suspects"].items())
    assert told[0] == told[1]


@pytest.mark.parametrize("name", list(GAMES))
def test_only_a_game_with_ballots_has_options_of_ballots(name: str) -> None:
    played, script = GAMES[name], ScriptedPlayer("bold", PROFILES["bold"], name)
    session = start(lambda: played.make(played.spec, 5, "g"))
    drive(session, script.say)
    votes = any(event.kind is EventKind.VOTE for event in session.events)
    for option in ("second_order", "show_suspicion"):
        try:
            played.resolve({option: True, "assess": True})
        except UnknownName:
            assert not votes
        else:
            assert votes


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"Bob": "Alice", "Ann Lee": "Bob"}', {"Bob": "Alice", "Ann Lee": "Bob"}),
        ('{"suspects": {"bob": "I think Ann Lee.", "Ann Lee": ["alice"]}}', {"Bob": "Ann Lee", "Ann Lee": "Alice"}),
        ("Bob: Ann Lee\n- **Ann Lee**: Bob", {"Bob": "Ann Lee", "Ann Lee": "Bob"}),
        ('{"Bob": "Bob", "Ann Lee": "Bob or Alice"}', None),
        ("No idea.", None),
    ],
)
def test_whom_others_suspect_is_read_where_one_player_is_named(text: str, read: dict[str, str] | None) -> None:
    ask = Ask("g", 0, "Alice", AskKind.SECOND_ORDER, 1, Phase.VOTING, options=("Bob", "Ann Lee"))
    reply = read_form(ask, text)
    assert reply.form == (read and {name: (whom,) for name, whom in read.items()})
    assert bool(reply.problem) == (read is None)


def test_a_guess_is_right_where_the_others_next_vote_goes_there() -> None:
    def answer(ask: Ask, view: object) -> Reply:
        order = (*ask.options, ask.seat)
        if ask.kind is AskKind.SECOND_ORDER:  # all are thought to suspect whoever is first of the names
            return Reply(form={name: (min(set(order) - {name}),) for name in ask.options})
        return Reply(choice=min(ask.options) if ask.options else None, text="")

    played = find_game("mini-mafia")
    session = start(lambda: played.make(played.spec.replaced(second_order=True), 1, "g"))
    drive(session, answer)
    game = record(session.game, session.outcome, dict.fromkeys(session.game.names, ("m", Source.MODEL)))
    assert list(second_order_guesses(game)) == [(True, 0.5)] * 6
    turned = [replace(e, target="Nobody") if e.kind is EventKind.VOTE else e for e in game.events]
    assert list(second_order_guesses(replace(game, events=tuple(turned)))) == [(False, 0.5)] * 6
