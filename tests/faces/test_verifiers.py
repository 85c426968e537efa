"""Games through the environment of verifiers, with a server's model in agents' seats, are those of a plain table."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
import verifiers.v1 as vf

import liescope
from liescope.games.record import record_from_json
from tests.generate.players.openai.stub import Answer, Request, Script, Stub, fails, says

SAID = ('"I\'m just a villager."', '"I investigated Alice and Alice is the mafioso."', "Bob", "Alice", "What?")


def answers(request: Request, _: int) -> Answer:
    """One of the above, the same for the same conversation."""
    text = SAID[crc32(json.dumps(request.body["messages"]).encode()) % len(SAID)]
    answer = says(text, usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2})
    return Answer(answer.body | {"created": 1, "model": request.body["model"]})


@pytest.fixture
def serve() -> Iterator[Callable[[Script], Stub]]:
    running: list[Stub] = []

    def start(script: Script) -> Stub:
        running.append(Stub(script))
        return running[-1]

    yield start
    for each in running:
        each.close()


def episodes(url: str, **taskset: Any) -> list[vf.Episode]:
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": "liescope-games", **taskset}}))
    client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
    context = vf.ModelContext(model="tiny", client=client, sampling=vf.SamplingConfig())

    async def all_of_them() -> list[vf.Episode]:
        async with env.serving():
            return [await env.run_episode(task, context) for task in env.taskset]

    return asyncio.run(all_of_them())


def of_role(trace: vf.Trace, role: str) -> list[str]:
    return [message.content for message in trace.branches[-1].messages if message.role == role]


@pytest.mark.parametrize(
    "table",
    [
        {"game": "mini-mafia", "seats": ["mafioso=agent:policy"], "players": ["scripted:steady"]},
        {"game": "mini-mafia", "seats": ["mafioso=agent:policy"], "players": ["agent:opponent"]},
        {"game": "one-night-werewolf", "players": ["agent:policy"], "options": {"assess": True}},
    ],
)
def test_a_game_of_an_environment_is_that_of_a_plain_table_with_the_same_answers(
    table: dict[str, Any], serve: Callable[[Script], Stub]
) -> None:
    weights = {"outcome": 2.0, "honest": 0.5}
    for number, episode in enumerate(episodes(serve(answers).url, **table, games=2, seed=4, weights=weights)):
        assert (episode.ok, episode.errors) == (True, [])
        seats = {trace.info["seat"]: trace for trace in episode.traces}
        assert len(seats) == len(episode.traces)
        (kept,) = (trace.info["record"] for trace in episode.traces if "record" in trace.info)
        given = {seat: iter(of_role(trace, "assistant")) for seat, trace in seats.items()}
        heard = {seat: iter(of_role(trace, "user")) for seat, trace in seats.items()}
        plain = {name: value for name, value in table.items() if name != "options"} | table.get("options", {})
        with liescope.environment(**plain, games=2, seed=4, number=number) as same:
            while asks := same.asks:
                assert [same.prompt(ask.seat) for ask in asks] == [next(heard[ask.seat]) for ask in asks]
                same.send({ask.seat: next(given[ask.seat]) for ask in asks})
            assert record_from_json(kept) == same.record
            earned = same.rewards()
        for seat, trace in seats.items():
            found = {name: value for name, value in asdict(earned[seat]).items() if value is not None}
            assert {name: one.score for name, one in trace.rewards.items()} | trace.metrics == found
            assert {name: one.weight for name, one in trace.rewards.items()}.items() <= weights.items()
            assert trace.agent.name == same.record.seat(seat).model
            assert trace.agent.trainable is (trace.agent.name == "policy")
            assert trace.info["role"] == same.seats[seat]


def test_a_seat_whose_model_fails_ends_the_episode_as_a_failure(serve: Callable[[Script], Stub]) -> None:
    stub = serve(lambda request, number: fails(500) if number else answers(request, number))
    (episode,) = episodes(
        stub.url, game="mini-mafia", seats=["mafioso=agent:policy"], players=["scripted:bold"], games=1
    )
    assert not episode.ok
    assert "ended before the game did" in episode.errors[0].message
    assert not episode.traces[0].rewards


def test_the_command_finds_the_games_by_their_name(serve: Callable[[Script], Stub], tmp_path: Path) -> None:
    words = ["liescope-games", "-m", "tiny", "-o", str(tmp_path), "--no-push", "--no-rich"]
    words += ["--env.taskset.games", "2", "--env.taskset.seats", '["mafioso=agent:policy"]']
    words += ["--env.taskset.players", '["scripted:steady"]', "--client.base-url", serve(answers).url]
    command = "import sys; from verifiers.v1.cli.eval.main import main; main(sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", command, *words], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = tmp_path.glob("*/traces.jsonl")
    games = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [(game["ok"], len(game["traces"])) for game in games] == [(True, 1)] * 2
    assert all(game["traces"][0]["rewards"]["outcome"]["score"] in (0, 1) for game in games)
