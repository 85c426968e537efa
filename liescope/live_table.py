"""`liescope.environment`: one game at which anybody's agents sit, with models and scripts of ours in any mixture.

The game is a run of one game in a thread of its own, so that the same plan and answers give the record that `play`
gives, every answer is in the journal before the game sees it, and recorded replies come before new ones.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Coroutine, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from liescope.common.errors import PlayerFailed, RunPaused, UsageError
from liescope.common.settings import takes
from liescope.games.core import Ask, Event
from liescope.games.game_registry import find_game
from liescope.games.record import GameRecord, Status, record
from liescope.games.session import Session
from liescope.generate.players.agent import Agent, AgentDesk
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.player_protocol import Halt, Player, Shared
from liescope.generate.players.prompts.render import Prompt, Prompts, Templates, compiled
from liescope.generate.runs.job import Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.plan_games import plan_games, templates_for
from liescope.generate.runs.play import PlaySettings
from liescope.generate.runs.run_folder import plan_settings, with_settings
from liescope.generate.runs.run_plan import PlannedGame
from liescope.generate.runs.run_progress import RunProgress
from liescope.generate.runs.runner import run
from liescope.table_rewards import Rewards, rewards_in

if TYPE_CHECKING:
    from liescope.table_rewards import AnyDetector

T = TypeVar("T")


class _TableJob(Playing):
    """One game of a plan. live: its session and, by seat, the players; record: once it has ended."""

    planned: PlannedGame
    live: tuple[Session, Mapping[str, Player]] | None = None
    record: GameRecord | None = None

    def chains(self, ended: Set[str]) -> Iterator[Sequence[PlannedGame]]:
        return iter([] if self.planned.game_id in ended else [(self.planned,)])

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:
        session = super().begin(planned, players)
        seats = {name: players[spec] for name, spec in self.seats(planned, session.game).items()}
        self.live, self.record = (session, seats), None
        return session

    def ended(self, game: GameRecord) -> None:
        self.record = with_settings(game, plan_settings(self.plan.to_json()))


class Table:
    """A live game; made by `liescope.environment`. Use it as a context manager, or close it: the same call on its
    folder goes on.

    Agents answer in text, as models do; everybody else answers by themselves between the answers of agents. All of it
    works in and out of a running event loop; `aanswer` and `asend` let others of a loop go on meanwhile. To answer
    raises what pauses a run (`RunPaused`), and PlayerFailed where a player of ours has failed, which ends the game
    without an outcome.
    """

    def __init__(self, job: _TableJob, out: Path | None, limits: PlaySettings, detector: AnyDetector | None) -> None:
        self._job, self._detector = job, detector
        self._prompted: dict[str, tuple[int, str, str]] = {}  # by seat: the step, its stem, what was new at it
        self._loop, halt, shared = _loop(), Halt(), Shared()
        self._desk = shared.once(AgentDesk, AgentDesk)
        self._stop = weakref.finalize(self, self._loop.call_soon_threadsafe, _close, halt, self._desk)
        self._wait(self._begin(run(job, out, limits, limits.retry_failed, halt=halt, shared=shared), out))

    @property
    def asks(self) -> tuple[Ask, ...]:
        """What agents are asked now; several asks are simultaneous."""
        return tuple(ask for ask, _ in tuple(self._desk.open.values()))

    @property
    def ask(self) -> Ask | None:
        """The first of them; None when the game is over."""
        return next(iter(self.asks), None)

    def prompt(self, seat: str | None = None) -> str:
        """What is new to a seat since its last prompt here (at first the rules too), and the question. seat: by default
        the first that is asked. Raises UsageError for a seat that is not.
        """
        ask, now = self._rendered(seat)
        step, stem, new = self._prompted.get(ask.seat, (-1, "", ""))
        if step != ask.step:
            added = now.stem.removeprefix(stem)
            new = replace(now, stem=added).text if added else now.question
            self._prompted[ask.seat] = ask.step, now.stem, new
        return new

    def whole_prompt(self, seat: str | None = None) -> str:
        """Everything that a seat knows, and the question, as a model without memory is asked. Raises UsageError."""
        return self._rendered(seat)[1].text

    def answer(self, text: str, seat: str | None = None, *, thinking: str = "") -> None:
        """Answer for a seat, by default the first that is asked. A text that cannot be read becomes a problem of the
        record, as a model's does. thinking: reasoning that came beside the text, which nobody at the table reads.

        Raises UsageError where nothing is asked of the seat.
        """
        self._wait(self._answered({seat: text}, thinking))

    def send(self, texts: Mapping[str, str]) -> None:
        """Answer for several seats, by name; for none of them if that raises UsageError."""
        self._wait(self._answered(texts))

    async def aanswer(self, text: str, seat: str | None = None, *, thinking: str = "") -> None:
        await self._awaited(self._answered({seat: text}, thinking))

    async def asend(self, texts: Mapping[str, str]) -> None:
        await self._awaited(self._answered(texts))

    @property
    def done(self) -> bool:
        """Whether the game has ended."""
        return self._job.record is not None

    @property
    def record(self) -> GameRecord:
        """The game as `play` keeps it; before its end, as far as it has come, like one that failed."""
        if self._job.record is not None or self._job.live is None:
            assert self._job.record is not None
            return self._job.record
        (session, players), job = self._job.live, self._job
        who = {name: (player.model, player.source) for name, player in players.items()}
        return record(session.game, None, who, job.plan.label(job.planned), "the game has not ended")

    @property
    def events(self) -> Sequence[Event]:
        """Everything that has happened, secrets included."""
        return self.record.events

    @property
    def seats(self) -> dict[str, str]:
        """The role of each seat: for trainers, not for prompts."""
        return {seat.name: seat.role for seat in self.record.seats}

    @property
    def agents(self) -> dict[str, str]:
        """The seats of agents, with their names; of a game that had ended before, none."""
        players = {} if self._job.live is None else self._job.live[1]
        return {seat: player.model for seat, player in players.items() if isinstance(player, Agent)}

    def rewards(self) -> dict[str, Rewards]:
        """What each seat has earned, by name; before the end, of what has been said and done so far."""
        return rewards_in(self.record, self._detector)

    def close(self) -> None:
        """Stop, with everything so far in the run's folder, if there is one."""
        self._stop()
        self._wait(asyncio.wait((self._task,)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop()
        await self._awaited(asyncio.wait((self._task,)))

    def _rendered(self, seat: str | None) -> tuple[Ask, Prompt]:
        ask, job = self._asked(seat), self._job
        assert job.live is not None
        prompts = _prompts(job.plan.game, job.templates.name, tuple(job.templates.sources.items()))
        return ask, prompts.render(ask, job.live[0].game.view(ask.seat))

    def _asked(self, seat: str | None) -> Ask:
        if (found := next((ask for ask in self.asks if seat in (None, ask.seat)), None)) is not None:
            return found
        asked = ", ".join(ask.seat for ask in self.asks)
        state = f"asked now: {asked}" if asked else "the game is over" if self.done else "the table is closed"
        raise UsageError(f"nothing is asked of {seat or 'anybody'}; {state}")

    # In the loop of the tables

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _awaited(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _begin(self, work: Coroutine[Any, Any, RunProgress], out: Path | None) -> None:
        self._task = asyncio.create_task(work)
        await self._settled()
        if self._job.live is None and out is not None:  # it had ended before
            with Journal.open(out) as journal:
                self._job.record = journal.record(self._job.planned.game_id)
            await self._settled()

    async def _answered(self, texts: Mapping[str, str] | Mapping[str | None, str], thinking: str = "") -> None:
        asked = [(self._asked(seat), text) for seat, text in texts.items()]
        if wrong := [type(text).__name__ for _, text in asked if not isinstance(text, str)]:
            raise UsageError(f"an answer is a text, as a model writes it, not of type {wrong[0]}")
        replies = {ask.seat: read_reply(ask, text, thinking) for ask, text in asked}
        for seat, reply in replies.items():
            self._desk.open.pop(seat)[1].set_result(reply)
        self._desk.asked.clear()
        for _ in range(2):  # turns of the loop: the runner logs the reply, and the journal commits it
            await asyncio.sleep(0)
        await self._settled()

    async def _settled(self) -> None:
        """Wait until agents are asked, or the run ends. All asks of a batch come within one turn of the loop."""
        while not (self._task.done() or self._desk.open):
            asked = asyncio.ensure_future(self._desk.asked.wait())
            await asyncio.wait((self._task, asked), return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()
        ended = self._job.record
        if self._task.done() and ended is None and (stop := self._task.result().stop) is not None:
            raise stop
        if ended is not None and ended.status is Status.FAILED:
            raise PlayerFailed(f"{ended.failure}; the game goes on where it has a folder, with retry_failed=True")


def _close(halt: Halt, desk: AgentDesk) -> None:
    why = RunPaused("the table was closed")
    halt.set(why)
    while desk.open:
        desk.open.popitem()[1][1].set_exception(why)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all tables of this process, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="liescope-tables", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_loop.cache_clear)  # a forked process has none of its parent's threads


@lru_cache(maxsize=8)
def _prompts(game: str, name: str, sources: tuple[tuple[str, str], ...]) -> Prompts:
    """Compiled once for all games with the same templates."""
    return compiled(Templates(name, dict(sources), Path()), game)


@takes(PlaySettings, others="options")
def environment(
    game: str,
    *,
    number: int = 0,
    out: str | os.PathLike[str] | None = None,
    detector: AnyDetector | None = None,
    **settings: Any,
) -> Table:
    """A live game for agents: game `number` of the plan that `play` makes of the same settings. The seats of a player
    `agent:NAME` are answered by the caller (`Table.answer`): they stand in the record as the model of this name. All
    others play as in a run. No share of unusable replies stops it unless `max_fallbacks` is given. In an async program,
    open it with `asyncio.to_thread`.

    Parameters
    ----------
    game : str
        A name in `liescope.games.game_registry.GAMES`.
    number : int
        Which game of the plan, from 0; the plan has `games` of each cell.
    out : str or path, optional
        A run's folder, which then holds the game. The same call on it goes on with the game.
    detector : str, path or LoadedDetector, optional
        A trained detector for `Rewards.caught`.
    **settings
    **options
        The game's own options, for example rounds=8 or assess=True (`PlayableGame.options`).

    Raises
    ------
    UsageError
        For settings that do not fit together, or a number that the plan does not have.
    PlanChanged
        If the folder holds a run with a different plan.
    EndpointRefused, EndpointSilent, PlayerFailed
        For a player of ours that cannot be asked.

    Example:
        >>> with liescope.environment("mini-mafia", seats=["mafioso=agent:policy"]) as table:
        ...     while not table.done:
        ...         table.answer(policy(table.whole_prompt()))
    """
    folder = None if out is None else Path(out)
    own, options = PlaySettings.with_rest({"max_fallbacks": 1.0, **settings})
    templates = templates_for(own.prompts, game, folder)
    plan = plan_games(find_game(game), own, options, templates)
    if number not in plan.numbers:
        most = f"its games are {plan.numbers[0]} to {plan.numbers[-1]}"
        raise UsageError(f"the plan has no game {number}; {most}: give games= for more in each cell")
    if any(plan.learning) and folder is None:
        raise UsageError("what is learned from game to game is kept in the run's folder; name one with out=")
    job = _TableJob(plan, folder or Path(), templates)
    job.planned = plan.planned(number)
    return Table(job, folder, own, detector)
