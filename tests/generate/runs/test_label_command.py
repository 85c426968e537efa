"""`liescope label`: a run judged after the fact, in a folder of its own."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from liescope import cli
from liescope.common.errors import BudgetSpent, PlayerFailed
from liescope.games.core import Ask, Event, EventKind
from liescope.games.record import GameRecord, Status
from liescope.generate.runs.journal import Journal
from liescope.labeling.beliefs import claims_made
from liescope.labeling.label import NOT_ASKED, label_game
from tests.generate.runs.fakes import FakeEndpoint, records

WOLVES = ["--villagers", "2", "--werewolves", "1", "--debate-turns", "1", "--defence-turns", "1"]


def say(*words: object) -> int:
    return cli.main([str(word) for word in words])


@pytest.fixture
def played(request: pytest.FixtureRequest, run: Path, endpoint: FakeEndpoint) -> Path:
    """Four games, of Mini-Mafia unless a test names another."""
    game = getattr(request, "param", "mini-mafia")
    table = WOLVES if game == "werewolf" else []
    design = ["--design", "self", "--player", "fake:a", "--games", 4]
    assert say("play", game, *design, *table, "--assess", "--out", run) == 0
    endpoint.asked.clear()
    return run


both_games = pytest.mark.parametrize("played", ["werewolf", "mini-mafia"], indirect=True)


@both_games
def test_every_seat_is_judged_and_the_labels_are_the_judges(played: Path, endpoint: FakeEndpoint) -> None:
    assert say("label", played, "--judge", "fake:judge") == 0
    judged = records(played.with_name("first-by-fake-judge"))
    assert len(judged) == 4
    for before, after in zip(records(played), judged, strict=True):
        assert (after.game_id, after.seats, after.outcome) == (before.game_id, before.seats, before.outcome)
        assert after.meta["judge"] == "judge"
        assert after.events[: len(before.events)] == before.events
        added = after.events[len(before.events) :]
        rated = [event for event in before.events if event.kind in (EventKind.RATING, EventKind.SELF_REPORT)]
        assert [(e.actor, e.about, e.kind) for e in added] == [(e.actor, e.about, e.kind) for e in rated]
    assert len(endpoint.asked) == len(set(endpoint.asked)) > 0


@both_games
def test_judging_that_broke_off_goes_on_as_if_it_had_not_and_asks_for_nothing_twice(
    played: Path, endpoint: FakeEndpoint
) -> None:
    before, folders = records(played), [played.with_name(name) for name in ("whole", "broken")]
    whole, broken = (("label", played, "--judge", "fake:judge", "--roles", "--out", folder) for folder in folders)
    assert say(*whole) == 0
    needed = len(endpoint.asked)
    endpoint.asked.clear()

    def stop(ask: Ask) -> None:
        if len(endpoint.asked) > needed // 3:
            raise BudgetSpent("enough for today")

    endpoint.before = stop
    assert say(*broken) == 1
    endpoint.before = lambda ask: None
    refused = len(endpoint.asked) - needed // 3
    for _ in range(2):
        assert say(*broken) == 0
        assert len(endpoint.asked) == needed + refused
    assert records(folders[1]) == records(folders[0])
    assert records(played) == before


def test_a_game_that_ends_late_is_judged_at_its_place_in_the_run(played: Path, endpoint: FakeEndpoint) -> None:
    """As after --retry-failed: the run's second game ends after all others were judged."""
    run = played.with_name("slow")
    with Journal.open(played) as whole, Journal.create(run, dict(whole.plan)) as slow:
        games = list(whole.records())
        for number, game in enumerate(games):
            if number != 1:
                slow.add_record(game, number)
    label = ["label", run, "--judge", "fake:judge", "--out", run.with_name("judged")]
    assert say(*label) == 0
    with Journal.open(run, write=True) as slow:
        slow.add_record(games[1], 1)
    asked = len(endpoint.asked)
    assert say(*label) == 0
    assert len(endpoint.asked) > asked
    assert [game.game_id for game in records(run.with_name("judged"))] == [game.game_id for game in games]


