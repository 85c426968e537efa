"""What a player costs has an end: a budget counts every answer, and a response is read up to a size."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from liescope.common.errors import BudgetSpent, EndpointSilent
from liescope.games.core import AskKind
from liescope.generate.players.openai.client import LARGEST
from liescope.generate.players.run_limits import Price, TokenUsage

USAGE = {"prompt_tokens": 90, "completion_tokens": 10}


@pytest.mark.parametrize(
    ("limits", "said", "sent", "words"),
    [
        ({"max_tokens": 250}, '"Hi."', 3, r"budget of 250 in tokens is used up \(300 spent\)"),
        ({"max_cost": 0.0002, "price": ("m=1,1",)}, '"Hi."', 2, "in money"),
        ({"max_tokens": 150}, "", 2, "in tokens"),  # answers without use are paid for too
        ({"max_tokens": 1000, "spent_tokens": 1000}, '"Hi."', 0, "in tokens"),  # by an earlier process
    ],
)
def test_a_spent_budget_stops_before_the_next_request(serve, stubs, desk, asked, limits, said, sent, words) -> None:
    stub = serve(stubs.says(said, usage=USAGE))
    one = desk(f"m@{stub.url}", **limits)
    with pytest.raises(BudgetSpent, match=words):
        one.ask(*[asked[AskKind.SPEAK]] * 5)
    assert len(stub.requests) == len(one.attempts) == sent


def test_a_retry_is_not_made_when_the_budget_went_meanwhile(serve, stubs, desk, asked) -> None:
    stub = serve(lambda request, number: setattr(one.context.budget, "tokens", 100) or stubs.fails(500))
    one = desk(f"m@{stub.url}", max_tokens=100)
    with pytest.raises(BudgetSpent):
        one.ask(asked[AskKind.SPEAK])
    assert len(stub.requests) == 1


def test_an_endpoint_that_counts_nothing_cannot_outrun_the_budget(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says('"Hi."', usage={}))
    one = desk(f"m@{stub.url}", max_tokens=1500)
    with pytest.raises(BudgetSpent):
        one.ask(*[asked[AskKind.SPEAK]] * 10)
    assert 1 <= len(stub.requests) < 10
    assert one.attempts[0].prompt_tokens is None


def test_cached_tokens_have_their_own_price_where_there_is_one() -> None:
    usage = TokenUsage(prompt=1_000_000, cached=400_000, completion=100_000)
    assert usage.cost(Price(2.0, 10.0, 0.5)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 1.0)
    assert usage.cost(Price(2.0, 10.0)) == pytest.approx(3.0)
    assert usage.cost(None) is None
    assert TokenUsage(prompt=5).cost(Price(1, 1)) is None


MESSAGE = '"I am a villager."'


@pytest.mark.parametrize("packed", [False, True])
def test_a_response_that_is_too_large_is_dropped_counted_and_asked_for_again(
    serve, stubs, desk, asked, packed: bool
) -> None:
    bodies = (stubs.says(f'"{"a" * LARGEST}"').body, stubs.says(MESSAGE).body)
    one = desk(f"tiny@{serve(*(stubs.Answer(body, packed=packed) for body in bodies)).url}")
    (reply,) = one.ask(asked[AskKind.SPEAK])
    assert reply.text == "I am a villager."
    assert [attempt.problem for attempt in one.attempts] == ["the response is larger than 4 MiB", ""]
    assert one.attempts[0].raw == ""


@pytest.mark.parametrize("status", [200, 500])
def test_a_response_without_end_is_left_at_the_bound_whatever_its_status(
    serve, stubs, desk, asked, status: int
) -> None:
    head = f"HTTP/1.1 {status} Stub\r\nContent-Length: {10**12}\r\n\r\n".encode()
    one = desk(f"tiny@{serve(stubs.Answer(raw=head + b'a' * 2 * LARGEST), stubs.says(MESSAGE)).url}")
    one.ask(asked[AskKind.SPEAK])
    assert [attempt.problem for attempt in one.attempts] == ["the response is larger than 4 MiB", ""]


@pytest.mark.parametrize("headers", [{"X-Long": "a" * 100_000}, {f"X-{n}": "b" * 1000 for n in range(300)}])
def test_headers_without_end_are_a_counted_problem(serve, stubs, desk, asked, headers) -> None:
    stub = serve(stubs.Answer(stubs.says(MESSAGE).body, headers=headers), stubs.says(MESSAGE))
    one = desk(f"tiny@{stub.url}")
    one.ask(asked[AskKind.SPEAK])
    assert [bool(attempt.problem) for attempt in one.attempts] == [True, False]


def test_a_small_response_that_unpacks_to_gigabytes_costs_a_few_megabytes(serve, stubs, desk, asked) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    begin, block = (packer.compress(b"a" * 2**20) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    bomb = begin + block * 2400
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    one = desk(f"m@{serve(stubs.Answer(raw=head + bomb)).url}", give_up_after=0.2)
    tracemalloc.start()
    try:
        with pytest.raises(EndpointSilent):
            one.ask(asked[AskKind.SPEAK])
        grown = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(bomb) < 3_000_000
    assert grown < 100_000_000
    assert one.attempts[0].problem == "the response is larger than 4 MiB"
