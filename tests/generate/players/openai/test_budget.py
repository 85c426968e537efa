"""A budget counts every answer, retries and earlier processes' too, and is looked at before each request."""

from __future__ import annotations

import pytest

from liescope.common.errors import BudgetSpent
from liescope.games.core import AskKind
from liescope.generate.players.openai.completion import TokenUsage
from liescope.generate.players.run_limits import Price

USAGE = {"prompt_tokens": 90, "completion_tokens": 10}


@pytest.mark.parametrize(
    ("limits", "said", "sent", "words"),
    [
        ({"max_tokens": 250}, '"Hi."', 3, r"budget of 250 in tokens is used up \(300 spent\)"),
        ({"max_cost": 0.0002, "prices": {"m": Price(1.0, 1.0)}}, '"Hi."', 2, "in money"),
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
    stub = serve(
        lambda request, number: setattr(one.player._endpoint._accounts.budget, "tokens", 100) or stubs.fails(500)
    )
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
