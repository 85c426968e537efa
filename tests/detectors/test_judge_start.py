"""What a judge lacks is said before any work: a key before the data are read, a dead server within seconds."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope.common.errors import EndpointSilent, MissingKey, UsageError
from liescope.detectors.detector import silent
from liescope.detectors.judge.judge_session import ask_judge
from liescope.generate.players.openai import openai_player
from liescope.generate.players.openai.completion import Completion
from liescope.generate.players.run_limits import Limits
from tests.generate.players.openai.stub import Stub, says


class Question:
    def words(self, stated: bool) -> str:
        return "Is it so?"

    def read(self, reply: Completion, stated: bool) -> bool:
        return True


@pytest.fixture
def nobody() -> str:
    """An address where nobody is."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_player, "AGAIN", 0.2)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_a_dead_server_is_said_within_seconds_and_what_is_kept_needs_none(nobody: str, tmp_path: Path) -> None:
    limits = Limits(cache=tmp_path / "cache")
    began = time.monotonic()
    with pytest.raises(EndpointSilent, match="cannot be reached; start the server"):
        ask_judge(f"openai:m@{nobody}", [Question()], limits, silent)
    assert time.monotonic() - began < 20
    stub = Stub(lambda request, number: says("yes"))
    ask_judge(f"openai:m@{stub.url}", [Question()], limits, silent)
    stub.close()
    assert ask_judge(f"openai:m@{stub.url}", [Question()], limits, silent).answers == {0: True}


def test_what_is_missing_is_said_before_the_corpus_is_opened(tmp_path: Path) -> None:
    def train(model: str, **options: Any) -> None:
        liescope.train("judge", tmp_path / "no corpus", out=tmp_path / "model", model=model, **options)

    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        train("openai:gpt-4.1-mini")
    with pytest.raises(UsageError, match="--price m=PROMPT,COMPLETION"):
        train("openai:m@http://127.0.0.1:9/v1", max_cost=1.0)


def test_a_judge_of_evaluate_needs_its_key_at_once(tmp_path: Path) -> None:
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        liescope.evaluate([], corpus=tmp_path / "no corpus", judge="openai:gpt-4.1-mini", out=tmp_path / "report")
