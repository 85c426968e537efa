"""`liescope label --claims-by`: a chat model lists claims, over a real server on loopback, and is paid once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from liescope import cli
from liescope.games.core import EventKind
from liescope.generate.corpus.build import build
from liescope.generate.corpus.corpus_facts import count_claims
from liescope.generate.corpus.read import read
from tests.generate.players.openai.stub import Answer, Request, Stub, says
from tests.generate.runs.fakes import records


@pytest.fixture
def server(serve_stub: Callable[..., Stub], monkeypatch: pytest.MonkeyPatch) -> Stub:
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.FIRST_WAIT", 0.001)

    def answer(request: Request, number: int) -> Answer:
        """Takes every "I am ROLE" for a claim, and sometimes makes things up, as models do."""
        prompt = request.body["messages"][0]["content"]
        speaker = re.search(r"\. (\w+) says:", prompt)
        said = re.search(r"I(?:'m| am) (?:just )?(?:the |a )?(detective|villager)", prompt.partition("List every")[0])
        claims = [{"kind": "guilt", "subject": "Nobody", "object": "mafia", "polarity": "affirmed", "quote": "Nobody"}]
        if said:
            own = {"kind": "role", "subject": speaker[1], "object": said[1], "polarity": "affirmed", "quote": said[0]}
            claims.append(own)
        if number % 5 == 4:
            return says("I am sorry, I cannot help with that.")
        return says(f"```json\n{json.dumps({'claims': claims if said else None})}\n```")

    return serve_stub(answer)


def say(*words: object) -> int:
    return cli.main([str(word) for word in words])


def test_a_model_lists_claims_that_are_checked_beside_those_of_the_rules(server: Stub, tmp_path: Path) -> None:
    run, out = tmp_path / "runs" / "first", tmp_path / "runs" / "first-claims-by-openai-wise"
    assert say("play", "mini-mafia", "--player", "scripted:bold", "--games", 6, "--out", run) == 0
    words = ("label", run, "--claims-by", f"openai:wise@{server.url}", "--no-preflight")
    assert say(*words) == 0
    asked = len(server.requests)
    found = [event for game in records(out) for event in game.events if event.kind is EventKind.CLAIMS_FOUND]
    assert len(found) == asked
    assert any(event.fallback for event in found)  # an answer that is no list
    assert say(*words) == 0
    assert len(server.requests) == asked  # paid once

    corpora = [build([folder], out=tmp_path / name).folder for name, folder in (("plain", run), ("asked", out))]
    plain, with_model = (read(folder, "statements").collect() for folder in corpora)
    assert with_model.equals(plain)  # the labels are the rules'
    claims = read(corpora[1], "claims").collect()
    mine = claims.filter(origin="model:wise")
    assert mine.height == mine.join(claims.filter(origin="rules"), on=["statement_id", "normal"], how="semi").height > 0
    origins = read(corpora[1], "claims").collect()["origin"].unique().to_list()
    assert sorted(origins) == ["model:wise", "rules"]
    before, after = (count_claims(read(folder, "claims"), read(folder, "statements")) for folder in corpora)
    assert after.origins["model:wise"] > 0
    assert replace(after, origins=before.origins) == before  # and so are the counts on the card


def test_the_model_sees_the_statement_and_no_role(server: Stub, tmp_path: Path) -> None:
    run = tmp_path / "first"
    assert say("play", "werewolf", "--player", "scripted:bold", "--games", 1, "--out", run) == 0
    assert say("label", run, "--claims-by", f"openai:wise@{server.url}", "--max-tokens", 330) == 1
    prompts = [request.body["messages"][0]["content"] for request in server.requests]
    assert prompts
    assert all("Your role" not in prompt and "you are" not in prompt.casefold() for prompt in prompts)
