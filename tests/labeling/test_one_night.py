"""What a speaker at one-night werewolf could know when it made a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from liescope.games.core import Ask, AskKind, Event, Reply
from liescope.games.one_night import OneNightSpec, OneNightWerewolf
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start
from liescope.labeling.label import label_game

NAMES = ("Alice", "Bob", "Charlie", "Diana", "Erin")
WOLVES = ("werewolf", "werewolf", "seer", "villager", "villager", "villager", "villager")
LONE = ("werewolf", "villager", "villager", "villager", "villager", "seer", "werewolf")


def play(roles: Sequence[str], says: dict[str, str]) -> GameRecord:
    """A game in which the seer, if there is one, looks at Bob's card."""

    def answer(ask: Ask, _view: Sequence[Event]) -> Reply:
        choice = "Bob" if ask.kind is AskKind.INVESTIGATE else ask.options[0] if ask.options else None
        return Reply(choice=choice, text=says.get(ask.seat, "Hello."))

    session = start(lambda: OneNightWerewolf(replace(OneNightSpec(rounds=1), roles=tuple(roles)), 1, "g"))
    drive(session, answer)
    return record(session.game, session.outcome, dict.fromkeys(NAMES, ("a model", Source.MODEL)))


@pytest.mark.parametrize(
    ("roles", "speaker", "words", "verdict", "known"),
    [
        (WOLVES, "Alice", "Diana is a werewolf.", "false", True),  # both wolves know of each other
        (WOLVES, "Alice", "Bob is innocent.", "false", True),
        (WOLVES, "Charlie", "I looked at Bob's card and he is a werewolf.", "true", True),
        (WOLVES, "Charlie", "I looked at Diana's card and she is a werewolf.", "false", True),
        (WOLVES, "Charlie", "Diana is a werewolf.", "false", False),
        (WOLVES, "Charlie", "Diana is the seer.", "false", True),  # there is only one, and it is the speaker
        (WOLVES, "Diana", "I looked at Bob's card and he is a werewolf.", "false", True),  # true of Bob, never seen
        (WOLVES, "Diana", "Erin is a werewolf.", "false", False),
        (LONE, "Alice", "Diana is a werewolf.", "false", True),  # without a partner it knows that there is none
        (LONE, "Alice", "I'm the seer.", "false", True),
        (LONE, "Bob", "Charlie is the seer.", "false", False),  # the seer's card lies in the centre, unknown to Bob
        (LONE, "Bob", "Alice is a werewolf.", "true", False),
    ],
)
def test_a_lie_is_a_false_claim_that_the_speaker_could_know(
    roles: Sequence[str], speaker: str, words: str, verdict: str, known: bool
) -> None:
    rows = [row for row in label_game(play(roles, {speaker: words})).claims if row.speaker == speaker]
    claim = rows[0]
    assert (claim.verdict, claim.known, claim.claim_class == "lie") == (verdict, known, known and verdict == "false")


def test_a_werewolf_that_saw_the_only_seer_in_the_centre_knows_that_nobody_is_the_seer() -> None:
    for game in (play((*LONE[:5], *centre), {"Alice": "Bob is the seer."}) for centre in (LONE[5:], LONE[:4:-1])):
        partners = next(event for event in game.events if event.data.get("seen"))
        claim = next(row for row in label_game(game).claims if row.speaker == "Alice")
        assert claim.known == (partners.data["seen"] == "seer")