@pytest.mark.parametrize(
    ("words", "who", "folder"),
    [(("--judge", "fake:judge"), "judge", "first-by-fake-judge"), (("--beliefs",), "a", "first-beliefs")],
)
def test_only_unusable_replies_of_those_who_were_asked_afterwards_are_counted(
    words: tuple[str, ...],
    who: str,
    folder: str,
    played: Path,
    endpoint: FakeEndpoint,
    capsys: pytest.CaptureFixture[str],
) -> None:
    capsys.readouterr()
    assert say("label", played, *words, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    unusable = [e for game in records(played.with_name(folder)) for e in game.events if e.fallback]
    afterwards = sum("judge" in event.data for event in unusable)
    assert afterwards < len(unusable)
    assert said["fallbacks"] == ({who: afterwards} if afterwards else {})


def test_where_nobody_claimed_anything_nobody_is_asked_and_that_is_said(
    run: Path, endpoint: FakeEndpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert say("play", "mini-mafia", "--design", "self", "--player", "fake:a", "--games", 1, "--out", run) == 0
    with Journal.open(run) as whole, Journal.create(run.with_name("quiet"), dict(whole.plan)) as quiet:
        for number, game in enumerate(whole.records()):
            events = tuple(
                replace(event, text="Hm.") if event.kind is EventKind.STATEMENT else event for event in game.events
            )
            quiet.add_record(replace(game, events=events), number)
    endpoint.asked.clear()
    capsys.readouterr()
    assert say("label", run.with_name("quiet"), "--beliefs") == 0
    assert "0 replies" in capsys.readouterr().out
    assert not endpoint.asked


def test_a_judge_who_cannot_rate_leaves_nulls_with_their_reason(played: Path, endpoint: FakeEndpoint) -> None:
    first = records(played)[0].game_id

    def before(ask: Ask) -> None:
        if ask.game == first:
            raise PlayerFailed("it rejects the request (400): too long")

    endpoint.before = before
    assert say("label", played, "--judge", "fake:judge", "--out", played.with_name("judged")) == 0
    judged = records(played.with_name("judged"))
    assert [game.status for game in judged] == [Status.DONE] * 4
    added = judged[0].events[len(records(played)[0].events) :]
    assert added
    assert {event.fallback for event in added} == {"no answer: it rejects the request (400): too long"}


@pytest.mark.parametrize(
    ("words", "names"),
    [(["--judge", "fake:judge", "--share", "0"], "nothing to ask"), (["--claims-by", "scripted:bold"], "scripted")],
)
def test_what_cannot_be_judged_is_one_line(
    played: Path, words: list[str], names: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert say("label", played, *words) == 1
    assert names in capsys.readouterr().err


def test_another_judge_or_play_in_the_same_folder_is_refused(played: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = played.with_name("judged")
    assert say("label", played, "--judge", "fake:judge", "--out", folder) == 0
    capsys.readouterr()
    assert say("label", played, "--judge", "fake:other", "--out", folder) == 1
    assert "judge" in capsys.readouterr().err
    assert say("play", "mini-mafia", "--player", "fake:a", "--out", folder) == 1
    assert "does not hold a plan of played games" in capsys.readouterr().err
    copy = shutil.copytree(played, played.with_name("copy"))
    assert say("label", copy, "--judge", "fake:judge", "--out", played) == 1
    assert "does not hold a plan of rated games" in capsys.readouterr().err
    assert say("label", folder, "--judge", "fake:judge", "--out", played.with_name("twice")) == 1
    assert "holds rated games; give the run" in capsys.readouterr().err


def beliefs(run: Path) -> list[tuple[GameRecord, list[Event]]]:
    return [(game, [event for event in game.events if event.kind is EventKind.BELIEFS]) for game in records(run)]


@both_games
def test_each_speaker_is_asked_once_about_what_it_claimed_and_its_other_labels_stay(
    played: Path, endpoint: FakeEndpoint
) -> None:
    assert say("label", played, "--beliefs") == 0
    folder = played.with_name("first-beliefs")
    asked = len(endpoint.asked)
    assert asked == len(set(endpoint.asked)) > 0
    assert say("label", played, "--beliefs") == 0
    assert len(endpoint.asked) == asked
    labelled = 0
    for before, (after, added) in zip(records(played), beliefs(folder), strict=True):
        assert "judge" not in after.meta
        made = claims_made(before)
        assert [event.about for event in added] == list(made)
        assert all(event.data["judge"] == before.seat(event.actor or "").model for event in added)
        assert all(event.actor == before.events[event.about or 0].actor for event in added)
        rows = {row.statement_id: row for row in label_game(after).statements}
        for old in label_game(before).statements:
            new = rows[old.statement_id]
            labelled += new.label_belief is not None
            assert replace(new, label_belief=None, label_belief_null=NOT_ASKED) == old
    assert labelled > 0
