"""A seat's page is made of the seat's view alone; forms take what a browser sends and refuse the rest in words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from liescope.common.errors import UsageError
from liescope.games.core import Ask, AskKind, Event, EventKind, Game, Phase, Reply
from liescope.games.game_registry import GAMES
from liescope.games.narration import HEAD, lines
from liescope.games.session import Session
from liescope.web import templates
from liescope.web.play.game_setup import PERSON, rules_of, same_setup
from liescope.web.play.host_page import SetupForm
from liescope.web.play.seat_lines import Chair, chairs, form_of, read_form, role_of, stage_of


def moments(game: str, seed: int = 5, **options: Any) -> Iterator[Session]:
    """A game at each of its moments, played by nobody: every choice is the rules' own."""
    session = Session(GAMES[game].make(GAMES[game].spec.replaced(**options), seed, "g"))
    yield session
    while session.asks:
        session.send(tuple(Reply(text="I say something.") for _ in session.asks))
        yield session


@pytest.mark.parametrize("game", GAMES)
def test_a_role_is_told_only_where_an_event_of_the_seat_tells_it(game: str) -> None:
    *_, session = moments(game)
    played = session.game
    for seat in played.names:
        view = played.view(seat)
        blind = [event for event in played.events if event.seen_by(seat)]
        assert [(one.index, one.kind) for one in blind] == [(one.index, one.kind) for one in view]
        words = " ".join(line.words for line in lines(view, seat)) + repr(chairs(view, seat)) + role_of(view, seat)
        for role in set(played.roles.values()):
            told = re.findall(rf"\b(?:an?|role:) {role}\b", words)
            assert len(told) <= sum(_tells(event, seat, role) for event in view) * 3, (seat, role, words)


def _tells(event: Event, seat: str, role: str) -> bool:
    return event.data.get("role") == role or role in event.data.get("role", "") or event.data.get("seen") == role


@pytest.mark.parametrize("game", GAMES)
def test_what_is_new_continues_what_was_there(game: str) -> None:
    *_, session = moments(game)
    for seat in session.game.names[:2]:
        view = session.game.view(seat)
        whole = list(lines(view, seat))
        for cut in range(0, len(view), 7):
            assert [*lines(view[:cut], seat), *lines(view, seat, cut)] == whole


def test_each_part_of_a_day_has_a_heading() -> None:
    *_, session = moments("werewolf")
    heads = [line.words for line in lines(session.game.view("Alice"), "Alice") if line.kind == HEAD]
    assert heads[:4] == ["Night 1", "Day 1, vote", "Day 1, defence", "Day 1, final vote"]


@pytest.mark.parametrize("game", GAMES)
def test_a_night_is_one_stage_and_names_nobody(game: str) -> None:
    nights = set()
    for session in moments(game):
        stage = stage_of(session.asks)
        if stage is not None and session.asks[0].phase is Phase.NIGHT:
            nights.add((session.asks[0].day, stage.key, stage.words, stage.floor))
            assert not any(name in stage.words for name in session.game.names)
    assert len({day for day, *_ in nights}) == len(nights)


@pytest.mark.parametrize("game", GAMES)
def test_whoever_left_the_game_is_shown_as_out(game: str) -> None:
    for session in moments(game):
        played: Game = session.game
        shown = chairs(played.view(played.names[0]), played.names[0])
        assert [chair.name for chair in shown if not chair.out] == played.alive


@pytest.mark.parametrize("game", GAMES)
def test_every_role_and_every_question_is_explained(game: str) -> None:
    module: Any = rules_of(game).module
    spec = GAMES[game].spec
    assert len(module.rules(spec).split()) > 60
    roles = [name for name, count in spec.composition().items() if count]
    assert len({module.role(name, spec) for name in roles}) == len(roles)
    for session in moments(game, assess=True):
        assert all(form_of(ask).question and form_of(ask).hint for ask in session.asks)


