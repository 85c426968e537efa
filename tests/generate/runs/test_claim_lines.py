"""Claims are named with their verdict and what proves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from liescope.games.core import Ask, Event, Reply
from liescope.games.mafia.rules import MINI_MAFIA, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start
from liescope.generate.runs.game_text import claim_lines
from liescope.labeling.label import label_game

LIE = "Hm\N{HORIZONTAL ELLIPSIS} I\N{RIGHT SINGLE QUOTATION MARK}m the detective. I\x1bwill vote for Bob!"


def told() -> GameRecord:
    """A game in which Alice is the mafioso and tells a lie."""
    roles = ("mafioso", "detective", "villager", "villager")
    session = start(lambda: MiniMafia(MINI_MAFIA.replaced(roles=roles, message_limit=None), 1, "g"))

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        if ask.options:
            return Reply(choice="Bob" if "Bob" in ask.options else ask.options[0])
        return Reply(text=LIE if ask.seat == "Alice" else "Hello.")

    drive(session, answer)
    return record(session.game, session.outcome, dict.fromkeys(session.game.names, ("m", Source.MODEL)))


def test_every_claim_is_named_with_its_verdict_also_without_a_place_in_the_words() -> None:
    whole, vote, *_ = label_game(told()).claims
    claims = [whole, vote, replace(vote, start=None, end=None)]
    lines = [line for line, _ in claim_lines(claims, told().events)]
    assert [line.partition(" ")[0] for line in lines] == ["1", "2", "3"]
    assert "LIE, false and known" in lines[0]
    assert all(claim.normal in line for claim, line in zip(claims, lines, strict=True))
