"""Whole games between scripted players, driven without an event loop: `answer` never suspends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from liescope.games.core import Ask, Event, Game, Replies, Reply
from liescope.games.mafia.rules import MAFIA, MINI_MAFIA, Mafia, MafiaSpec
from liescope.games.record import GameRecord, record
from liescope.games.session import drive, start
from liescope.games.werewolf.rules import TRIADIC, Werewolf, WerewolfSpec
from liescope.generate.players.player_protocol import Attempt, PlayerContext
from liescope.generate.players.scripted import ScriptedPlayer, open_scripted

ROLES = ("mafioso", "detective", "villager")


def _no_log(attempt: Attempt) -> None:
    raise AssertionError("a scripted player makes no requests")


TABLES = {game: PlayerContext(log=_no_log, game=game) for game in ("mafia", "werewolf")}


def now(player: ScriptedPlayer, ask: Ask, view: Sequence[Event]) -> Reply:
    """The answer of a player that never awaits."""
    try:
        player.answer(ask, view).send(None)
    except StopIteration as end:
        reply: Reply = end.value
        return reply
    raise AssertionError("answer suspended")


@dataclass(frozen=True)
class Played:
    game: Game
    record: GameRecord
    replies: list[Replies]
    views: list[tuple[Ask, Sequence[Event], Reply]]

    @property
    def mafia_won(self) -> bool:
        outcome = self.record.outcome
        return outcome.winner == MAFIA


Play = Callable[..., Played]


@pytest.fixture(scope="session")
def player() -> Callable[[str], ScriptedPlayer]:
    return lambda argument, game="mafia": open_scripted(argument, TABLES[game])


@pytest.fixture(scope="session")
def answer() -> Callable[[ScriptedPlayer, Ask, Sequence[Event]], Reply]:
    return now


@pytest.fixture(scope="session")
def play() -> Play:
    """play(seed, mafioso=…, detective=…, villager=…, spec=…): a whole game; specs without `scripted:`."""
    opened: dict[tuple[str, str], ScriptedPlayer] = {}

    def run(seed: int, spec: MafiaSpec | WerewolfSpec = MINI_MAFIA, assess: bool = False, **players: str) -> Played:
        table = spec.replaced(assess=assess)
        game_id = f"game-{seed}"
        game: Game = Werewolf(table, seed, game_id) if isinstance(table, WerewolfSpec) else Mafia(table, seed, game_id)
        seats = {}
        for name, role in game.roles.items():
            argument = players.get(role, "steady")
            seats[name] = opened.setdefault((game.name, argument), open_scripted(argument, TABLES[game.name]))
        asked: list[tuple[Ask, Sequence[Event], Reply]] = []

        def reply(ask: Ask, view: Sequence[Event]) -> Reply:
            given = now(seats[ask.seat], ask, view)
            asked.append((ask, view, given))
            return given

        session = start(lambda: game)
        replies = drive(session, reply)
        models = {name: (player.model, player.source) for name, player in seats.items()}
        return Played(game, record(game, session.outcome, models), replies, asked)

    return run


@pytest.fixture(scope="session")
def wins(play: Play) -> Callable[..., Counter[str]]:
    """wins(games, jester=…, …): how often each faction wins Werewolf; roles that are left out play steady."""

    def count(games: int, **players: str) -> Counter[str]:
        records = (play(seed, spec=TRIADIC, **players).record for seed in range(games))
        return Counter(record.outcome.winner for record in records if record.outcome)

    return count


@pytest.fixture(scope="session")
def win_rate(play: Play) -> Callable[..., float]:
    """win_rate(games, mafioso=…, …): the mafia's share of wins in Mini-Mafia."""
    return lambda games, **players: sum(play(seed, **players).mafia_won for seed in range(games)) / games
