"""The question before the first game: what cannot work ends the run within seconds, what passes does not, and what is
found out is kept.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from liescope import cli
from liescope.common.errors import EndpointRefused
from liescope.generate.players.openai import openai_player, pace
from liescope.generate.players.openai.endpoint import FIRST_WORDLESS, MOST_WORDLESS
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import RunResult, play
from liescope.generate.runs.rating import label
from tests.generate.players.openai.stub import Answer, Request, Script, Stub, fails, says

Serve = Callable[[Script], Stub]


@pytest.fixture(autouse=True)
def _no_long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liescope.generate.players.openai.endpoint.FIRST_WAIT", 0.001)
    monkeypatch.setattr(pace, "FIRST_PAUSE", 0.02)
    monkeypatch.setattr(openai_player, "AGAIN", 0.2)


def is_question(request: Request) -> bool:
    return request.body["messages"][0]["content"] == openai_player.QUESTION


def obliging(request: Request, number: int) -> Answer:
    """What a server that can do everything sends."""
    answer = says('{"ready": true}' if is_question(request) else '"I trust Alice."', reasoning_content="Let me see.")
    return Answer(answer.body | {"model": "tiny-2026-01-01"})


def refusing(*named: str) -> Script:
    """A server that refuses requests with these fields, as vLLM, Gemini and OpenAI do: 400 with words about it."""

    def script(request: Request, number: int) -> Answer:
        refused = [name for name in named if name in request.body]
        return fails(400, f"{refused[0]} is not supported with this model") if refused else obliging(request, number)

    return script


def run(stub: Stub, out: Path, players: tuple[str, ...] = ("tiny",), **options: Any) -> RunResult:
    specs = [f"openai:{name}@{stub.url}" for name in players]
    return play("mini-mafia", out=out, players=specs, design="self", games=1, **options)


def facts_of(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((out / "run.json").read_text(encoding="utf-8"))["endpoints"]
    return found


def test_everything_is_found_out_with_one_request_and_kept(serve_stub: Serve, tmp_path: Path) -> None:
    stub = serve_stub(obliging)
    result = run(stub, tmp_path / "run", assess=True)
    assert [is_question(request) for request in stub.requests].count(True) == 1
    assert is_question(stub.requests[0])
    (facts,) = facts_of(tmp_path / "run")
    assert facts.pop("host") in stub.url
    assert facts == {
        "model": "tiny",
        "json": "schema",
        "served_models": ["tiny-2026-01-01"],
        "notes": {"reasoning": "tiny gives its reasoning apart from its words"},
    }
    assert result.tally.tokens == 110 * len(stub.requests)  # its cost is in the run's


@pytest.mark.parametrize(("refused", "form", "requests"), [((), "schema", 1), (("response_format",), "none", 2)])
def test_what_a_server_refuses_is_settled_before_the_games(
    serve_stub: Serve, tmp_path: Path, refused: tuple[str, ...], form: str, requests: int
) -> None:
    stub = serve_stub(refusing(*refused))
    assert run(stub, tmp_path / "run", assess=True).complete
    (facts,) = facts_of(tmp_path / "run")
    assert facts["json"] == form
    questions = [request for request in stub.requests if is_question(request)]
    assert len(questions) == requests
    asked = [request for request in stub.requests if not is_question(request)]
    assert any("response_format" in request.body for request in asked) == (form == "schema")
    with Journal.open(tmp_path / "run") as journal:
        assert sum(len(journal.calls(game_id)) for game_id in journal.game_ids()) == len(asked)


def test_a_resumed_run_asks_plainly_and_keeps_what_it_knew(serve_stub: Serve, tmp_path: Path) -> None:
    stub = serve_stub(obliging)
    run(stub, tmp_path / "run", max_tokens=300)
    before = facts_of(tmp_path / "run")
    asked = len(stub.requests)
    assert run(stub, tmp_path / "run").complete
    (question,) = [request for request in stub.requests[asked:] if is_question(request)]
    assert "response_format" not in question.body
    assert facts_of(tmp_path / "run") == before
    asked = len(stub.requests)
    assert run(stub, tmp_path / "run").complete
    assert len(stub.requests) == asked  # nothing is left to ask


def test_a_dead_server_is_one_line_within_seconds_and_leaves_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    assert cli.main(["play", "mini-mafia", "--player", f"openai:tiny@{url}", "--out", str(tmp_path / "run")]) == 1
    error = capsys.readouterr().err
    assert error == f"error: {url} gives no answer: it cannot be reached; start the server, or correct the address\n"
    assert not (tmp_path / "run").exists()


def test_a_wrong_name_is_told_with_the_names_that_there_are(serve_stub: Serve, tmp_path: Path) -> None:
    stub = serve_stub(lambda request, number: fails(404, "The model `tiny` does not exist", code="model_not_found"))
    stub.models = Answer({"data": [{"id": "small"}, {"id": "large"}]})
    with pytest.raises(EndpointRefused, match=r"knows no model 'tiny'.*it has small, large"):
        run(stub, tmp_path / "run")
    assert len(stub.requests) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (fails(401, "Incorrect API key provided"), "refuses the key"),
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), "no quota left"),
        (fails(400, "Unsupported value: 'temperature'"), "correct the player's options"),
    ],
)
def test_what_would_be_refused_every_time_ends_the_run_before_a_game(
    serve_stub: Serve, tmp_path: Path, answer: Answer, said: str
) -> None:
    stub = serve_stub(lambda request, number: answer if request.body["model"] == "bad" else obliging(request, number))
    with pytest.raises(EndpointRefused, match=said):
        run(stub, tmp_path / "run", players=("good", "bad"))
    assert all(map(is_question, stub.requests))
    assert not (tmp_path / "run").exists()


CALL = {"id": "c", "type": "function", "function": {"name": "vote", "arguments": "{}"}}
WORDLESS = {
    # vLLM, issue 52640: the token limit comes before the end of the reasoning
    "cut off": (
        says(None, finish="length", reasoning="Let me think"),
        "only reasoning .* before the token limit.*max_t",
    ),
    "hidden reasoning": (says("", finish="length"), "no word and no answer before the token limit.*larger max_tokens"),
    # vLLM, issues 45736 and 48645: a parser takes the whole answer for reasoning
    "misread": (says(None, reasoning_content="I vote for Bob."), "only reasoning .*thinking=.*reasoning_effort="),
    # vLLM, issue 55080: the parser of tool calls takes the answer, although no tool was offered
    "calls": (says(None, finish="tool_calls", tool_calls=[CALL]), 'called tools.*"tool_choice" to "none"'),
}


@pytest.mark.parametrize("name", WORDLESS)
def test_who_gives_no_word_is_found_out_by_the_question_and_otherwise_by_the_first_answers(
    serve_stub: Serve, tmp_path: Path, name: str
) -> None:
    """The run stops before it has paid for a game, and goes on once that is mended."""
    answer, said = WORDLESS[name]
    broken = [True]
    stub = serve_stub(lambda request, number: answer if broken[0] else obliging(request, number))
    with pytest.raises(EndpointRefused, match=said):
        run(stub, tmp_path / "run")
    assert len(stub.requests) <= 2
    assert not (tmp_path / "run").exists()
    stub.requests.clear()
    result = run(stub, tmp_path / "run", preflight=False, concurrency=4)
    assert isinstance(result.tally.stop, EndpointRefused)
    assert re.search(said, str(result.tally.stop))
    assert len(stub.requests) <= FIRST_WORDLESS + 4
    broken[0] = False
    assert run(stub, tmp_path / "run", preflight=False).tally.done == 1


def test_a_model_that_spoke_may_be_silent_for_longer(serve_stub: Serve, tmp_path: Path) -> None:
    empty = says(None, reasoning="I say nothing.")
    stub = serve_stub(lambda request, number: obliging(request, number) if number < 40 else empty)
    spec = [f"openai:tiny@{stub.url}"]
    result = play("mini-mafia", out=tmp_path / "run", players=spec, games=20, preflight=False, concurrency=4)
    assert isinstance(result.tally.stop, EndpointRefused)
    assert 40 + MOST_WORDLESS <= len(stub.requests) <= 40 + MOST_WORDLESS + 12  # some words came late


def test_a_single_empty_answer_is_none_of_these(serve_stub: Serve, tmp_path: Path) -> None:
    empty = says(None, reasoning="I say nothing.")
    stub = serve_stub(lambda request, number: empty if number % 2 == 0 else obliging(request, number))
    assert run(stub, tmp_path / "run").tally.done == 1


@pytest.mark.parametrize(
    "trouble",
    [fails(429, "Rate limit reached", {"Retry-After": "0"}), fails(503, "overloaded"), Answer("x" * 1000, cut=True)],
    ids=["429", "503", "cut"],
)
def test_what_passes_is_passed_over(serve_stub: Serve, tmp_path: Path, trouble: Answer) -> None:
    stub = serve_stub(lambda request, number: trouble if is_question(request) else obliging(request, number))
    assert run(stub, tmp_path / "run").complete
    (facts,) = facts_of(tmp_path / "run")
    assert facts["json"] is None


def test_a_server_that_only_keeps_silent_is_left_to_the_games(
    serve_stub: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_player, "SECONDS", 0.5)
    monkeypatch.setattr(openai_player, "LIST_SECONDS", 0.5)
    loading = serve_stub(lambda request, number: Answer(silent=True) if number == 0 else obliging(request, number))
    assert run(loading, tmp_path / "loading").complete
    loading.models = Answer(silent=True)  # as a server that does nothing else while it loads
    asked = len(loading.requests)
    assert run(loading, tmp_path / "still loading").complete
    assert is_question(loading.requests[asked])


def test_players_are_asked_at_once_and_none_if_switched_off(serve_stub: Serve, tmp_path: Path) -> None:
    names = ("a", "b", "c", "d")
    together = threading.Barrier(len(names), timeout=60)

    def answered_together(request: Request, number: int) -> Answer:
        if is_question(request):
            together.wait()
        return obliging(request, number)

    stub = serve_stub(answered_together)
    assert run(stub, tmp_path / "run", players=names, max_tokens=3000).tally.stop is not None
    assert not together.broken
    asked = len(stub.requests)
    assert [is_question(request) for request in stub.requests[: len(names)]] == [True] * len(names)
    run(stub, tmp_path / "off", preflight=False, max_tokens=1)
    assert not is_question(stub.requests[asked])


def test_a_judge_is_asked_before_it_labels(serve_stub: Serve, tmp_path: Path) -> None:
    play("mini-mafia", out=tmp_path / "run", players=["scripted:bold"], games=1)
    stub = serve_stub(lambda request, number: fails(401, "Incorrect API key provided"))
    with pytest.raises(EndpointRefused, match="refuses the key"):
        label(tmp_path / "run", f"openai:judge@{stub.url}", out=tmp_path / "judged")
    assert len(stub.requests) == 1


def test_with_a_cache_the_question_is_paid_once_too(serve_stub: Serve, tmp_path: Path) -> None:
    stub = serve_stub(obliging)
    for name in ("one", "two"):
        assert run(stub, tmp_path / name, cache=tmp_path / "cache").complete
    assert [is_question(request) for request in stub.requests].count(True) == 1
    assert run(stub, tmp_path / "three", cache=tmp_path / "cache").complete
    assert [is_question(request) for request in stub.requests].count(True) == 1
