"""Moves that are neither votes nor aimed at a player: asked for, logged, told to seats, read from texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from liescope.games.core import Ask, AskKind, Event, EventKind, Game, Phase, Play, Reply
from liescope.games.game_options import GameSpec
from liescope.games.narration import lines, remember
from liescope.games.record import GameRecord, Source, record
from liescope.games.record_checks import NotARecord, check_record
from liescope.games.session import drive, start
from liescope.games.shared_rules import choose, speech
from liescope.generate.players.parsing import read_reply
from liescope.generate.runs.game_text import event_words
from liescope.web.play.seat_lines import read_form, stage_of

BIDS = ("offer 1", "offer 10", "nothing")
NAMES = ("Ann", "Ben", "Cid")
CALLS = ("believe it", "doubt it")


class BuyerSpec(GameSpec):
    def composition(self) -> dict[str, int]:
        return {"buyer": 3}


class Buying(Game):
    """One says something, the others doubt it or not; then all offer in secret."""

    name = "buying"

    def team(self, role: str) -> str:
        return "buyers"

    def deceives(self, role: str) -> bool:
        return False

    def play(self) -> Play:
        self.log(EventKind.SETUP, Phase.SETUP, data={"names": list(self.names), "composition": {"buyer": 3}})
        first, *others = self.names
        ask = self.ask(first, AskKind.SPEAK, Phase.DISCUSSION)
        (reply,) = yield self.batch([ask])
        said = self.log(**speech(ask, reply))
        doubts = yield from choose(
            self, dict.fromkeys(others, CALLS), Phase.VOTING, words="does {}", about=said, doubt="doubt it"
        )
        made = yield from choose(self, dict.fromkeys(self.names, BIDS), Phase.VOTING, 2, secret=True)
        return self.end("buyers", f"{sorted(doubts.values())} {sorted(made.values())}")


def answered(ask: Ask, _: Sequence[Event]) -> Reply:
    if ask.kind is AskKind.SPEAK:
        return Reply(text="It is new.")
    if ask.round:
        return read_reply(ask, "I offer 10, that is what I do: offer 10" if ask.seat == "Ann" else "no idea")
    return read_form(ask, {"choice": "doubt it" if ask.seat == "Ben" else "believe it"})


@pytest.fixture(scope="module")
def played() -> GameRecord:
    session = start(lambda: Buying(BuyerSpec(names=NAMES), 3, "buying-3"))
    drive(session, answered)
    return record(session.game, session.outcome, dict.fromkeys(session.game.names, ("m", Source.MODEL)))


def test_each_move_is_an_event_and_only_the_unreadable_are_drawn(played: GameRecord) -> None:
    made = [event for event in played.events if event.kind is EventKind.CHOICE]
    said = next(event.index for event in played.events if event.kind is EventKind.STATEMENT)
    assert [(event.actor, event.data, event.about) for event in made[:2]] == [
        ("Ben", {"choice": "doubt it", "doubts": True}, said),
        ("Cid", {"choice": "believe it", "doubts": False}, said),
    ]
    assert (made[2].data["choice"], bool(made[2].fallback)) == ("offer 10", False)
    assert all(event.fallback and event.data["choice"] in BIDS for event in made[3:])
    check_record(played)


def test_a_move_is_told_to_models_people_and_readers_and_a_secret_one_to_its_seat_alone(played: GameRecord) -> None:
    doubt, _, secret, drawn, _ = (event for event in played.events if event.kind is EventKind.CHOICE)
    assert event_words(doubt) == ("Ben does doubt it", "")
    assert remember(doubt, "Cid") == "Ben does doubt it."
    assert "drawn at random" in (remember(drawn, "Ben") or "")
    told = {name: {line.words for line in lines([e for e in played.events if e.seen_by(name)], name)} for name in NAMES}
    assert all("Ben does doubt it." in words for words in told.values())
    assert [name for name, words in told.items() if "Ann chooses offer 10." in words] == ["Ann"]
    assert secret.audience == ("Ann",)


def test_everybody_knows_who_moves() -> None:
    ask = Ask("g", 1, "Ann", AskKind.CHOOSE, 1, Phase.VOTING, options=BIDS)
    assert stage_of([ask]).words == "Ann chooses a move."
    assert stage_of([ask, replace(ask, seat="Ben")]).words == "Ann and Ben choose a move."


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"actor": None}, "no actor"),
        ({"data": {}}, "choice is missing"),
        ({"data": {"choice": 3}}, "choice cannot be right"),
        ({"data": {"choice": "doubt it", "doubts": "yes"}}, "doubts cannot be right"),
        ({"about": None}, "doubts nothing that was said"),
        ({"about": 0}, "doubts nothing that was said"),
    ],
)
def test_a_move_that_cannot_be_is_named(played: GameRecord, facts: dict[str, Any], words: str) -> None:
    events = list(played.events)
    place = next(event.index for event in events if event.kind is EventKind.CHOICE)
    events[place] = replace(events[place], **facts)
    with pytest.raises(NotARecord, match=words):
        check_record(replace(played, events=tuple(events)))


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("Offer 10. It is worth more than offer 1", "offer 10"),
        ("NOTHING, I will wait.", "nothing"),
        ("10", "offer 10"),
        ("offer", None),
        ("I will not offer 1, I bid offer 10", "offer 10"),
    ],
)
def test_a_move_is_no_name_and_is_read_in_any_case_and_by_what_only_it_has(text: str, move: str | None) -> None:
    assert read_reply(Ask("g", 1, "Ann", AskKind.CHOOSE, 1, Phase.VOTING, options=BIDS), text).choice == move


def test_part_of_a_refusal_is_no_refusal() -> None:
    ask = Ask("g", 1, "Ann", AskKind.CHOOSE, 1, Phase.VOTING, options=("no sale", "40", "50"))
    assert [read_reply(ask, text).choice for text in ("sale", "No", "I offer 40, not 50")] == [None, "no sale", "40"]
    vote = replace(ask, kind=AskKind.VOTE, options=("Will", "Ann Lee"))
    assert [read_reply(vote, text).choice for text in ("I will wait", "Lee")] == [None, None]
