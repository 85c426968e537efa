"""Whole games over the wire, against a stub that keeps to the format and is away at times."""

from __future__ import annotations

import random
import re
from pathlib import Path

import liescope
from liescope.games import Source
from liescope.generate.runs.journal import Journal

RATING = '{"deceptive": false, "type": "none", "confidence": 0.9, "suspicion": 0.1, "reason": "r"}'


def test_a_flaky_endpoint_whose_model_keeps_to_the_format_plays_games_without_a_fallback_and_each_request_is_logged(
    serve, stubs, tmp_path: Path
) -> None:
    def script(request, number):
        if number % 3 == 0:
            return stubs.fails(503)
        if "response_format" in request.body:
            return stubs.says(RATING)
        options = re.findall(r"of these players(?: to \w+)?: (.*)\.$", request.body["messages"][0]["content"], re.M)
        return stubs.says(random.choice(options[-1].split(", ")) if options else f'"Message {number}."')

    stub = serve(script)
    table = {"mafiosos": 2, "detectives": 1, "villagers": 3, "assess": True}
    liescope.play("mafia", players=[f"openai:tiny@{stub.url}"], games=3, out=tmp_path / "run", preflight=False, **table)
    with Journal.open(tmp_path / "run") as journal:
        games = list(journal.records())
        calls = [call for game in games for call in journal.calls(game.game_id)]
    assert len(games) == 3
    assert not [event for game in games for event in game.events if event.fallback]
    assert {seat.source for game in games for seat in game.seats} == {Source.MODEL}
    assert len(calls) == len(stub.requests)
    assert sum(bool(call["problem"]) for call in calls) == len(range(0, len(stub.requests), 3))