@pytest.mark.parametrize("game", GAMES)
def test_votes_are_counted_once_the_last_is_in(game: str) -> None:
    *_, session = moments(game)
    view = session.game.view(session.game.names[0])
    cast = Counter((one.day, one.phase) for one in view if one.kind is EventKind.VOTE)
    told = [line.words for line in lines(view, session.game.names[0]) if line.words.startswith("Votes: ")]
    assert [sum(map(int, re.findall(r" (\d+)", words))) for words in told] == list(cast.values())


def test_whose_time_was_up_reads_that_it_was_and_nobody_else_does() -> None:
    spoken = Event(4, EventKind.SILENCE, 1, Phase.DISCUSSION, actor="Ann", fallback="unusable reply")
    assert [line.words for line in lines([spoken], "Ann")][-1] == "You remained silent: your time was up."
    assert [line.words for line in lines([spoken], "Bob")][-1] == "Ann remained silent."
    meant = replace(spoken, fallback="")
    assert [line.words for line in lines([meant], "Ann")][-1] == "You remained silent."


def test_what_a_seat_knows_of_a_player_stands_apart_from_the_name() -> None:
    known = (
        templates()
        .get_template("play/chairs.html")
        .render(chairs=[Chair("Ann", known="a werewolf")], names=["Ann"], seat="Bob", swap=False)
    )
    assert "Ann a werewolf" in re.sub(r"<[^>]*>", "", known)


@pytest.mark.parametrize("game", GAMES)
def test_a_table_is_said_to_hold_no_more_roles_than_it_has_players(game: str) -> None:
    session = next(moments(game))
    names = session.game.names
    told = next(iter(lines(session.game.view(names[0]), names[0]))).words
    cards = sum(map(int, re.findall(r"\b(\d+) \w", told)))
    assert ("in the centre" in told) == (cards > len(names))


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
    assert (rating.deceptive, rating.type, rating.confidence, rating.suspicion) == (False, "none", 0.7, 0.3)
    own = read_form(OWN, {**RATED, "deceptive": "yes", "type": "omission"}).assessment
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
    form = SetupForm(game)
    typed = {field.name: text for field in (*form.fields, *form.options) if (text := form.text(field))}
    setup = SetupForm(game, typed).setup()
    assert setup.options == {}
    assert list(setup.seats) == list(GAMES[game].spec.seats())
    assert list(setup.seats.values()).count(PERSON) == 1
    assert same_setup(setup, SetupForm(game, typed).setup())
    assert not same_setup(setup, SetupForm(game, {**typed, "assess": "yes"}).setup())


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"people": "0"}, "People; .* must be 1 or more"),
        ({"people": "many"}, "must be a whole number, got 'many'"),
        ({"words": "2"}, "Seconds to say something must be 5 to 86,400"),
        ({"rounds": "1.5"}, "must be a whole number, got '1.5'"),
        ({"assess_share": "nan"}, "must be above 0"),
        ({"message_limit": "-1"}, "must be 0 or more"),
        ({"people": "9"}, "9 people do not fit"),
        ({"mafiosos": "9"}, "14 players need 14 names"),
    ],
)
def test_what_makes_no_table_is_said_and_nothing_typed_is_lost(typed: dict[str, Any], words: str) -> None:
    form = SetupForm("mafia", {"filler": "scripted:bold", **typed})
    with pytest.raises(UsageError, match=words):
        form.setup()
    fields = {field.name: form.text(field) for field in (*form.fields, *form.options)}
    assert fields["filler"] == "scripted:bold"
    assert all(fields[name] == value for name, value in typed.items())


def test_a_vote_on_something_else_than_a_player_is_not_asked_as_one_on_a_player() -> None:
    names = ("Ann", "Bob", "Cid")
    assert form_of(VOTE, names).question == form_of(VOTE).question == "Whom do you vote for?"
    assert form_of(replace(VOTE, options=("pet", "city")), names).question == "What do you vote for?"
