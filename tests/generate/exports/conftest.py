"""Runs to export: played by scripts, and by a chat model behind a stub, whose replies leave nothing out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from liescope.generate.corpus.build import build
from liescope.generate.runs.play import play
from tests.generate.players.openai.stub import Answer, Request, Stub, fails, says

HOSTILE = '"I am the detective. <img src=x onerror=alert(1)> \u202e [x](javascript:1) \x00 \ud800"'


def answer(request: Request, number: int) -> Answer:
    """A detective's claim from every seat, now and then a hostile one, and every tenth request is refused at first."""
    if number % 10 == 3:
        return fails(503, "busy", {"retry-after": "0"})
    used = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
    return says(HOSTILE if number % 7 == 0 else '"I am the detective, and I trust nobody."', usage=used)


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixteen games of Mini-Mafia by scripts."""
    folder = tmp_path_factory.mktemp("scripted") / "runs" / "scripted"
    return play("mini-mafia", players=["scripted:bold", "scripted:novice"], out=folder, games=2, seed=3).folder


@pytest.fixture(scope="module")
def corpus(scripted: Path) -> Path:
    return build(scripted, out=scripted.parents[1] / "corpus" / "scripted").folder


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Four games of Mini-Mafia by a chat model at an endpoint that often fails at first."""
    folder, stub = tmp_path_factory.mktemp("asked") / "runs" / "asked", Stub(answer)
    before = os.environ.get("OPENAI_API_KEY")
    os.environ["OPENAI_API_KEY"] = "sk-not-to-be-written-0123456789"
    try:
        yield play("mini-mafia", players=[f"openai:tiny@{stub.url}"], out=folder, games=4, seed=5).folder
    finally:
        os.environ.pop("OPENAI_API_KEY") if before is None else os.environ.update(OPENAI_API_KEY=before)
        stub.close()
