"""Games as environments of TextArena. Importing this module registers each as `liescope/GAME`:

env = textarena.make("liescope/mini-mafia", assess=True)
env.reset(num_players=4, seed=1)
"""

from __future__ import annotations

from dataclasses import asdict
from secrets import randbelow
from typing import Any

import textarena as ta
from textarena.wrappers import LLMObservationWrapper

from liescope.common.errors import UsageError
from liescope.games.game_registry import PROMPTS
from liescope.live_table import Table, environment


class GameEnv(ta.Env):
    """A game at the table that `liescope.environment` opens with these settings; without players among them, every seat
    is an agent's. The seats of agents are TextArena's players, by their order; those that are asked at once have their
    turns one after the other. table: of the game under way.

    An answer that cannot be read ends no game: the rules decide what it means, and the player's facts say
    `invalid_move`. At the end a player's reward is 1 or -1, and its facts hold its role and `liescope`'s rewards.
    """

    table: Table | None = None

    def __init__(self, game: str, **settings: Any) -> None:
        self._game, self._settings = game, {"players": ["agent:player"], **settings}

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Begin a game. Raises UsageError for another number of players than it has agents."""
        if self.table is not None:
            self.table.close()
        drawn = {"seed": randbelow(2**31) if seed is None else seed, "games": 1}
        self.table = environment(self._game, **drawn | self._settings)
        self._seats = list(self.table.agents)
        if num_players != len(self._seats):
            self.table.close()
            raise UsageError(f"agents have {len(self._seats)} seats in this game; give num_players={len(self._seats)}")
        self.state = ta.State(num_players)
        roles = {number: self.table.seats[name] for number, name in enumerate(self._seats)}
        self.state.standard_resets(role_mapping=dict(enumerate(self._seats)), secret_roles=roles)
        self._next(self.table)

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Answer for the current player; whether that ended the game. Raises UsageError before the first `reset`."""
        if self.table is None:
            raise UsageError("no game has begun; reset the environment first")
        self.state.game_info[self.state.current_player_id]["turn_count"] += 1
        self.table.answer(action, self._seats[self.state.current_player_id])
        self._next(self.table)
        done, info = self.state.step()
        return done, info

    def close(self) -> tuple[dict[int, int] | None, dict[int, dict[str, Any]]]:
        """The rewards, None of a game that has not ended, and the facts of each player."""
        if self.table is not None:
            self.table.close()
        return self.state.close()  # type: ignore[no-any-return]

    def _next(self, table: Table) -> None:
        state = self.state
        if table.ask is not None:
            state.current_player_id = self._seats.index(table.ask.seat)
            first = state.game_info[state.current_player_id]["turn_count"] == 0
            kind = ta.ObservationType.PROMPT if first else ta.ObservationType.GAME_MESSAGE
            state.add_observation(table.prompt(), kind, to_id=state.current_player_id)
            return
        state.done, earned = True, table.rewards()
        state.rewards = {number: 1 if earned[name].outcome else -1 for number, name in enumerate(self._seats)}
        unread = {event.actor for event in table.events if event.fallback}
        for number, name in enumerate(self._seats):
            state.game_info[number] |= {"invalid_move": name in unread, **asdict(earned[name])}


for _name in PROMPTS:
    ta.register(f"liescope/{_name}", GameEnv, [LLMObservationWrapper], game=_name)
