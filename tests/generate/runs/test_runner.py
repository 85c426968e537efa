"""The runner: every game of the plan, each reply once, whatever stops it and wherever."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from liescope.common.errors import (
    BadData,
    BudgetSpent,
    EndpointRefused,
    EndpointSilent,
    PlayerFailed,
    RunPaused,
    UnknownName,
    UsageError,
)
from liescope.games.core import ASSESSMENTS, Ask, AskKind, EventKind, Phase, Reply
from liescope.games.record import Status
from liescope.generate.players import player_registry
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_plan import Plan
from liescope.generate.runs.run_progress import RunProgress
from liescope.generate.runs.runner import FRUITLESS, Limits
from tests.generate.runs.fakes import FakeEndpoint, FakePlayer, play, records

MakePlan = Callable[..., Plan]


def run_job(plan: Plan, out: Path, limits: Limits | None = None, **options: bool) -> RunProgress:
    return asyncio.run(play(plan, out, limits or Limits(), **options))


def replies(run: Path) -> set[tuple[str, int, str]]:
    with Journal.open(run) as journal:
        games = journal.begun() | set(journal.game_ids())
        return {(game, *key) for game in games for key in journal.answers(game)}


def test_every_game_of_the_plan_is_played_by_the_players_of_its_cell(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint
) -> None:
    made = plan(games=4, assess=True)
    tally = run_job(made, run)
    kept = records(run)
    assert [game.game_id for game in kept] == [planned.game_id for planned in made.schedule()]
    for planned, game in zip(made.schedule(), kept, strict=True):
        models = {f"fake:{seat.model}" for role in made.roles for seat in game.by_role(role)}
        assert models == set(planned.cell)
        for role, spec in zip(made.roles, planned.cell, strict=True):
            assert {f"fake:{seat.model}" for seat in game.by_role(role)} == {spec}
    assert (tally.planned, tally.done, tally.failed, tally.before) == (32, 32, 0, 0)
    assert tally.winners.total() == 32
    fallbacks = [(game, event) for game in kept for event in game.events if event.fallback and event.actor]
    assert tally.fallbacks == Counter(game.seat(event.actor).model for game, event in fallbacks)
    assert set(tally.fallbacks) == {"a", "b"}
    assert tally.calls == len(endpoint.asked) == len(set(endpoint.asked))
    assert (tally.tokens, tally.cost) == (15 * tally.calls, 0.25 * tally.calls)
    assert endpoint.closed == 2


def test_how_many_games_are_under_way_changes_nothing_in_them(
    plan: MakePlan, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    made = plan(assess=True)
    runs = [tmp_path / str(number) for number in (1, 7, 100)]
    for run, number in zip(runs, (1, 7, 100), strict=True):
        run_job(made, run, Limits(concurrency=number))
    assert records(runs[0]) == records(runs[1]) == records(runs[2])


def test_a_batchs_asks_are_answered_together_and_many_games_at_once(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint
) -> None:
    run_job(plan(games=8, players=("fake:a",)), run, Limits(concurrency=1))
    assert endpoint.most_at_once == 3  # the three blind votes
    run_job(plan(games=8, players=("fake:a",)), run.with_name("second"), Limits(concurrency=8))
    assert endpoint.most_at_once >= 8


def test_the_same_command_after_the_end_asks_nothing_and_tells_the_same(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint
) -> None:
    first = run_job(plan(), run)
    asked = len(endpoint.asked)
    second = run_job(plan(), run)
    assert len(endpoint.asked) == asked
    assert (second.done, second.winners, second.fallbacks) == (first.done, first.winners, first.fallbacks)
    assert (second.tokens, second.cost, second.before, second.calls) == (first.tokens, first.cost, 24, 0)


@pytest.mark.parametrize(
    ("error", "after"),
    [
        *((KeyboardInterrupt(), after) for after in (0, 40, 200)),
        (EndpointRefused("bad key"), 50),
        (EndpointSilent("nothing for 30 m"), 50),
        (BudgetSpent("100 requests are used up"), 100),
    ],
    ids=repr,
)
def test_a_run_that_stops_anywhere_fails_no_game_goes_on_and_asks_for_nothing_twice(
    error: BaseException, after: int, plan: MakePlan, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    made = plan(assess=True, players=("fake:a",), games=10)
    run_job(made, tmp_path / "whole")
    endpoint.asked.clear()

    def stop(ask: Ask) -> None:
        if len(endpoint.asked) > after:
            raise error

    endpoint.before = stop
    if isinstance(error, RunPaused):
        tally = run_job(made, tmp_path / "broken", Limits(concurrency=5))
        assert (tally.stop, tally.failed) == (error, 0)
    else:
        with pytest.raises(KeyboardInterrupt):
            run_job(made, tmp_path / "broken", Limits(concurrency=5))
    kept = replies(tmp_path / "broken")
    assert len(kept) <= after + 1
    endpoint.before = lambda ask: None
    endpoint.asked.clear()
    tally = run_job(made, tmp_path / "broken")
    assert tally.stop is None
    assert records(tmp_path / "broken") == records(tmp_path / "whole")
    assert kept.isdisjoint(endpoint.asked)
    assert len(kept) + tally.calls == len(replies(tmp_path / "whole"))


def test_of_a_half_answered_batch_only_the_missing_seats_are_asked(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint
) -> None:
    made = plan(games=1, players=("fake:a",))
    votes: list[str] = []

    def second_voter_fails(ask: Ask) -> None:
        if ask.kind is AskKind.VOTE:
            votes.append(ask.seat)
            if ask.seat == votes[min(1, len(votes) - 1)] and len(votes) > 1:
                raise PlayerFailed("the line is dead")

    endpoint.before = second_voter_fails
    tally = run_job(made, run)
    assert (tally.done, tally.failed) == (0, 1)
    assert votes[3:] == [votes[1]]  # taken up again at the end of the run, with nothing asked twice
    endpoint.before = lambda ask: None
    endpoint.asked.clear()
    assert run_job(made, run).failed == 1  # a failed game is left alone until somebody asks for it
    assert endpoint.asked == []
    tally = run_job(made, run, retry_failed=True)
    assert (tally.done, tally.failed) == (1, 0)
    assert [(step, seat) for _, step, seat in endpoint.asked] == [(6, votes[1])]


def test_a_player_that_fails_costs_its_games_and_no_others(plan: MakePlan, run: Path, endpoint: FakeEndpoint) -> None:
    def fail(ask: Ask) -> None:
        if ask.game.endswith("3"):
            raise PlayerFailed("401, check OPENAI_API_KEY")

    endpoint.before = fail
    tally = run_job(plan(games=3), run)
    failed = [game for game in records(run) if game.status is Status.FAILED]
    assert [game.game_id[-1] for game in failed] == ["3", "3", "3"]
    assert all("401" in game.failure and game.outcome is None for game in failed)
    assert (tally.done, tally.failed) == (21, 3)
    assert tally.failures.total() == 3


def test_an_exception_in_a_player_fails_its_game_and_shows_no_key(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVICE_KEY", "very-secret-9731")
    shaped = "sk-abc123def456ghi789jkl012"  # of a key that no variable holds

    def fail(ask: Ask) -> None:
        if ask.game.endswith("1"):
            raise ConnectionError(f"401 for very-secret-9731 and {shaped}")

    endpoint.before = fail
    tally = run_job(plan(games=1), run)
    assert (tally.done, tally.failed) == (7, 1)
    (failed,) = [game for game in records(run) if game.status is Status.FAILED]
    assert "ConnectionError: 401 for [key] and [key]" in failed.failure
    assert not any(secret in path.read_bytes() for path in run.iterdir() for secret in (b"9731", shaped.encode()))


def test_a_failed_game_is_taken_up_again_at_the_end_of_the_same_run(
    plan: MakePlan, tmp_path: Path, endpoint: FakeEndpoint
) -> None:
    """What failed a game may have passed by then; the result is that of a run in which nothing failed."""
    made = plan(games=3, assess=True)
    run_job(made, tmp_path / "whole")
    endpoint.asked.clear()
    failed: set[str] = set()

    def fail_once(ask: Ask) -> None:
        if ask.game.endswith(("3", "7")) and ask.kind is AskKind.SPEAK and ask.game not in failed:
            failed.add(ask.game)
            raise PlayerFailed("413, too large")

    endpoint.before = fail_once
    tally = run_job(made, tmp_path / "run")
    assert (tally.done, tally.failed, len(failed)) == (24, 0, 5)
    assert tally.failures == Counter()
    assert records(tmp_path / "run") == records(tmp_path / "whole")


def test_a_rating_that_cannot_be_had_is_a_null_with_its_reason_and_ends_no_game(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint
) -> None:
    def fail(ask: Ask) -> None:
        if ask.kind is AskKind.PEER_ASSESSMENT and ask.seat == "Alice":
            raise PlayerFailed("it rejects the request (400): too long")

    endpoint.before = fail
    tally = run_job(plan(games=2, assess=True), run)
    assert (tally.done, tally.failed) == (16, 0)
    ratings = [event for game in records(run) for event in game.events if event.kind is EventKind.RATING]
    hers = [event for event in ratings if event.actor == "Alice"]
    assert len(hers) == tally.unrated > 0
    assert {event.fallback for event in hers} == {"no answer: it rejects the request (400): too long"}
    assert not any("assessment" in event.data for event in hers)
    assert not any(event.fallback.startswith("no answer") for event in ratings if event.actor != "Alice")


@pytest.mark.parametrize("kinds", [frozenset(AskKind), ASSESSMENTS], ids=["every ask", "every rating"])
def test_when_nothing_can_be_had_the_run_stops_and_says_so(
    kinds: Collection[AskKind], plan: MakePlan, run: Path, endpoint: FakeEndpoint
) -> None:
    def fail(ask: Ask) -> None:
        if ask.kind in kinds:
            raise PlayerFailed("connection refused")

    endpoint.before = fail
    tally = run_job(plan(games=1000, assess=True), run, Limits(concurrency=1))
    assert isinstance(tally.stop, UsageError)
    assert "connection refused" in str(tally.stop)
    assert FRUITLESS <= tally.failed + tally.unrated < FRUITLESS + 10


def test_the_budget_counts_what_earlier_processes_spent(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent: list[tuple[int, float]] = []

    def open_fake(name: str, table: object) -> FakePlayer:
        spent.append((table.spent_tokens, table.spent_cost))
        return FakePlayer(name, table, endpoint)

    monkeypatch.setitem(player_registry.PLAYERS, "fake", open_fake)
    made = plan(players=("fake:a",))
    tally = run_job(made, run)
    run_job(made, run)
    assert spent == [(0, 0.0), (tally.tokens, tally.cost)]


def test_nothing_is_written_before_every_player_is_open(plan: MakePlan, run: Path, endpoint: FakeEndpoint) -> None:
    with pytest.raises(UnknownName):
        run_job(plan(players=("fake:a", "nobody:b")), run)
    assert not run.exists()
    assert endpoint.closed == 1


def test_players_that_tables_could_not_tell_apart_are_refused(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(player_registry.PLAYERS, "twin", player_registry.PLAYERS["fake"])
    with pytest.raises(UsageError, match="fake:a and twin:a"):
        run_job(plan(players=("fake:a", "twin:a")), run)
    assert not run.exists()


def test_replies_that_these_rules_never_ask_for_are_told_not_dropped(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint
) -> None:
    made = plan(games=1, players=("fake:a",))
    stray = Ask(made.game_id(0), 3, "Nobody", AskKind.SPEAK, 1, Phase.DISCUSSION)
    with Journal.create(run, made.to_json()) as journal:
        journal.log_reply(stray, "a", Reply(text="Boo."))
    with pytest.raises(BadData, match=r"another version of Liescope began it"):
        run_job(made, run)


def test_an_error_that_is_no_players_failure_ends_the_run_and_keeps_what_came_in(
    plan: MakePlan, run: Path, endpoint: FakeEndpoint
) -> None:
    made = plan(games=1, players=("fake:a",))

    def spoil(ask: Ask) -> None:
        if ask.step == 2:
            raise BadData("spoilt")

    endpoint.before = spoil
    with pytest.raises(BadData, match="spoilt"):
        run_job(made, run)
    with Journal.open(run) as journal:
        assert {step for step, _ in journal.answers(made.game_id(0))} == {0, 1}
        assert journal.counts() == {}
