"""Games in TextArena are those of a plain table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
import textarena as ta

import liescope
from liescope.common.errors import UsageError
from liescope.faces.textarena import GameEnv
from liescope.games.game_registry import PROMPTS
from liescope.live_table import Table
from tests.front.test_environment import policy


def played(env: Any, **reset: Any) -> tuple[dict[int, int], dict[int, dict[str, Any]], Table]:
    """The loop that TextArena's own examples have."""
    env.reset(**reset)
    told: dict[int, str] = {}
    done = False
    while not done:
        player, observation = env.get_observation()
        table = env.table
        assert observation.startswith(told.get(player, ""))
        assert table.whole_prompt().splitlines()[-1] in observation
        assert table.ask.seat == env.state.role_mapping[player]
        told[player] = observation
        done, info = env.step(action=policy(table.ask))
        assert info == {}
    return *env.close(), table


@pytest.mark.parametrize("game", sorted(PROMPTS))
def test_a_game_is_that_of_a_plain_table(game: str) -> None:
    plan: dict[str, Any] = {"players": ["agent:player"], "seed": 5, "games": 1}
    with liescope.environment(game, **plan) as table:
        while table.ask is not None:
            table.answer(policy(table.ask))
        earned, roles = table.rewards(), table.seats
    rewards, facts, face = played(ta.make(f"liescope/{game}"), num_players=len(roles), seed=5)
    assert face.record == table.record
    for number, (name, reward) in enumerate(earned.items()):
        assert rewards[number] == (1 if reward.outcome else -1)
        assert facts[number]["role"] == roles[name]
        assert asdict(reward).items() <= facts[number].items()


def test_ours_fill_the_seats_that_agents_do_not_hold() -> None:
    env = ta.make("liescope/mini-mafia", players=["scripted:bold"], seats=["villager=agent:policy"], assess=True)
    rewards, facts, table = played(env, num_players=2, seed=3)
    assert set(rewards) == set(facts) == {0, 1}
    assert {facts[number]["role"] for number in facts} == {"villager"}
    assert {seat.model for seat in table.record.by_role("villager")} == {"policy"}
    again = played(env, num_players=2, seed=3)  # the same environment, another time
    assert again[2].record == table.record
    assert played(env, num_players=2)[2].record != table.record


def test_what_cannot_be_is_one_sentence() -> None:
    env = GameEnv("mini-mafia")
    with pytest.raises(UsageError, match="reset the environment first"):
        env.step("Bob")
    with pytest.raises(UsageError, match="agents have 4 seats in this game; give num_players=4"):
        env.reset(num_players=6)
    env.reset(num_players=4, seed=1)
    assert env.close()[0] is None
