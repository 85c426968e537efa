"""Mini-Mafia games with given words: Alice is the mafioso, Bob the detective, Charlie the villager who survives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import count

from liescope.games import Ask, AskKind, MiniMafia, Reply, Source, drive, record, start
from liescope.games.core import Event, EventKind
from liescope.games.mafia import MINI_MAFIA, MafiaSpec
from liescope.games.record import GameRecord

SPEC = replace(MINI_MAFIA, roles=("mafioso", "detective", "villager", "villager"))
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
