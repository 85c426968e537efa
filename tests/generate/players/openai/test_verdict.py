"""What hosted endpoints send when they will not answer, and whether it means to wait, to give up, or to pay."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from liescope.generate.players.openai.verdict import Response, Scope, verdict_of

BODY = {"model": "m", "messages": []}
RPM = (
    "Rate limit reached for gpt-4o-mini in organization org-abc on requests per min (RPM): Limit 3, Used 3, "
    "Requested 1. Please try again in 20s. Visit https://platform.openai.com/account/rate-limits to learn more."
)
AZURE = (
    "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-08-01-preview have exceeded "
    "token rate limit of your current OpenAI S0 pricing tier. Please retry after 86400 seconds."
)
TOGETHER = (
    "You have been rate limited. Your rate limit is 60 queries per minute. Please navigate to "
    "https://api.together.xyz/settings/billing to upgrade to a paid plan."
)
SOON = str(int(datetime.now(UTC).timestamp() + 3600) * 1000)
FREE = {"code": 429, "metadata": {"headers": {"X-RateLimit-Limit": "20", "X-RateLimit-Reset": SOON}}}
GEMINI = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17s"}]


def response(status: int, data: Any = "", **headers: str) -> Response:
    named = {name.replace("_", "-").lower(): value for name, value in headers.items()}
    return Response(status, named, data if isinstance(data, str) else json.dumps(data))


def error(message: str, **fields: Any) -> dict[str, Any]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("got", "asked"),
    [
        (response(429, error(RPM, type="requests", param=None, code="rate_limit_exceeded")), 20.0),
        (response(429, error(RPM.replace("20s", "120ms"), code="rate_limit_exceeded"), retry_after_ms="121"), 0.121),
        (response(429, error(RPM.replace("20s", "6m0s"), type="tokens", code="rate_limit_exceeded")), 360.0),
        (response(429, error(RPM.replace("20s", "1h2m3.5s"), type="tokens")), 3723.5),
        (response(429, error(AZURE, code="429")), 86400.0),
        (response(429, error(AZURE, code="429"), retry_after="7"), 7.0),
        (response(429, error(TOGETHER, type="credit_limit", param=None, code=None), x_ratelimit_reset="2"), 2.0),
        (response(429, error(TOGETHER, type="credit_limit", param=None, code=None)), None),
        # tests may begin long after they were collected
        (response(429, error("Rate limit exceeded: free-models-per-min.", **FREE)), pytest.approx(3600, abs=3600)),
        (response(429, [error("You exceeded your current quota.", status="EXHAUSTED", details=GEMINI)]), 17.0),
        (response(429, "<html><title>429 Too Many Requests</title></html>", retry_after="1"), 1.0),
        (response(429), None),
        # Of requests at once: Moonshot, LiteLLM and Scaleway, whose words for every limit are in "error"
        (response(429, error("Your current concurrency is 5, which exceeds your concurrency limit of 5")), None),
        (response(429, error("Max parallel request limit reached"), retry_after="60"), 60.0),
        (response(429, {"status": 429, "error": "INSUFFICIENT QUOTA", "message": "concurrent requests"}), None),
        (response(402, error("would exceed your credits given your in-flight requests"), retry_after="3"), 3.0),
        (response(200, error("Rate limit exceeded", code=429)), None),
        (response(200, error("slow down", code="429"), retry_after="4"), 4.0),
    ],
)
def test_a_limit_is_waited_out_for_as_long_as_it_says(got: Response, asked: float | None) -> None:
    verdict = verdict_of(got, BODY)
    assert (verdict.limited, verdict.asked) == (True, asked)


@pytest.mark.parametrize(
    "got",
    [
        response(500, error("The server had an error while processing your request. Sorry about that!")),
        response(502, "<html>Bad gateway</html>"),
        response(503, error("The engine is currently overloaded, please try again later.")),
        response(503, {"object": "error", "message": "overloaded", "type": "ServiceUnavailableError", "code": 503}),
        response(529, error("Overloaded", type="overloaded_error")),
        response(408),
        response(425),
        response(200, error("Provider returned error", code=502, metadata={"provider_name": "X"})),
        response(200, ""),
        response(200, "null"),
        response(200, {"choices": []}),
        response(200, {"choices": [{"message": None}]}),
    ],
)
def test_an_outage_is_waited_out(got: Response) -> None:
    verdict = verdict_of(got, BODY)
    assert not verdict.limited


@pytest.mark.parametrize(
    ("got", "scope"),
    [
        (response(401, error("Incorrect API key provided: sk-***.", code="invalid_api_key")), Scope.PLAYER),
        (response(429, error("You exceeded your current quota", code="insufficient_quota")), Scope.PLAYER),
        (response(429, error("…", type="insufficient_quota", code="credit_balance_exhausted")), Scope.PLAYER),
        (response(402, error("Insufficient credits", code=402)), Scope.PLAYER),
        (response(404, error("The model `m` does not exist", code="model_not_found")), Scope.PLAYER),
        (response(404, {"object": "error", "message": "The model `m` does not exist.", "code": 404}), Scope.PLAYER),
        (response(200, error("No endpoints found for m.", code=404)), Scope.PLAYER),
        (response(302, "", location="https://login.example/"), Scope.PLAYER),
        (response(400, error("maximum context length is 8192 tokens", code="context_length_exceeded")), Scope.ASK),
        (
            response(429, error("Request too large for gpt-4o on tokens per min (TPM): Limit 3, Requested 4.")),
            Scope.ASK,
        ),
        (response(413), Scope.ASK),
    ],
)
def test_a_refusal_says_whom_it_concerns(got: Response, scope: Scope) -> None:
    verdict = verdict_of(got, BODY)
    assert verdict.scope is scope


@pytest.mark.parametrize("status", [400, 422, 501])
def test_a_refusal_of_a_formatted_request_may_be_for_its_format(status: int) -> None:
    verdict = verdict_of(response(status, error("no")), BODY | {"response_format": {}})
    assert verdict.scope is Scope.FORMAT


def test_an_answer_names_itself_and_the_model_behind_it() -> None:
    data = {"id": "chatcmpl-1", "model": "m-2026-01-01", "choices": [{"message": {"content": "Hi."}}]}
    verdict = verdict_of(response(200, data), BODY)
    assert (verdict.response_id, verdict.served_model) == ("chatcmpl-1", "m-2026-01-01")
    odd = verdict_of(response(200, data | {"id": 7, "model": ["m"]}), BODY)
    assert (odd.response_id, odd.served_model) == (None, None)
