"""Requests that stall: a second one is sent, the first answer counts, and both are logged."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from liescope.games.core import AskKind
from liescope.generate.players.openai import patience
from liescope.generate.players.openai.endpoint import STALLED
from liescope.generate.players.openai.patience import KNOWN, LOST, SHORTEST, Stalls
from liescope.generate.players.openai.rate_limits import STRAY_ROW

MESSAGE = '"I am a villager."'


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few answers say enough, and half a second is long."""
    monkeypatch.setattr(patience, "KNOWN", 8)
    monkeypatch.setattr(patience, "SHORTEST", 0.3)
    monkeypatch.setattr(patience, "SHARE", 0.2)


def stalling(stubs, places, seconds: float = 30.0):
    """A script whose requests at these places take long; released when the test ends."""
    end = threading.Event()

    def script(request, number):
        if number in places:
            end.wait(seconds)
        return stubs.says(f'"I am request {number}."')

    return script, end


def test_the_answer_of_the_second_request_counts_if_it_comes_first_and_both_are_logged(
    serve, stubs, desk, asked
) -> None:
    script, end = stalling(stubs, {10})
    table = desk(f"tiny@{serve(script).url}", timeout=20.0)
    began = time.monotonic()
    replies = table.ask(*[asked[AskKind.SPEAK]] * 11)
    assert time.monotonic() - began < 10
    end.set()
    assert replies[10].text == "I am request 11."
    assert len(table.attempts) == 12
    lost, won = sorted(table.attempts[10:], key=lambda attempt: not attempt.problem)
    assert (lost.problem, lost.cost, lost.prompt_tokens) == (LOST, None, None)
    assert won.problem == ""
    assert table.table.activity.retries == {STALLED: 1}
    assert table.table.activity.under_way == 0


def test_the_first_request_may_still_win_and_the_second_is_logged_as_lost(serve, stubs, desk, asked) -> None:
    end = threading.Event()

    def script(request, number):
        if number == 10:
            time.sleep(0.8)
        if number == 11:
            end.wait(20)
        return stubs.says(f'"I am request {number}."')

    table = desk(f"tiny@{serve(script).url}", timeout=20.0)
    replies = table.ask(*[asked[AskKind.SPEAK]] * 11)
    end.set()
    assert replies[10].text == "I am request 10."
    assert sorted(attempt.problem for attempt in table.attempts[10:]) == ["", LOST]


def test_without_hedging_a_stalled_request_is_given_up_and_sent_again(serve, stubs, desk, asked) -> None:
    script, end = stalling(stubs, {10})
    table = desk(f"tiny@{serve(script).url}", timeout=20.0, hedge=False)
    replies = table.ask(*[asked[AskKind.SPEAK]] * 11)
    end.set()
    assert replies[10].text == "I am request 11."
    assert "nothing came within" in table.attempts[10].problem


def test_a_second_request_that_fails_leaves_it_to_the_first(serve, stubs, desk, asked) -> None:
    def script(request, number):
        if number == 10:
            time.sleep(0.8)
        return stubs.fails(500) if number == 11 else stubs.says(f'"I am request {number}."')

    table = desk(f"tiny@{serve(script).url}", timeout=20.0)
    assert table.ask(*[asked[AskKind.SPEAK]] * 11)[10].text == "I am request 10."
    assert len([attempt for attempt in table.attempts if attempt.problem]) == 1


def test_nothing_is_hedged_where_the_rate_is_limited(serve, stubs, desk, asked) -> None:
    def script(request, number):
        if 3 <= number < 3 + STRAY_ROW:
            return stubs.fails(429)
        if number == 11 + STRAY_ROW - 1:
            time.sleep(0.8)
        return stubs.says(MESSAGE)

    table = desk(f"tiny@{serve(script).url}", timeout=20.0)
    table.ask(*[asked[AskKind.SPEAK]] * 11)
    assert len(table.attempts) == 11 + STRAY_ROW


def test_only_what_takes_far_longer_than_almost_all_stalls_and_few_are_sent_twice(monkeypatch) -> None:
    monkeypatch.undo()
    stalls = Stalls()
    assert stalls.after("kind") is None
    for number in range(KNOWN):
        stalls.learn("kind", 20.0 if number % 50 == 0 else 2.0)
    after = stalls.after("kind")
    assert after is not None
    assert 60 <= after < 67  # three times what 99 of 100 take, to a tenth
    assert stalls.after("another kind") is None
    for _ in range(KNOWN):
        stalls.learn("quick", 0.01)
    assert stalls.after("quick") == SHORTEST
    for _ in range(1000):
        stalls.after("kind")
    assert sum(stalls.take() for _ in range(1000)) == 10


def test_the_run_ends_while_a_second_request_is_under_way(serve, stubs, desk, asked) -> None:
    script, end = stalling(stubs, {10, 11})
    table = desk(f"tiny@{serve(script).url}", timeout=20.0)

    async def run() -> None:
        for _ in range(10):
            await table.player.answer(*asked[AskKind.SPEAK])
        task = asyncio.create_task(table.player.answer(*asked[AskKind.SPEAK]))
        await asyncio.sleep(0.8)
        assert table.table.activity.under_way == 2
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0.05)
        await table.player.close()

    asyncio.run(run())
    end.set()
    assert table.table.activity.under_way == 0
