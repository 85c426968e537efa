"""Continuations of a game whose listeners react to what is said by a planted rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from zlib import crc32

from liescope.games import drive, record, start
from liescope.games.core import ASSESSMENTS, Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.mafia import MINI_MAFIA, MiniMafia
from liescope.games.record import GameRecord, Source
from liescope.games.session import branch
from tests.benchmark.random_play import answers

HONEST, SAME, LIE = "I am the mafioso.", "It is true that I am the mafioso.", "I am the detective."
BELIEVED = {HONEST: 0.8, SAME: 0.8, LIE: 0.2}
"""How likely a listener is to vote for the speaker after each text."""


def continuation(seed: int, text: str, number: int) -> GameRecord:
    """The game of this seed up to its mafioso's first turn, where the text is said; the town votes by what it heard."""
    spec = replace(MINI_MAFIA, assess=True)
    session = start(lambda: MiniMafia(spec, seed, f"root-{seed}"))
    before = answers(Random(seed))

    def waits() -> bool:
        return session.asks[0].kind is AskKind.SPEAK and session.game.roles[session.asks[0].seat] == "mafioso"

    while not waits():
        session.send(tuple(before(ask, ()) for ask in session.asks))
    seat, shared = session.asks[0].seat, len(session.events)
    game_id = f"{seed}-{number:03d}-{list(BELIEVED).index(text)}"
    branch(session, game_id, number)
    session.send((Reply(text=text),))

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        luck = Random(crc32(f"{seed} {number} {ask.seat} {ask.kind}".encode()))
        if ask.kind is AskKind.VOTE and ask.seat != seat:
            heard = [event.text for event in view if event.kind is EventKind.STATEMENT and event.actor == seat]
            against = luck.random() < BELIEVED[heard[-1]]
            others = [name for name in ask.options if name != seat]
            return Reply(choice=seat if against else others[0])
        if ask.kind in ASSESSMENTS:
            said = next(event for event in session.events if event.index == ask.about)
            mood = Random(crc32(f"{number} {ask.seat} {said.text}".encode())).gauss(0, 0.05)
            suspected = BELIEVED.get(said.text, 0.5) + mood
            return Reply(assessment=Assessment(False, "none", 0.5, min(max(suspected, 0), 1), ""))
        return Reply(text=text) if ask.seat == seat else Reply(text="Let us see.")

    drive(session, answer)
    fork = {"run": "first", "game": f"root-{seed}", "step": 1, "root": f"root-{seed}", "seat": seat}
    meta = {"turn": number, "fork": {**fork, "group": text, "number": number, "events": shared}}
    players = dict.fromkeys(session.game.names, ("m", Source.SCRIPTED))
    return record(session.game, session.outcome, players, text, meta=meta)
