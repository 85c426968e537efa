"""A chat model beside the detectors, over a real server on loopback: scored, paid for once, resumed."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections import Counter
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl
import pytest

import liescope
from liescope.common.errors import BadData, EndpointSilent, MissingKey, UsageError
from liescope.detectors.detector import silent
from liescope.detectors.judge.asking import ask_judge
from liescope.detectors.judge.prompt import ATTEMPTS, read_prompt
from liescope.detectors.study.evaluate import evaluate
from liescope.generate.players.openai import openai_player
from liescope.generate.players.reply_cache import FILE
from liescope.generate.players.run_limits import Limits
from tests.detectors.judge_stub import material, stating, with_logprobs
from tests.generate.players.openai.stub import Answer, Request, as_stream, fails, says


def auroc(evaluation: Any, judge: str) -> Any:
    (row,) = [r for r in evaluation.rows if (r.scorer, r.metric, r.where, r.against) == (judge, "auroc", "test", None)]
    return row


def test_a_judge_is_scored_by_log_probability_on_the_same_statements_and_paid_for_once(
    serve: Any, model: Path, corpus: Path, tmp_path: Path
) -> None:
    stub = serve(with_logprobs)
    options: dict[str, Any] = {
        "judge": f"openai:wise@{stub.url}",
        "judge_cache": tmp_path / "cache",
        "price": ["wise=10,20"],
        "split": "test",
        "out": tmp_path / "report",
    }
    first = evaluate(model, corpus, **options)
    row, (facts,) = auroc(first, "judge:wise"), first.judges
    assert row.value > 0.8
    assert facts.how == "log-probability"
    assert facts.statements == facts.requests == row.statements == len(stub.requests)
    assert facts.cost == pytest.approx(row.statements * (100 * 10 + 10 * 20) / 1e6)
    request = stub.requests[0].body
    assert (request["logprobs"], request["top_logprobs"]) == (True, 20)
    assert "work against the others" in request["messages"][0]["content"]
    # The same statements, so the difference needs no intersection.
    (pair,) = [r for r in first.rows if r.against == "judge:wise" and r.metric == "matched_recall_5pct_difference"]
    assert (pair.scorer, pair.statements) == ("tfidf", row.statements)
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert report["judges"][0]["how"] == "log-probability"
    again = evaluate(model, corpus, overwrite=True, **options)
    assert len(stub.requests) == row.statements
    assert (again.judges[0].found, again.judges[0].requests) == (row.statements, 0)
    assert auroc(again, "judge:wise") == row


def test_an_endpoint_without_log_probabilities_states_a_confidence_and_its_rows_say_so(
    serve: Any, model: Path, corpus: Path, tmp_path: Path
) -> None:
    def refuses(request: Request, number: int) -> Answer:
        return fails(400, "no logprobs") if "logprobs" in request.body else stating(request, number)

    for number, script in enumerate((stating, refuses)):
        stub = serve(script)
        cache = tmp_path / str(number)
        found = evaluate(model, corpus, judge=f"openai:wise@{stub.url}", judge_cache=cache, split="test")
        assert found.judges[0].how == "stated confidence"
        assert auroc(found, "judge:wise (stated confidence)").value > 0.8
        # One request found out that there are none; all others ask for a number.
        assert sum("logprobs" in request.body for request in stub.requests) == 1


@pytest.mark.parametrize("judge", [with_logprobs, stating])
@pytest.mark.parametrize("counted", [True, False])
def test_an_endpoint_that_only_streams_is_asked_for_streams_and_judges_alike(
    counted: bool, judge: Any, serve: Any, tmp_path: Path
) -> None:
    """counted: it takes stream_options, too."""

    def only_streams(request: Request, number: int) -> Answer:
        if not request.body.get("stream"):
            return fails(400, "Non-streaming requests are not supported by this model")
        if "stream_options" in request.body and not counted:
            return fails(422, "stream_options: Extra inputs are not permitted")
        if "max_tokens" in request.body:
            return fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return as_stream(judge(request, number), counted)

    questions = [read_prompt().about_statement(f"Bob: I {word} them.", "role") for word in ("trust", "saw", "rush")]
    told = []
    for number, script in enumerate((judge, only_streams)):
        stub = serve(script)
        limits = Limits.of({"cache": tmp_path / str(number), "concurrency": 1})
        asking = ask_judge(f"openai:wise@{stub.url}?max_tokens=99", questions, limits, silent)
        told.append((asking.answers, asking.failed, asking.stated))
    assert told[0] == told[1]
    assert len(told[0][0]) == len(questions)
    refused = 2 + (not counted)
    assert all("max_completion_tokens" in request.body for request in stub.requests[refused:])
    assert all(("stream_options" in request.body) == counted for request in stub.requests[refused:])


def test_a_limit_draws_whole_games(serve: Any, model: Path, corpus: Path, tmp_path: Path) -> None:
    stub = serve(with_logprobs)
    options: dict[str, Any] = {"judge_limit": 20, "judge_cache": tmp_path / "c", "observers": True}
    options["split"] = "test"
    found = evaluate(model, corpus, judge=f"openai:wise@{stub.url}", **options)
    judged = found.scores.filter(pl.col("scorer") == "judge:wise").join(found.statements, on="statement_id")
    assert judged.height == 24
    assert set(judged["game_id"].value_counts()["count"]) == {6}
    # In the villager's seat, too, only the games that it judged count.
    (seat,) = [r for r in found.rows if (r.scorer, r.metric, r.where) == ("judge:wise", "names_mafioso", "test")]
    assert seat.games <= 4


def test_a_signal_keeps_what_came(
    serve: Any, model: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    killed = Lock()  # taken once: two requests at once may both be counted as the thirty-first

    def script(request: Request, made: int) -> Answer:
        if made >= 30 and killed.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGTERM)
        return with_logprobs(request, made)

    stub = serve(script)
    options: dict[str, Any] = {"judge": f"openai:wise@{stub.url}", "judge_cache": tmp_path / "c"}
    options |= {"split": "test"}
    with pytest.raises(SystemExit):
        evaluate(model, corpus, progress=True, **options)
    assert "replies are kept in" in capsys.readouterr().err
    made = len(stub.requests)
    assert made >= 30
    found = evaluate(model, corpus, **options)
    # Nothing that was answered is asked again.
    assert len(stub.requests) == found.judges[0].statements
    assert found.judges[0].found == made


def test_a_damaged_cache_is_refused(model: Path, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / FILE).write_text("This is no database. " * 100, encoding="utf-8")
    with pytest.raises(BadData, match="delete it, or choose another folder"):
        evaluate(model, corpus, judge="openai:wise@http://127.0.0.1:9/v1", judge_cache=tmp_path / "c")


def test_what_the_judge_fails_on_is_counted_left_out_of_comparisons_kept_and_asked_again(
    serve: Any, model: Path, corpus: Path, tmp_path: Path
) -> None:
    ill = {"on": True}

    def script(request: Request, number: int) -> Answer:
        return (
            says("I cannot say.") if ill["on"] and len(material(request)) % 5 == 4 else with_logprobs(request, number)
        )

    stub = serve(script)
    options: dict[str, Any] = {"judge": f"openai:wise@{stub.url}", "judge_cache": tmp_path / "c"}
    options |= {"split": "test"}
    found = evaluate(model, corpus, **options)
    (first,) = found.judges
    lost = sum(first.failed.values())
    (pair,) = [r for r in found.rows if r.against == "judge:wise" and r.metric == "auroc_difference"]
    assert pair.statements == auroc(found, "judge:wise").statements == first.statements - lost
    assert auroc(found, "tfidf").statements == first.statements
    assert any("have no score" in note for note in found.notes)
    asked = Counter(material(request) for request in stub.requests)
    assert lost > 0
    assert {asked[words] for words in asked} == {1, ATTEMPTS}
    assert len(stub.requests) == first.statements + (ATTEMPTS - 1) * lost
    ill["on"], before = False, len(stub.requests)
    (again,) = evaluate(model, corpus, **options).judges
    assert not again.failed
    assert len(stub.requests) - before == lost
    before = len(stub.requests)
    (last,) = evaluate(model, corpus, **options).judges
    assert (len(stub.requests), last.failed) == (before, {})


def test_a_dead_server_is_said_at_once_and_what_is_kept_needs_none(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_player, "AGAIN", 0.2)
    asked, limits = [read_prompt().about_statement("It is so.", "role")], Limits(cache=tmp_path / "cache")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with pytest.raises(EndpointSilent, match="cannot be reached; start the server"):
        ask_judge(f"openai:m@{nobody}", asked, limits, silent)
    stub = serve(with_logprobs)
    found = ask_judge(f"openai:m@{stub.url}", asked, limits, silent).answers
    stub.close()
    assert 0 < found[0][0] < 0.5
    assert ask_judge(f"openai:m@{stub.url}", asked, limits, silent).answers == found


@pytest.mark.parametrize(
    ("model", "options", "error", "words"),
    [
        ("", {}, UsageError, "no chat model is named; give one such as openai:"),
        ("scripted:bold", {}, UsageError, "a judge is a chat model such as openai:"),
        ("gpt-4.1-mini", {}, UsageError, "a judge is a chat model such as openai:"),
        ("openai:gpt-4.1-mini", {}, MissingKey, "OPENAI_API_KEY"),
        ("openai:m@http://127.0.0.1:9/v1", {"max_cost": 1.0}, UsageError, "--price m=PROMPT,COMPLETION"),
    ],
)
def test_what_is_no_judge_or_cannot_be_asked_is_said_before_the_corpus_is_opened(
    model: str,
    options: dict[str, Any],
    error: type[Exception],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    nowhere = tmp_path / "no corpus"
    with pytest.raises(error, match=words):
        liescope.train("judge", nowhere, out=tmp_path / "model", model=model, **options)
    if model:
        with pytest.raises(error, match=words):
            liescope.evaluate([], corpus=nowhere, judge=model, out=tmp_path / "report", **options)
