"""A run goes on with the prompts that it began with, whatever the set of that name has become."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from liescope.common.errors import BudgetSpent, PlanChanged, RunPaused
from liescope.games.core import Ask
from liescope.generate.players import player_registry
from liescope.generate.players.player_protocol import PlayerContext
from liescope.generate.players.prompts import render
from liescope.generate.players.prompts.render import (
    Templates,
    load_prompts,
    read_template,
    read_templates,
    template_folder,
)
from liescope.generate.runs.fork import fork
from liescope.generate.runs.job import Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.play import play
from liescope.generate.runs.rating import label
from liescope.generate.runs.show_commands import prompt_of_call
from tests.generate.runs.fakes import FakeEndpoint, FakePlayer
from tests.generate.runs.people import play_with_people, table

SMALL = {"werewolf": {"villagers": 2, "werewolves": 1, "debate_turns": 1, "defence_turns": 1}, "mini-mafia": {}}


@pytest.fixture
def another_version(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From the call on, every template of the package says something else, also those that a set takes from another."""

    def change() -> None:
        monkeypatch.setattr(render, "read_template", lambda folder, name: f"NEW WORDS\n{read_template(folder, name)}")

    return change


def interrupted(game: str, out: Path, endpoint: FakeEndpoint, prompts: str = "full") -> None:
    """A run that stopped early."""

    def stop(ask: Ask) -> None:
        if len(endpoint.asked) > 12:
            raise BudgetSpent("enough")

    endpoint.before = stop
    result = play(game, out=out, players=["fake:a"], games=5, concurrency=1, prompts=prompts, **SMALL[game])
    assert isinstance(result.tally.stop, BudgetSpent)
    endpoint.before = lambda ask: None


@pytest.mark.parametrize("game", SMALL)
def test_the_same_command_goes_on_with_the_prompts_of_before(
    game: str, run: Path, endpoint: FakeEndpoint, another_version: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read_templates("full", game)
    given: list[Templates] = []

    def opened(name: str, context: PlayerContext) -> FakePlayer:
        assert isinstance(context.prompts, Templates)
        given.append(context.prompts)
        load_prompts(context.prompts, context.game)
        return FakePlayer(name, context, endpoint)

    monkeypatch.setitem(player_registry.PLAYERS, "fake", opened)
    interrupted(game, run, endpoint)
    another_version()
    with Journal.open(run) as journal:
        assert journal.plan["templates"] == first.hash != read_templates("full", game).hash
        before = {record.game_id for record in journal.records()}
    result = play(game, out=run, players=["fake:a"], games=5, **SMALL[game])
    assert result.tally.done == 5
    with Journal.open(run) as journal:
        after = [record.game_id for record in journal.records()]
        call = journal.calls(after[-1])[0]
        assert "NEW WORDS" not in prompt_of_call(journal, after[-1], call["step"], call["seat"]).data["prompt"]
    assert before <= set(after)
    assert len({game_id.partition("-")[0] for game_id in after}) == 1
    play(game, out=run.with_name("new"), players=["fake:a"], games=1, **SMALL[game])
    assert [one.sources == first.sources for one in given] == [True, True, False]


def test_a_judged_run_and_continuations_go_on_with_the_questions_of_before(
    run: Path, endpoint: FakeEndpoint, another_version: Callable[[], None]
) -> None:
    play("mini-mafia", out=run, players=["fake:a"], games=2)
    judged, forked = run.with_name("judged"), run.with_name("forked")
    label(run, "fake:judge", out=judged)
    fork(run, "0", 4, out=forked, times=1)
    another_version()
    assert label(run, "fake:judge", out=judged).tally.done == 2
    assert fork(run, "0", 4, out=forked, times=1).tally.done == 1
    with pytest.raises(PlanChanged, match="prompts"):
        label(run, "fake:judge", out=judged, prompts="minimal")


def test_a_table_goes_on_with_the_prompts_of_before_too(tmp_path: Path, another_version: Callable[[], None]) -> None:
    plan, out = table(), tmp_path / "run"
    first = Playing(plan, out).templates
    assert isinstance(play_with_people(plan, out, 1).stop, RunPaused)
    another_version()
    assert Playing(plan, out).templates.sources == first.sources
    assert Playing(plan, tmp_path / "other").templates.sources != first.sources


def test_a_run_with_prompts_of_ones_own_is_refused_when_these_change_and_goes_on_when_they_are_gone(
    run: Path, endpoint: FakeEndpoint
) -> None:
    folder = run.with_name("prompts")
    shutil.copytree(template_folder("minimal", "mini-mafia"), folder)
    interrupted("mini-mafia", run, endpoint, str(folder))
    (folder / "vote.jinja").write_text("Vote: {{ options }}", encoding="utf-8")
    with pytest.raises(PlanChanged, match="templates"):
        play("mini-mafia", out=run, players=["fake:a"], games=5, prompts=str(folder))
    shutil.rmtree(folder)
    assert play("mini-mafia", out=run, players=["fake:a"], games=5, prompts=str(folder)).tally.done == 5
