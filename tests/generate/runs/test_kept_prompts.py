"""A run goes on with the prompts that it began with, whatever the set of that name has become."""

from __future__ import annotations

from pathlib import Path

import pytest

from liescope.common.errors import BudgetSpent, LiescopeError, PlanChanged, PlayerFailed
from liescope.games.core import Ask
from liescope.generate.players import registry
from liescope.generate.players.prompts import load_prompts
from liescope.generate.players.prompts.render import HERE, hash_templates
from liescope.generate.players.protocol import PlayerContext
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.label import label
from liescope.generate.runs.play import play
from tests.generate.runs.fakes import FakeEndpoint, FakePlayer

FIRST = {"mini-mafia": ("mafia", "91c5298031452053"), "werewolf": ("werewolf", "a2293cd6121a3cc6")}
SMALL = {"werewolf": {"villagers": 2, "werewolves": 1, "debate_turns": 1, "defence_turns": 1}, "mini-mafia": {}}


def interrupted(game: str, out: Path, endpoint: FakeEndpoint) -> None:
    """A run that began with the first version of the prompts and stopped early."""

    def stop(ask: Ask) -> None:
        if len(endpoint.asked) > 12:
            raise BudgetSpent("enough")

    endpoint.before = stop
    version = f"full@{FIRST[game][1]}"
    result = play(game, out=out, players=["fake:a"], games=5, concurrency=1, prompts=version, **SMALL[game])
    assert isinstance(result.tally.stop, BudgetSpent)
    endpoint.before = lambda ask: None


@pytest.mark.parametrize("game", FIRST)
def test_the_same_command_goes_on_with_the_prompts_of_before(game: str, run: Path, endpoint: FakeEndpoint) -> None:
    interrupted(game, run, endpoint)
    with Journal.open(run) as journal:
        assert journal.plan["templates"] == FIRST[game][1] != hash_templates("full", game)
        assert journal.plan["prompts"] == "full"
        before = {record.game_id for record in journal.records()}
    result = play(game, out=run, players=["fake:a"], games=5, **SMALL[game])
    assert result.tally.done == 5
    with Journal.open(run) as journal:
        after = [record.game_id for record in journal.records()]
    assert before <= set(after)
    assert len({game_id.partition("-")[0] for game_id in after}) == 1


def test_the_players_of_such_a_run_render_the_prompts_of_before(
    run: Path, endpoint: FakeEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted("werewolf", run, endpoint)
    given: list[str] = []

    def opened(name: str, context: PlayerContext) -> FakePlayer:
        given.append(str(context.prompts))
        load_prompts(context.prompts, context.game)
        return FakePlayer(name, context, endpoint)

    monkeypatch.setitem(registry.PLAYERS, "fake", opened)
    play("werewolf", out=run, players=["fake:a"], games=5, **SMALL["werewolf"])
    play("werewolf", out=run.with_name("new"), players=["fake:a"], games=1, **SMALL["werewolf"])
    assert given == [f"full@{FIRST['werewolf'][1]}", "full"]


def test_a_judged_run_goes_on_with_the_questions_of_before(run: Path, endpoint: FakeEndpoint) -> None:
    play("mini-mafia", out=run, players=["fake:a"], games=2)
    judged = run.with_name("judged")
    label(run, "fake:judge", out=judged, prompts=f"full@{FIRST['mini-mafia'][1]}")
    assert label(run, "fake:judge", out=judged).tally.done == 2
    with pytest.raises(PlanChanged, match="templates"):
        label(run, "fake:judge", out=judged, prompts="minimal")


def test_a_run_with_prompts_of_ones_own_is_still_refused_when_these_change(run: Path, endpoint: FakeEndpoint) -> None:
    folder = run.with_name("prompts")
    folder.mkdir(parents=True)
    for file in (HERE / "mafia" / "minimal").iterdir():
        (folder / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    play("mini-mafia", out=run, players=["fake:a"], games=1, prompts=str(folder))
    (folder / "vote.jinja").write_text("Vote: {{ options }}", encoding="utf-8")
    with pytest.raises(PlanChanged, match="templates"):
        play("mini-mafia", out=run, players=["fake:a"], games=1, prompts=str(folder))


def test_a_template_that_fails_in_one_game_costs_that_game_alone(run: Path, endpoint: FakeEndpoint) -> None:
    """A failed prompt is the player's failure, which the runner records and leaves behind."""
    assert issubclass(PlayerFailed, LiescopeError)
    first: list[str] = []

    def fail_in_the_first_game(ask) -> None:
        first.append(ask.game)
        if ask.game == first[0]:
            raise PlayerFailed("the prompt template vote.jinja fails in this game: division by zero")

    endpoint.before = fail_in_the_first_game
    tally = play("mini-mafia", out=run, players=["fake:a"], games=3, concurrency=1).tally
    assert (tally.done, tally.failed) == (2, 1)
