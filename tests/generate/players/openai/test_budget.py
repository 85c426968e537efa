"""A budget counts every answer, retries and earlier processes' too, and is looked at before each request."""

from __future__ import annotations

import pytest

from liescope.common.errors import BudgetSpent
from liescope.games.core import AskKind
from liescope.generate.players.openai.completion import TokenUsage
from liescope.generate.players.run_limits import Price

USAGE = {"prompt_tokens": 90, "completion_tokens": 10}


def test_a_spent_budget_of_tokens_stops_before_the_next_request(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says('"Hi."', usage=USAGE))
    one = desk(f"m@{stub.url}", max_tokens=250)
    with pytest.raises(BudgetSpent, match=r"budget of 250 in tokens is used up \(300 spent\)"):
        one.ask(*[asked[AskKind.SPEAK]] * 5)
    assert len(stub.requests) == len(one.attempts) == 3


def test_a_spent_budget_of_money_stops_before_the_next_request(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says('"Hi."', usage=USAGE))
    one = desk(f"m@{stub.url}", max_cost=0.0002, prices={"m": Price(1.0, 1.0)})
    with pytest.raises(BudgetSpent, match="in money"):
        one.ask(*[asked[AskKind.SPEAK]] * 5)
    assert len(stub.requests) == 2


def test_what_an_earlier_process_spent_counts(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says('"Hi."'))
    with pytest.raises(BudgetSpent):
        desk(f"m@{stub.url}", max_tokens=1000, spent_tokens=1000).ask(asked[AskKind.SPEAK])
    assert stub.requests == []


def test_answers_without_use_are_paid_for_too(serve, stubs, desk, asked) -> None:
    stub = serve(stubs.says("", usage=USAGE))
    with pytest.raises(BudgetSpent):
        desk(f"m@{stub.url}", max_tokens=150).ask(*[asked[AskKind.SPEAK]] * 3)
    assert len(stub.requests) == 2


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
