"""Mini-Mafia games with given words, and continuations whose listeners react to a text by a planted rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count
from random import Random
from zlib import crc32

from liescope.games import drive, record, start
from liescope.games.core import ASSESSMENTS, Ask, AskKind, Assessment, Event, EventKind, Reply
from liescope.games.mafia.rules import MINI_MAFIA, MafiaSpec, MiniMafia
from liescope.games.record import GameRecord, Source
from liescope.games.session import branch
from tests.benchmark.random_play import answers

SPEC = MINI_MAFIA.replaced(roles=("mafioso", "detective", "villager", "villager"))
ORDER = ("Charlie", "Bob", "Alice")
TOWN_WINS = {"Alice": "Bob", "Bob": "Alice", "Charlie": "Alice"}
MAFIA_WINS = {"Alice": "Bob", "Bob": "Alice", "Charlie": "Bob"}


def spoken(
    *turns: str,
    order: Sequence[str] = ORDER,
    votes: Mapping[str, str] = MAFIA_WINS,
    game_id: str = "game",
    models: Mapping[str, str] | None = None,
) -> GameRecord:
    """One game. turns: what is said, turn by turn, "" for a silence, none for the turns that are left; order: who
    speaks, in each round. models: of the seats, by name, "m" for all others.
    """
    said = iter(turns)

    def answer(ask: Ask, view: Sequence[Event]) -> Reply:
        if ask.kind is AskKind.VOTE:
            return Reply(choice=votes[ask.seat])
        return Reply(text=next(said, ""))

    game = MiniMafia(SPEC, _seed(SPEC, tuple(order)), game_id)
    session = start(lambda: game)
    drive(session, answer)
    players = {name: ((models or {}).get(name, "m"), Source.SCRIPTED) for name in game.names}
    return record(game, session.outcome, players)


@cache
def _seed(spec: MafiaSpec, order: tuple[str, ...]) -> int:
    """The first seed with which these three survive and speak in this order in both rounds."""
    for seed in count():
        game = MiniMafia(spec, seed, "search")
        session = start(lambda game=game: game)  # type: ignore[misc]
        drive(session, lambda ask, view: Reply(choice=next(iter(ask.options), None), text="?"))
        talk = [event.actor for event in game.events if event.kind is EventKind.STATEMENT]
        if talk == [*order, *order]:
            return seed
    raise AssertionError


HONEST, LIE = "I am the mafioso.", "I am the detective."
BELIEVED = {HONEST: 0.8, LIE: 0.2}
"""How likely a listener is to vote for the speaker after each text."""


def continuation(seed: int, text: str, number: int) -> GameRecord:
    """The game of this seed up to its mafioso's first turn, where the text is said; the town votes by what it heard."""
    spec = MINI_MAFIA.replaced(assess=True)
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
