"""`liescope label --claims-by`: a chat model lists claims, over a real server on loopback, and is paid once."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from liescope import cli
from liescope.generate.corpus import build, read
from liescope.generate.players.openai import retry
from liescope.generate.runs.claims_report import claims_report

STUB = Path(__file__).parents[1] / "players" / "openai" / "stub.py"


@pytest.fixture(scope="module")
def stubs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("liescope_tests_claims_stub", STUB)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def server(stubs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.001)

    def answer(request: Any, number: int) -> Any:
        """Takes every "I am ROLE" for a claim, and sometimes makes things up, as models do."""
        prompt = request.body["messages"][0]["content"]
        speaker = re.search(r"\. (\w+) says:", prompt)
        said = re.search(r"I(?:'m| am) (?:just )?(?:the |a )?(detective|villager)", prompt.partition("List every")[0])
        assert speaker is not None
        claims = [{"kind": "guilt", "subject": "Nobody", "object": "mafia", "polarity": "affirmed", "quote": "Nobody"}]
        if said:
            own = {"kind": "role", "subject": speaker[1], "object": said[1], "polarity": "affirmed", "quote": said[0]}
            claims.append(own)
        if number % 5 == 4:
            return stubs.says("I am sorry, I cannot help with that.")
        return stubs.says(f"```json\n{json.dumps({'claims': claims if said else None})}\n```")

    stub = stubs.Stub(answer)
    yield stub
    stub.close()


def say(*words: object) -> int:
    return cli.main([str(word) for word in words])


def test_a_model_lists_claims_that_are_checked_and_compared(
    server: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = tmp_path / "runs" / "first", tmp_path / "runs" / "first-claims-by-openai-wise"
    assert say("play", "mini-mafia", "--player", "scripted:bold", "--games", 6, "--out", run) == 0
    words = ("label", run, "--claims-by", f"openai:wise@{server.url}")
    assert say(*words) == 0
    printed = capsys.readouterr().out
    assert max(len(line) for line in printed.splitlines() if str(tmp_path) not in line) <= 80
    assert "against the rules" in printed
    (report,) = claims_report(out)
    assert report.model == "wise"
    assert report.unread > 0
    assert sum(report.dropped.values()) > 0
    asked = len(server.requests)
    assert report.statements + report.unread == asked
    by_kind = {row.kind: row for row in report.agreement}
    assert by_kind["role"].precision == 1.0
    assert say(*words) == 0
    assert len(server.requests) == asked  # paid once

    corpora = [build([folder], out=tmp_path / name).folder for name, folder in (("plain", run), ("asked", out))]
    plain, with_model = (read(folder, "statements").collect() for folder in corpora)
    assert with_model.equals(plain)  # the labels are the rules'
    origins = read(corpora[1], "claims").collect()["origin"].unique().to_list()
    assert sorted(origins) == ["model:wise", "rules"]


def test_the_model_sees_the_statement_and_no_role(server: Any, tmp_path: Path) -> None:
    run = tmp_path / "first"
    assert say("play", "werewolf", "--player", "scripted:bold", "--games", 1, "--out", run) == 0
    assert say("label", run, "--claims-by", f"openai:wise@{server.url}", "--max-tokens", 330) == 1
    prompts = [request.body["messages"][0]["content"] for request in server.requests]
    assert prompts
    assert all("Your role" not in prompt and "you are" not in prompt.casefold() for prompt in prompts)


@pytest.mark.parametrize(
    "words", [(), ("--judge", "scripted:bold", "--claims-by", "openai:wise"), ("--claims-by", "scripted:bold")]
)
def test_claims_are_listed_by_one_chat_model_or_not_at_all(tmp_path: Path, words: tuple[str, ...]) -> None:
    run = tmp_path / "first"
    assert say("play", "mini-mafia", "--player", "scripted:bold", "--games", 1, "--out", run) == 0
    assert say("label", run, *words) == 1
