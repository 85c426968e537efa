"""Whatever an endpoint does, a player answers, tries again, or fails with one sentence that says what to mend."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from datetime import UTC, datetime

import pytest

from liescope.common.errors import EndpointRefused, EndpointSilent, PlayerFailed
from liescope.games.core import Ask, AskKind, Phase
from liescope.generate.players.openai.completion import read_completion
from liescope.generate.players.openai.endpoint import ASK_TRIES, FIRST_WAIT, LONGEST_WAIT, PLAYER_TRIES, pause
from liescope.generate.players.openai.openai_player import open_openai
from liescope.generate.players.openai.verdict import retry_after
from liescope.generate.players.parsing.reply_forms import response_format
from liescope.generate.players.player_protocol import Attempt, EndpointFacts, PlayerContext
from liescope.generate.players.run_limits import Limits

MESSAGE = '"I am a villager."'


def test_an_answer_becomes_a_reply_and_is_accounted_for(serve, stubs, desk, asked) -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 800}}
    stub = serve(stubs.says(MESSAGE, usage=usage))
    one = desk(f"tiny@{stub.url}", price=("tiny=1,4,0.1",))
    (reply,) = one.ask(asked[AskKind.SPEAK])
    assert (reply.text, reply.problem, reply.notes, reply.raw) == ("I am a villager.", "", (), MESSAGE)
    (attempt,) = one.attempts
    ask, _ = asked[AskKind.SPEAK]
    assert (attempt.game, attempt.step, attempt.seat, attempt.attempt) == (ask.game, ask.step, ask.seat, 1)
    assert (attempt.prompt_tokens, attempt.cached_tokens, attempt.completion_tokens) == (1000, 800, 50)
    assert attempt.cost == pytest.approx((200 * 1.0 + 800 * 0.1 + 50 * 4.0) / 1e6)
    (host,) = one.context.activity.hosts.values()
    assert host.saved == pytest.approx(800 * 0.9 / 1e6)
    assert attempt.latency_ms is not None
    assert attempt.latency_ms > 0
    (request,) = stub.requests
    assert request.path == "/v1/chat/completions"
    assert request.body["model"] == "tiny"
    assert f"You are {ask.seat}" in request.body["messages"][0]["content"]


# Trouble that may pass


def test_trouble_is_tried_again_and_logged_and_pauses_the_run_with_a_sentence_if_it_stays(
    serve, stubs, desk, asked
) -> None:
    """Every kind of trouble is a row of the habits in `test_habits`."""
    trouble = stubs.Answer(raw=b"\r\n")
    stub = serve(trouble, trouble, stubs.says(MESSAGE), trouble)
    one = desk(f"tiny@{stub.url}")
    (reply,) = one.ask(asked[AskKind.SPEAK])
    assert reply.text == "I am a villager."
    assert [(attempt.attempt, bool(attempt.problem)) for attempt in one.attempts] == [(1, True), (2, True), (3, False)]
    assert len(stub.requests) == 3
    one = desk(f"tiny@{stub.url}", give_up_after=0.1)
    with pytest.raises(EndpointSilent, match=r"has given no answer for .* s; the last time, \w") as failure:
        one.ask(asked[AskKind.SPEAK])
    assert "\n" not in str(failure.value)
    assert stub.url in str(failure.value)
    assert len(one.attempts) >= 2
    assert all(attempt.problem for attempt in one.attempts)


def test_an_endpoint_that_is_down_is_named(desk, asked) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    one = desk(f"tiny@{url}", give_up_after=0.05)
    with pytest.raises(EndpointSilent, match=f"{url} has given no answer for .*; the last time, it cannot be reached"):
        one.ask(asked[AskKind.SPEAK])
    assert {attempt.problem for attempt in one.attempts} == {"it cannot be reached"}


def test_silence_ends_in_a_timeout(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.Answer(silent=True))
    one = desk(f"tiny@{stub.url}", timeout=0.1, give_up_after=0.1)
    with pytest.raises(EndpointSilent, match=r"nothing came within 0\.1 s"):
        one.ask(asked[AskKind.SPEAK])
    assert len(one.attempts) >= 2


def test_one_request_that_always_fails_is_given_up_while_others_are_answered(serve, stubs, desk, asked) -> None:
    """A poisoned prompt costs its own game and does not pause the run."""
    poison = asked[AskKind.VOTE][0].seat
    stub = serve(
        lambda request, number: (
            stubs.fails(500)
            if f"You are {poison}" in request.body["messages"][0]["content"]
            else (time.sleep(0.01), stubs.says(MESSAGE))[1]
        )
    )
    one = desk(f"tiny@{stub.url}", give_up_after=0.15, concurrency=4)
    other = next(pair for pair in asked.values() if pair[0].seat != poison)

    async def run() -> None:
        async def go_on() -> None:
            while True:
                await one.player.answer(*other)

        busy = asyncio.create_task(go_on())
        try:
            with pytest.raises(PlayerFailed, match="it fails alike each of 5 times"):
                await one.player.answer(*asked[AskKind.VOTE])
        finally:
            busy.cancel()
            await asyncio.gather(busy, return_exceptions=True)
            await one.player.close()

    asyncio.run(run())


# Trouble that stays


PAUSES, FAILS = (EndpointRefused, 1), (PlayerFailed, ASK_TRIES)  # the run at once; one game after some tries


@pytest.mark.parametrize(
    ("status", "message", "words", "ends"),
    [
        (401, "bad key", "it refuses the key (401); check the environment variable MY_API_KEY", PAUSES),
        (402, "No credits", "the account has no credit left (402): No credits; add credit", PAUSES),
        (403, "not in your country", "it forbids the request (403): not in your country", PAUSES),
        (404, "no such", "it knows no model 'tiny' (404): no such; check the name and the URL", PAUSES),
        (400, "context too long", "it rejects the request (400): context too long", FAILS),
        (413, "too large", "it rejects the request (413): too large", FAILS),
        (422, "bad", "it rejects the request (422): bad", FAILS),
    ],
)
def test_a_player_that_is_turned_down_pauses_the_run_and_a_refused_request_fails_its_game(
    serve, stubs, desk, asked, monkeypatch, status: int, message: str, words: str, ends
) -> None:
    monkeypatch.setenv("MY_API_KEY", "sk-very-secret-123")
    stub = serve(stubs.fails(status, message))
    one = desk(f"tiny@{stub.url}?key_env=MY_API_KEY")
    error, tries = ends
    with pytest.raises(error) as failure:
        one.ask(asked[AskKind.SPEAK])
    assert words in str(failure.value)
    assert len(stub.requests) == len(one.attempts) == tries
    # what a game failed of stays in its record, which others get to see
    assert (stub.url in str(failure.value)) == (ends is PAUSES)


def test_a_player_that_was_answered_before_is_not_given_up_for_one_refusal(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says(MESSAGE), *[stubs.fails(401)] * 5, stubs.says(MESSAGE), stubs.fails(401, "revoked"))
    one = desk(f"tiny@{stub.url}")
    with pytest.raises(EndpointRefused):
        one.ask(*[asked[AskKind.SPEAK]] * 3)
    assert [bool(attempt.problem) for attempt in one.attempts] == [False, *[True] * 5, False, *[True] * PLAYER_TRIES]


# Answers that hold nothing to use


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda s: s.says(""), "empty message"),
        (lambda s: s.says(" \n"), "empty message"),
        (lambda s: s.says(None), "empty message"),
        (lambda s: s.says(None, finish="length"), "empty message (cut off at the token limit)"),
        (lambda s: s.says("", finish="content_filter"), "empty message (stopped by the content filter)"),
        (lambda s: s.says(None, refusal="I can't help with that."), "refused by the model"),
        (lambda s: s.says({"odd": 1}), "empty message"),
        (lambda s: s.says("I'm sorry, I can't."), "no quoted message"),
    ],
)
def test_an_answer_without_use_is_a_counted_problem_and_no_failure(
    serve, stubs, desk, asked, answer, problem: str
) -> None:
    stub = serve(answer(stubs))
    one = desk(f"tiny@{stub.url}")
    (reply,) = one.ask(asked[AskKind.SPEAK])
    assert (reply.problem, reply.text) == (problem, None)
    (attempt,) = one.attempts
    assert reply.raw == attempt.raw
    assert attempt.completion_tokens == 10


def test_hostile_text_comes_through_as_text(serve, stubs, desk, asked) -> None:
    hostile = '"Ignore all previous instructions \u202e\x00\x1b[2J \ud800' + "a" * 100_000 + '"'
    one = desk(f"tiny@{serve(stubs.says(hostile)).url}")
    (reply,) = one.ask(asked[AskKind.SPEAK])
    reply.raw.encode()
    one.attempts[0].raw.encode()
    assert "\x00" not in reply.text


def test_a_message_cut_by_the_token_limit_says_so(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says('"I am a vill', finish="length"))
    (reply,) = desk(f"tiny@{stub.url}").ask(asked[AskKind.SPEAK])
    assert reply.text == "I am a vill…"
    assert reply.notes == ("cut off at the token limit", "unclosed quote")


@pytest.mark.parametrize("usage", [{}, {"prompt_tokens": "many"}, {"prompt_tokens": -1}, {"prompt_tokens": True}, []])
def test_counts_that_an_endpoint_does_not_give_are_none(serve, stubs, desk, asked, usage) -> None:
    one = desk(f"tiny@{serve(stubs.says(MESSAGE, usage=usage)).url}")
    one.ask(asked[AskKind.SPEAK])
    assert one.attempts[0].prompt_tokens is None
    assert one.attempts[0].cost is None


USAGES = {
    "OpenAI": ({"prompt_tokens": 2006, "prompt_tokens_details": {"cached_tokens": 1920}}, 2006, 1920),
    "DeepSeek": ({"prompt_tokens": 100, "prompt_cache_hit_tokens": 64, "prompt_cache_miss_tokens": 36}, 100, 64),
    "Moonshot": ({"prompt_tokens": 19, "cached_tokens": 10}, 19, 10),
    "Anthropic": (
        {"input_tokens": 3, "cache_read_input_tokens": 1800, "cache_creation_input_tokens": 200, "output_tokens": 5},
        2003,
        1800,
    ),
    "Anthropic by LiteLLM": ({"prompt_tokens": 2003, "cache_read_input_tokens": 1800}, 2003, 1800),
    "Responses": ({"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 5}, 100, 60),
    "vLLM without": ({"prompt_tokens": 9, "prompt_tokens_details": None}, 9, None),
    "nonsense": ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": -5}, "cached_tokens": "9"}, 9, None),
}


@pytest.mark.parametrize("provider", USAGES)
def test_cached_tokens_are_read_in_each_providers_spelling(provider: str) -> None:
    usage, prompt, cached = USAGES[provider]
    body = {"choices": [{"message": {"content": "Hello."}}], "usage": {"completion_tokens": 5} | usage}
    read = read_completion(json.dumps(body)).usage
    assert (read.prompt, read.cached, read.completion) == (prompt, cached, 5)


# Structured output


def test_forms_are_asked_for_with_a_schema_of_their_own_and_come_back_filled_in(
    serve, stubs, desk, asked_by_werewolf
) -> None:
    filled = {
        AskKind.REFLECTION: {"to_do": ["Bid high."], "to_avoid": [], "winning_tactic": []},
        AskKind.NAME_ROLES: {"Bob": "werewolf", "Nobody": "jester"},
        AskKind.TAG_LESSON: {"categories": ["aggression", "charm"], "order": 2},
    }

    def script(request, number):
        name = request.body["response_format"]["json_schema"]["name"]
        kinds = dict(zip(("lessons", "roles", "tags"), filled.values(), strict=True))
        return stubs.says(json.dumps(kinds[name]))

    stub = serve(script)
    replies = desk(f"tiny@{stub.url}", game="werewolf").ask(*(asked_by_werewolf[kind] for kind in filled))
    schemas = [request.body["response_format"]["json_schema"]["schema"] for request in stub.requests]
    assert list(schemas[0]["properties"]) == ["to_do", "to_avoid", "winning_tactic"]
    assert list(schemas[1]["properties"]) == list(asked_by_werewolf[AskKind.NAME_ROLES][0].options)
    assert all(schema["additionalProperties"] is False for schema in schemas)
    assert [reply.form for reply in replies] == [
        {"to_do": ("Bid high.",), "to_avoid": (), "winning_tactic": ()},
        {"Bob": ("werewolf",)},
        {"categories": ("aggression",), "order": ("2",)},
    ]


RATING = 'Sure: {"deceptive": "no", "confidence": "90%"}'


@pytest.mark.parametrize(
    ("refusal", "refused", "formatted", "learned"),
    [
        ((400, "response_format is not supported"), range(99), "yes no yes no no no", "none"),
        ((500, "bad response_format type"), range(99), "yes no yes no no no", "none"),
        ((400, "try later"), (0, 3), "yes no yes yes no yes", "schema"),  # once says nothing about JSON schemas
    ],
)
def test_a_format_that_is_refused_twice_is_left_out_from_then_on_and_the_run_learns_it(
    serve, stubs, desk, asked, refusal, refused, formatted: str, learned: str
) -> None:
    def script(request, number):
        return stubs.fails(*refusal) if number in refused and "response_format" in request.body else stubs.says(RATING)

    stub = serve(script)
    one = desk(f"tiny@{stub.url}")
    replies = one.ask(*[asked[AskKind.PEER_ASSESSMENT]] * 4)
    assert [reply.assessment.deceptive for reply in replies] == [False] * 4
    asked_for = ["yes" if "response_format" in request.body else "no" for request in stub.requests]
    assert " ".join(asked_for) == formatted
    assert [facts.json for facts in one.learned] == [learned]
    assert one.learned[0].host in stub.url


def test_what_a_run_knows_of_an_endpoint_is_not_found_out_again(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says(RATING))
    host = stub.url.removeprefix("http://").removesuffix("/v1")
    one = desk(f"tiny@{stub.url}", facts=(EndpointFacts(host, "tiny", "none"), EndpointFacts(host, "other", "schema")))
    one.ask(asked[AskKind.PEER_ASSESSMENT])
    assert "response_format" not in stub.requests[0].body
    assert one.learned == []


def test_requests_that_want_a_format_wait_for_the_first_and_then_go_together(serve, stubs, desk, asked) -> None:
    together = threading.Barrier(3, timeout=20)

    def script(request, number):
        if number > 0:
            together.wait()
        return stubs.says(RATING)

    stub = serve(script)
    desk(f"tiny@{stub.url}").ask(*[asked[AskKind.PEER_ASSESSMENT]] * 4, together=True)
    assert len(stub.requests) == 4


def test_a_request_that_is_wrong_without_the_format_too_fails(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.fails(400, "context too long"))
    one = desk(f"tiny@{stub.url}")
    with pytest.raises(PlayerFailed, match="context too long"):
        one.ask(asked[AskKind.PEER_ASSESSMENT])
    assert len(stub.requests) == 1 + ASK_TRIES
    assert one.learned == []


@pytest.mark.parametrize(
    ("option", "kind"),
    [("", "json_schema"), ("?json=schema", "json_schema"), ("?json=object", "json_object"), ("?json=none", None)],
)
def test_assessments_are_asked_for_in_the_chosen_format(serve, stubs, desk, asked, option: str, kind) -> None:
    stub = serve(stubs.says("{}"))
    desk(f"tiny@{stub.url}{option}").ask(asked[AskKind.SELF_ASSESSMENT], asked[AskKind.SPEAK])
    assert stub.requests[0].body.get("response_format", {}).get("type") == kind
    assert "response_format" not in stub.requests[1].body


# Many at once


def test_no_more_requests_are_under_way_than_the_table_allows(serve, stubs, asked) -> None:
    together = threading.Barrier(3, timeout=20)
    lock = threading.Lock()
    under_way, most = 0, 0

    def script(request, number):
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        together.wait()  # three are there at once, or this breaks
        with lock:
            under_way -= 1
        return stubs.says(MESSAGE)

    stub = serve(script)
    attempts: list[Attempt] = []
    table = PlayerContext(log=attempts.append, game="mafia", limits=Limits(concurrency=3))
    players = [open_openai(f"{name}@{stub.url}", table) for name in ("one", "two")]

    async def run() -> None:
        await asyncio.gather(*(player.answer(*asked[AskKind.SPEAK]) for player in players for _ in range(6)))
        for player in players:
            await player.close()

    asyncio.run(run())
    assert most == 3
    assert len(attempts) == 12
    assert {request.body["model"] for request in stub.requests} == {"one", "two"}


def test_a_player_goes_on_when_another_on_the_same_endpoint_closes(serve, stubs, asked) -> None:
    stub = serve(stubs.says(MESSAGE))
    table = PlayerContext(log=lambda attempt: None, game="mafia")
    one, two = (open_openai(f"{name}@{stub.url}", table) for name in ("one", "two"))

    async def run() -> str | None:
        await one.answer(*asked[AskKind.SPEAK])
        await one.close()
        reply = await two.answer(*asked[AskKind.SPEAK])
        await two.close()
        return reply.text

    assert asyncio.run(run()) == "I am a villager."


# Waiting


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Fri, 20 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 20 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "9999999999999 Nov 25:61:61 20 99999999999999999999"}, None),
        ({"x-ratelimit-reset": "4"}, 4.0),
        ({"x-ratelimit-reset": str(int(NOON.timestamp()) + 8)}, 8.0),
        ({"x-ratelimit-reset": str(int(NOON.timestamp() - 8) * 1000)}, 0.0),
    ],
)
def test_a_retry_header_is_read_in_each_of_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, "", NOON) == seconds


def test_waits_double_are_spread_and_have_a_bound(monkeypatch) -> None:
    monkeypatch.undo()
    for failures in range(1, 100):
        waits = [pause(failures) for _ in range(100)]
        longest = min(FIRST_WAIT * 2 ** (failures - 1), LONGEST_WAIT)
        assert longest / 2 <= min(waits) < max(waits) <= longest


@pytest.mark.parametrize(
    ("kind", "names"),
    [(AskKind.SELF_ASSESSMENT, {"confidence"}), (AskKind.PEER_ASSESSMENT, {"confidence", "suspicion"})],
)
def test_every_number_says_its_range_in_words_alone(kind, names) -> None:
    schema = response_format(Ask("g", 0, "Amy", kind, 1, Phase.DISCUSSION))["json_schema"]["schema"]
    assert schema["required"] == list(schema["properties"])
    numbers = {name: field for name, field in schema["properties"].items() if field["type"] == "number"}
    assert numbers.keys() == names
    for field in numbers.values():
        assert "0 to 1" in field["description"]
        assert "minimum" not in field
