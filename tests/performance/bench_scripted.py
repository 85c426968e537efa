"""How long scripted players think, and their share of the time that 500 games a second allow.

python tests/performance/bench_scripted.py
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from liescope.games.core import Ask, Event, Reply
from liescope.games.mafia import MINI_MAFIA, MiniMafia
from liescope.games.script.persona import PROFILES, parse_spec
from liescope.games.session import drive, start
from liescope.games.werewolf import WEREWOLF_TABLE, Werewolf
from liescope.generate.players.scripted import ScriptedPlayer

GAMES_PER_SECOND = 500


def bench_scripted_players() -> None:
    """Whole Mini-Mafia games between all profiles, without and with assessments; only `answer` is timed."""
    players = [ScriptedPlayer(*parse_spec(name), "mini-mafia") for name in PROFILES]
    for assess in (False, True):
        spent, answers, games = 0.0, 0, 0
        for turn, cell in enumerate(list(product(players, repeat=3)) * 15):
            game = MiniMafia(replace(MINI_MAFIA, assess=assess), turn, f"bench-{turn}")
            cast = dict(zip(("mafioso", "detective", "villager"), cell, strict=True))
            session = start(lambda game=game: game)
            games += 1
            while session.asks:
                asked = [(cast[game.roles[ask.seat]], ask, game.view(ask.seat)) for ask in session.asks]
                begin = time.perf_counter()
                replies = tuple(_now(player, ask, view) for player, ask, view in asked)
                spent += time.perf_counter() - begin
                answers += len(replies)
                session.send(replies)
        share = spent / games * GAMES_PER_SECOND
        print(
            f"{'with' if assess else 'without'} assessments: {spent / answers * 1e6:.0f} µs an answer, "
            f"{answers / games:.0f} answers a game, {share:.2f} of the time of a game at {GAMES_PER_SECOND} games/s"
        )


def bench_werewolf() -> None:
    """Whole games of triadic Werewolf between steady players, the engine's own time included."""
    player = ScriptedPlayer(*parse_spec("steady"), "werewolf")
    for assess in (False, True):
        spec, games, answers = replace(WEREWOLF_TABLE, assess=assess), 20, 0
        begin = time.perf_counter()
        for seed in range(games):
            session = start(lambda spec=spec, seed=seed: Werewolf(spec, seed, f"bench-{seed}"))
            answers += sum(map(len, drive(session, lambda ask, view: _now(player, ask, view))))
        spent = time.perf_counter() - begin
        print(
            f"Werewolf {'with' if assess else 'without'} assessments: {games / spent:.1f} games/s, "
            f"{answers / games:.0f} answers a game, {spent / answers * 1e6:.0f} µs an answer"
        )


def _now(player: ScriptedPlayer, ask: Ask, view: Sequence[Event]) -> Reply:
    try:
        player.answer(ask, view).send(None)
    except StopIteration as end:
        reply: Reply = end.value
        return reply
    raise AssertionError("a scripted player suspended")


if __name__ == "__main__":
    bench_scripted_players()
    bench_werewolf()
