"""Whole games over the wire, against a stub."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter

from liescope.games import GameRecord, Mafia, MafiaSpec, Session, Source, record, replay, start
from liescope.games.core import Replies
from liescope.generate.players.openai.openai_player import OpenAIPlayer, open_openai
from liescope.generate.players.player_protocol import Attempt, PlayerContext
from liescope.generate.players.run_limits import Limits

MINI = MafiaSpec(1, 1, 2, scripted_night=True, days=1, assess=True)


async def play(session: Session, player: OpenAIPlayer) -> list[Replies]:
    """One game to its end, each batch's asks together."""
    given: list[Replies] = []
    while session.asks:
        views = [session.game.view(ask.seat) for ask in session.asks]
        batch = await asyncio.gather(*map(player.answer, session.asks, views))
        given.append(tuple(batch))
        session.send(given[-1])
    return given


def play_games(
    argument: str, context: PlayerContext, spec: MafiaSpec, count: int
) -> list[tuple[GameRecord, list[Replies]]]:
    """Games with the same player in every seat, all at once."""

    async def run() -> list[tuple[GameRecord, list[Replies]]]:
        player = open_openai(argument, context)
        sessions = [start(lambda seed=seed: Mafia(spec, seed, f"g{seed}")) for seed in range(count)]
        given = await asyncio.gather(*(play(session, player) for session in sessions))
        await player.close()
        who = dict.fromkeys(spec.seats(), (player.model, player.source))
        return [(record(s.game, s.outcome, who), replies) for s, replies in zip(sessions, given, strict=True)]

    return asyncio.run(run())


def fallbacks(game: GameRecord) -> Counter[str]:
    return Counter(event.fallback for event in game.events if event.fallback)


def test_games_over_the_wire_need_no_fallback_when_the_model_keeps_to_the_format(serve, stubs) -> None:
    def script(request, number):
        prompt = request.body["messages"][0]["content"]
        if "response_format" in request.body:
            return stubs.says(
                '{"deceptive": false, "type": "none", "confidence": 0.9, "suspicion": 0.1, "reason": "r"}'
            )
        options = re.findall(r"of these players(?: to \w+)?: (.*)\.$", prompt, re.M)
        return stubs.says(random.choice(options[-1].split(", ")) if options else f'"Message {number}."')

    attempts: list[Attempt] = []
    stub = serve(script)
    spec = MafiaSpec(2, 1, 3, assess=True)
    games = play_games(
        f"tiny@{stub.url}", PlayerContext(log=attempts.append, game="mafia", limits=Limits(concurrency=8)), spec, 3
    )
    for game, replies in games:
        assert game.outcome is not None
        assert not fallbacks(game)
        assert {seat.source for seat in game.seats} == {Source.MODEL}
        seed = int(game.game_id[1:])
        assert tuple(replay(lambda seed=seed: Mafia(spec, seed, f"g{seed}"), replies).events) == game.events
    assert len(attempts) == len(stub.requests) == sum(len(batch) for _, replies in games for batch in replies)


def test_a_flaky_endpoint_changes_no_game_and_each_request_is_logged(serve, stubs) -> None:
    def script(request, number):
        return stubs.fails(503) if number % 3 == 0 else stubs.says('"Hi."')

    attempts: list[Attempt] = []
    stub = serve(script)
    ((game, _),) = play_games(
        f"tiny@{stub.url}", PlayerContext(log=attempts.append, game="mafia", limits=Limits(concurrency=1)), MINI, 1
    )
    assert game.outcome is not None
    assert [bool(attempt.problem) for attempt in attempts] == [n % 3 == 0 for n in range(len(stub.requests))]
