"""Claims are marked where they stand in a statement, and named with their verdict and what proves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from liescope.games.core import Ask, Event, Reply
from liescope.games.mafia.rules import MINI_MAFIA, MiniMafia
from liescope.games.record import GameRecord, Source, record
from liescope.games.session import drive, start
from liescope.generate.runs.game_text import claim_lines, marked
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


def test_the_words_of_a_claim_are_underlined_and_on_a_pipe_in_brackets() -> None:
    claims = label_game(told()).claims[:2]
    shown = marked(LIE, claims, brackets=False)
    assert shown.plain == LIE.replace("\x1b", "\\x1b")
    styled = [(shown.plain[span.start : span.end], span.style) for span in shown.spans]
    assert styled == [
        ("I\N{RIGHT SINGLE QUOTATION MARK}m the detective", "underline red"),
        ("I\\x1bwill vote for Bob", "underline blue"),
    ]
    piped = marked(LIE, claims, brackets=True).plain
    assert piped == "Hm… [1: I’m the detective]. [2: I\\x1bwill vote for Bob]!"


def test_claims_within_claims_and_claims_without_a_place_are_shown() -> None:
    whole, vote, *_ = label_game(told()).claims
    nested = [replace(whole, start=0, end=len(LIE)), vote, replace(vote, start=None, end=None)]
    assert marked(LIE, nested, brackets=True).plain == f"[1: {LIE[:23]}[2: I\\x1bwill vote for Bob]!]"
    assert len(list(claim_lines(nested, told().events))) == 3
