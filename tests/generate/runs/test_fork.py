"""Continuations of a moment: the same past, then other words or another player; an ordinary run in every other way."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import liescope
from liescope import cli
from liescope.common.errors import BadData, BudgetSpent, PlanChanged, UnknownName, UsageError
from liescope.games.core import Ask, AskKind
from liescope.games.game_registry import GAMES
from liescope.games.record import GameRecord
from liescope.generate.runs.fork import Endings, effects
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.moment import ForkPlan, answered, rebuild
from liescope.generate.runs.show_commands import prompt_of_call
from tests.generate.runs.fakes import FakeEndpoint, records

TABLES: dict[str, dict[str, Any]] = {
    "mini-mafia": {"assess": True},
    "werewolf": {"assess": True, "assess_share": 0.5, "debate_turns": 2, "defence_turns": 1, "villagers": 4},
}


def steps(run: Path, game: str, kind: AskKind) -> list[tuple[int, str]]:
    with Journal.open(run) as journal:
        return [(call["step"], call["seat"]) for call in journal.calls(game) if call["kind"] == kind]


@pytest.fixture(params=list(GAMES))
def first(request: pytest.FixtureRequest, run: Path) -> GameRecord:
    """A recorded game of each kind in which somebody speaks."""
    liescope.play(request.param, players=["scripted:bold"], games=4, out=run, **TABLES.get(request.param, {}))
    return next(game for game in records(run) if steps(run, game.game_id, AskKind.SPEAK))


@pytest.fixture
def game(run: Path, endpoint: FakeEndpoint) -> GameRecord:
    """A recorded Mini-Mafia game of players a and b."""
    liescope.play("mini-mafia", players=["fake:a", "fake:b"], games=1, assess=True, out=run)
    endpoint.asked.clear()
    return records(run)[3]


def replayed(run: Path) -> list[GameRecord]:
    """The records of continuations, whose replies make the same events again."""
    with Journal.open(run) as journal:
        found = list(journal.records())
        for one in found:
            session = rebuild(journal, one.game_id)
            answered(journal, one.game_id, session, 1000)
            assert tuple(session.events) == one.events
            assert session.outcome == one.outcome
    return found


def test_the_past_is_the_recorded_one_the_future_is_not_and_groups_are_paired_by_their_draws(
    run: Path, first: GameRecord, tmp_path: Path
) -> None:
    spoken = steps(run, first.game_id, AskKind.SPEAK)
    step, seat = spoken[len(spoken) // 2]
    # The same words but for a space at the end, which the rules take away.
    words: dict[str, Any] = {"say": ["I wonder.", "I wonder. "], "times": 3, "players": ["scripted:novice"]}
    result = liescope.fork(run, first.game_id, step, out=tmp_path / "fork", **words)
    with Journal.open(tmp_path / "fork") as journal:
        read = ForkPlan.parse(journal.plan, tmp_path)
    planned = [read.planned(number) for number in range(len(read))]
    assert [one.seed for one in planned[::2]] == [one.seed for one in planned[1::2]]
    assert len({one.seed for one in planned}) == 3
    assert [one.group.label for one in planned[:2]] == ['"I wonder."', '"I wonder." (2)']
    found = replayed(tmp_path / "fork")
    assert len(found) == 6 == result.tally.done
    for number, one in enumerate(found):
        fork = one.meta["fork"]
        assert one.events[: fork["events"]] == first.events[: fork["events"]]
        assert (fork["game"], fork["root"], fork["run"]) == (first.game_id, first.game_id, run.name)
        assert (fork["step"], fork["seat"], fork["number"]) == (step, seat, number // 2)
        assert [(s.name, s.role) for s in one.seats] == [(s.name, s.role) for s in first.seats]
        assert {s.name: s.model for s in one.seats} == {
            s.name: "scripted:novice" if s.name == seat else "scripted:bold" for s in one.seats
        }
    assert len({repr(one.events) for one in found}) > 1
    assert len({one.game_id for one in found}) == 6


def test_resuming_gives_what_an_undisturbed_run_gives(
    run: Path, game: GameRecord, endpoint: FakeEndpoint, tmp_path: Path
) -> None:
    (step, _), *_ = steps(run, game.game_id, AskKind.SPEAK)
    words: dict[str, Any] = {"players": ["fake:b"], "times": 4, "say": ["Yes.", "No."]}
    liescope.fork(run, game.game_id, step, out=tmp_path / "whole", **words)
    asked = Counter(endpoint.asked)
    endpoint.asked.clear()

    def stop(ask: Ask) -> None:
        if len(endpoint.asked) == 40:
            raise BudgetSpent("enough")

    endpoint.before = stop
    first = liescope.fork(run, game.game_id, step, out=tmp_path / "again", **words)
    assert not first.complete
    endpoint.before = lambda ask: None
    second = liescope.fork(run, game.game_id, step, out=tmp_path / "again", **words)
    assert second.complete
    assert records(tmp_path / "again") == records(tmp_path / "whole")
    twice = [ask for ask, count in Counter(endpoint.asked).items() if count > asked[ask]]
    assert len(twice) <= 1  # the one that was refused
    assert second.effects.equals(liescope.fork(run, game.game_id, step, out=tmp_path / "whole", **words).effects)
    with pytest.raises(PlanChanged, match="times 4 -> 5"):
        liescope.fork(run, game.game_id, step, out=tmp_path / "again", **(words | {"times": 5}))


def test_a_continuation_can_be_continued(run: Path, game: GameRecord, tmp_path: Path) -> None:
    (step, _), *_, (later, _) = steps(run, game.game_id, AskKind.SPEAK)
    one, two = tmp_path / "one", tmp_path / "two"
    liescope.fork(run, game.game_id, step, say=["First."], times=2, out=one)
    parent = records(one)[1]
    liescope.fork(one, "1", later, say=["Second."], times=2, out=two)
    shutil.rmtree(run)
    shutil.rmtree(one)
    for child in replayed(two):
        fork = child.meta["fork"]
        assert (fork["game"], fork["root"]) == (parent.game_id, game.game_id)
        assert child.events[: fork["events"]] == parent.events[: fork["events"]]
        assert {seat.name: seat.model for seat in child.seats} == {seat.name: seat.model for seat in parent.seats}
    with Journal.open(two) as journal:
        prompt = prompt_of_call(journal, child.game_id, *next(iter(journal.answers(child.game_id)))).data["prompt"]
    assert "First." in prompt
    assert "Second." in prompt


def test_others_can_be_played_by_anybody(run: Path, game: GameRecord, tmp_path: Path) -> None:
    step = steps(run, game.game_id, AskKind.VOTE)[0][0]
    voter = steps(run, game.game_id, AskKind.VOTE)[0][1]
    result = liescope.fork(run, game.game_id, step, seat=voter, others="scripted:bold", times=2, out=tmp_path / "fork")
    for one in records(tmp_path / "fork"):
        own = game.seat(voter).model
        assert {s.name: s.model for s in one.seats} == {
            s.name: own if s.name == voter else "scripted:bold" for s in one.seats
        }
        assert {s.source.value for s in one.seats} == {"scripted", "model"}
    assert result.effects["games"].to_list() == [2, 2]


@pytest.mark.parametrize(
    ("step", "options", "error", "words"),
    [
        (99, {}, UsageError, "is over after step"),
        (1, {}, UsageError, "seats are asked at once .* name one with --seat"),
        (1, {"seat": "Zoe"}, UnknownName, "unknown seat 'Zoe'"),
        (1, {"seat": "Alice", "say": ["x"]}, UsageError, "--say needs a step at which Alice alone speaks"),
        (0, {"players": ["scripted:bald"]}, UnknownName, "unknown scripted player"),
    ],
)
def test_a_moment_that_cannot_be_played_on_is_refused(
    run: Path, game: GameRecord, tmp_path: Path, step: int, options: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        liescope.fork(run, game.game_id, step, out=tmp_path / "fork", **options)
    assert not (tmp_path / "fork").exists()


def test_runs_that_were_not_played_here_and_other_folders_are_refused(
    run: Path, game: GameRecord, tmp_path: Path
) -> None:
    judged = liescope.label(run, "scripted:bold", roles=True).folder
    with pytest.raises(BadData, match="not played here"):
        liescope.fork(judged, game.game_id, 0)
    with pytest.raises(UsageError, match="a folder of their own"):
        liescope.fork(run, game.game_id, 0, out=run)
    with pytest.raises(BadData, match="does not hold a plan of continuations"):
        liescope.fork(run, game.game_id, 0, out=judged)
    with pytest.raises(BadData, match="not hold a plan of played games"):
        liescope.play("mini-mafia", out=liescope.fork(run, game.game_id, 0, times=1, out=tmp_path / "f").folder)


def test_a_damaged_moment_or_plan_is_an_error_and_no_game(run: Path, game: GameRecord, tmp_path: Path) -> None:
    out = liescope.fork(run, game.game_id, 0, times=1, out=tmp_path / "fork").folder
    plan_file = out / "run.json"
    head = json.loads(plan_file.read_text(encoding="utf-8"))
    for change in ({"moment": "0" * 16}, {"groups": []}, {"times": -1}, {"step": "x"}, {"others": 7}):
        plan_file.write_text(json.dumps(head | {"plan": head["plan"] | change}), encoding="utf-8")
        with Journal.open(out) as journal, pytest.raises(BadData):
            rebuild(journal, journal.game_ids()[0])
    plan_file.write_text(json.dumps(head), encoding="utf-8")
    with Journal.open(out) as journal:
        rebuild(journal, journal.game_ids()[0])


def test_effects_compare_groups_in_pairs() -> None:
    halves = {number: float(number % 2) for number in range(10)}
    found: Endings = {("lie", "won"): halves, ("lie", "votes"): dict.fromkeys(range(10), 0.5)}
    found |= {("truth", "won"): dict.fromkeys(range(1, 10), 1.0), ("truth", "votes"): dict.fromkeys(range(1, 10), 0.25)}
    won, votes, won_too, votes_too = effects(["lie", "truth"], found).rows()
    assert won[:4] == ("lie", "won", 10, 0.5)
    assert won[6:] == (None,) * 4
    assert won[4:6] == pytest.approx((0.2366, 0.7634), abs=1e-3)  # Wilson's interval of 5 in 10
    assert won_too[6:8] == (9, pytest.approx(4 / 9))
    assert won_too[8] < 4 / 9 < won_too[9]
    assert votes_too[7] == -0.25
    assert votes_too[8] < -0.25 < 0 < votes_too[9]  # nine pairs that agree leave open what a tenth would do
    assert votes[3] == 0.5
    assert 0.35 < votes[4] < 0.5 < votes[5] < 0.65
    assert effects(["none"], {}).row(0) == ("none", "won", 0, None, None, None, None, None, None, None)


def test_the_command_prints_the_comparison_and_its_run_is_like_any_other(
    run: Path, game: GameRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fork", str(run), game.game_id, "0", "--times", "3", "--say", "Hello.", "--say", "Good-bye " * 30]
    assert cli.main(words) == 0
    printed = capsys.readouterr().out
    assert all(len(line) <= 80 for line in printed.splitlines() if run.name not in line)
    assert '1: "Hello."' in printed
    folder = run.with_name(f"{run.name}-fork-3-0")
    assert cli.main(["fork", "--config", str(folder / "run.toml"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["games"]["done"], data["games"]["before"], len(data["effects"])) == (6, 6, 4)
    for command in (["show", folder], ["show", folder, "0"], ["show", folder, "0", "--calls"], ["status", folder]):
        assert cli.main(list(map(str, command))) == 0
    assert cli.main(["label", str(folder), "--judge", "scripted:bold", "--share", "0.2"]) == 0
