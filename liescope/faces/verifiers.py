"""Games as a taskset of verifiers and its environment, in which each agent's seat is a conversation of its own.

    vf-eval liescope-games --env.taskset.game mini-mafia --env.taskset.seats '["mafioso=agent:policy"]' --no-push

A seat `agent:policy` is played by the environment's agent `policy`, one `agent:opponent` by `opponent`; a subclass of
`GamesEnvConfig` with more agents knows more names. All other players answer by themselves, as in a run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Any

import verifiers.v1 as vf
from openai import AsyncOpenAI
from pydantic import Field
from verifiers.v1.dialects.chat import message_to_wire

from liescope.games.record import record_to_json
from liescope.live_table import environment

__all__ = ["ChatHarness", "GamesEnv", "GamesTaskset"]


class GamesConfig(vf.TasksetConfig):
    """game: a name of Liescope's; players, seats, games, seed, options: as `liescope.environment` takes them; weights:
    of the parts of `Rewards` in the reward, all others are metrics; detector: a model's folder, for `caught`.
    """

    game: str = "mini-mafia"
    players: list[str] = Field(default_factory=lambda: ["agent:policy"])
    seats: list[str] = Field(default_factory=list)
    games: int = 100
    seed: int = 0
    options: dict[str, Any] = Field(default_factory=dict)
    weights: dict[str, float] = Field(default_factory=lambda: {"outcome": 1.0})
    detector: str | None = None


class GameData(vf.TaskData):
    """table: the keywords of `liescope.environment`; weights: as in `GamesConfig`."""

    table: dict[str, Any]
    weights: dict[str, float]


class GameTask(vf.Task[GameData, vf.State, vf.TaskConfig]):
    """One game of a plan."""


class GamesTaskset(vf.Taskset[GameTask, GamesConfig]):
    """The games of a plan, in order."""

    def load(self) -> Iterator[GameTask]:
        own = self.config
        fixed = {name: getattr(own, name) for name in ("game", "players", "seats", "games", "seed", "detector")}
        for number in range(own.games):
            table = {**own.options, **fixed, "number": number}
            data = GameData(name=f"{own.game}#{number}", table=table, weights=own.weights)
            yield GameTask(data, own.task)


_HERE = vf.AgentConfig(runtime=vf.SubprocessConfig())  # only words: there is nothing to shut in


class GamesEnvConfig(vf.EnvConfig):
    """The agents that seats name."""

    policy: vf.AgentConfig = _HERE
    opponent: vf.AgentConfig = _HERE


class GamesEnv(vf.Env[GamesEnvConfig]):
    """Plays one game. Each trace has a seat's conversation and rewards; its `info` the seat and the role, and that of
    the first seat the game's record (`liescope.games.record.record_from_json`).
    """

    async def setup(self, agents: vf.Agents) -> None:
        agents.opponent.trainable = False

    async def run(self, task: GameTask, agents: vf.Agents) -> None:
        """Raises RuntimeError for a seat whose conversation ends before the game does."""
        talks: dict[str, vf.Interaction] = {}
        table = await asyncio.to_thread(environment, **task.data.table)
        async with table:
            models = {seat.name: seat.model for seat in table.record.seats}
            async with AsyncExitStack() as open_talks:

                async def turn(seat: str) -> str:
                    said = await talks[seat].turn(table.prompt(seat))
                    if said.terminated:
                        why = talks[seat].trace.stop_condition
                        raise RuntimeError(f"the conversation of {seat} ended before the game did: {why}")
                    return str(said.last_reply)

                while asks := table.asks:
                    for seat in [ask.seat for ask in asks if ask.seat not in talks]:
                        agent = getattr(agents, models[seat])
                        talks[seat] = await open_talks.enter_async_context(agent.interaction(task))
                    replies = await asyncio.gather(*(turn(ask.seat) for ask in asks))
                    await table.asend({ask.seat: reply for ask, reply in zip(asks, replies, strict=True)})
            rewards = await asyncio.to_thread(table.rewards)
            for number, (seat, talk) in enumerate(talks.items()):
                talk.trace.info |= {"seat": seat, "role": table.seats[seat]}
                if number == 0:
                    talk.trace.info["record"] = record_to_json(table.record)
                for name, value in asdict(rewards[seat]).items():
                    if value is not None and name in task.data.weights:
                        talk.trace.record_reward(name, value, task.data.weights[name])
                    elif value is not None:
                        talk.trace.record_metric(name, value)


class ChatHarness(vf.Harness[vf.HarnessConfig]):
    """A model that only talks: each turn is one request from this process, and no program is started."""

    APPENDS_SYSTEM_PROMPT = SUPPORTS_RESUME = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,  # noqa: ARG002
        runtime: vf.Runtime,  # noqa: ARG002
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],  # noqa: ARG002
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        system, said = self.resolve_prompt(data)
        messages: list[Any] = [{"role": "system", "content": system}] if system else []
        messages += [message_to_wire(message) for message in said or []]
        async with AsyncOpenAI(base_url=endpoint, api_key=secret) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")
