"""`liescope.environment`: one game at which anybody's agents sit, with models and scripts of ours in any mixture.

The game is a run of one game, in a thread of its own: recorded replies come before new ones, every answer is in the
journal before the game sees it, and the same plan and answers give the record that `play` gives.
"""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import Coroutine, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from liescope.common.errors import PlayerFailed, RunPaused, UsageError
from liescope.common.settings import takes
from liescope.games.core import Ask, Event, Reply
from liescope.games.game_registry import find_game
from liescope.games.record import GameRecord, Source, Status, record, record_to_json
from liescope.games.session import Session
from liescope.generate.players.agent import AgentDesk
from liescope.generate.players.parsing import read_reply
from liescope.generate.players.player_protocol import Halt, Player, Shared
from liescope.generate.players.prompts import Prompts, Templates
from liescope.generate.players.prompts.render import Prompt, compiled
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_reader import read_record
from liescope.generate.runs.journal_tables import dumped
from liescope.generate.runs.plan_games import plan_games, templates_for
from liescope.generate.runs.play import PlaySettings
from liescope.generate.runs.run_folder import plan_settings, with_settings
from liescope.generate.runs.run_plan import Plan, PlannedGame
from liescope.generate.runs.run_progress import RunProgress
from liescope.generate.runs.runner import run
from liescope.table_rewards import Rewards, rewards_in

if TYPE_CHECKING:
    from liescope.detectors.saved import LoadedDetector

T = TypeVar("T")
UNENDED = "the game has not ended"
_TURNS = 2  # of the event loop, after which an answer is in the journal: the runner's, and the end of that one


class _TableJob(Playing):
    """One game of a plan. record: once it has ended; who: the name and source of each seat's player."""

    def __init__(self, plan: Plan, out: Path | None, templates: Templates, number: int) -> None:
        super().__init__(plan, out or Path(), templates)
        self.planned = plan.planned(number)
        self.session: Session | None = None
        self.record: GameRecord | None = None
        self.who: Mapping[str, tuple[str, Source]] = {}

    def chains(self, ended: Set[str]) -> Iterator[Sequence[PlannedGame]]:
        return iter([] if self.planned.game_id in ended else [(self.planned,)])

    def begin(self, planned: PlannedGame, players: Mapping[str, Player]) -> Session:
        self.session, self.record = super().begin(planned, players), None
        seats = self.seats(planned, self.session.game)
        self.who = {name: (players[spec].model, players[spec].source) for name, spec in seats.items()}
        return self.session

    def ended(self, game: GameRecord) -> None:
        self.record = self.as_kept(game)

    def as_kept(self, game: GameRecord) -> GameRecord:
        """The record as a journal gives it back."""
        kept = read_record(dumped(record_to_json(game)), game.game_id)
        return with_settings(kept, plan_settings(self.plan.to_json()))

    async def unended(self, session: Session) -> GameRecord:
        meta = await self.meta(self.planned, session.game, UNENDED)
        return self.as_kept(record(session.game, None, self.who, self.plan.label(self.planned), UNENDED, meta))


class Table:
    """A live game; made by `liescope.environment`. Use it as a context manager, or close it.

    Agents answer what they are asked, in text as a model does; everybody else answers by themselves, between two
    answers of agents. Every method works in and out of a running event loop. A method that waits for others has a twin
    that is awaited, so that other tables of a loop go on meanwhile. Answers raise what pauses a run (`RunPaused`), and
    PlayerFailed where a player of ours could not answer, so that the game is over without an outcome.
    """

    def __init__(
        self, job: _TableJob, out: Path | None, limits: Limits, detector: str | os.PathLike[str] | LoadedDetector | None
    ) -> None:
        self._job, self._out, self._detector = job, out, detector
        self._prompted: dict[str, tuple[int, Prompt, str]] = {}  # by seat: the step, its prompt, what was new in it
        self._loop, halt, shared = _loop(), Halt(), Shared()
        self._desk = shared.once(AgentDesk, AgentDesk)
        self._stop = weakref.finalize(self, _stop, self._loop, halt, self._desk)
        self._wait(self._begin(run(job, out, limits, limits.retry_failed, halt=halt, shared=shared)))

    def __repr__(self) -> str:
        asked = ", ".join(f"{ask.seat} to {ask.kind.value}" for ask in self.asks)
        return f"<Table {self._job.planned.game_id} of {self._job.plan.game}: {f'asks {asked}' if asked else 'over'}>"

    # What is asked

    @property
    def asks(self) -> tuple[Ask, ...]:
        """What agents are asked now; several asks are simultaneous."""
        return self._desk.asks

    @property
    def ask(self) -> Ask | None:
        """The first of them; None when the game is over."""
        return next(iter(self.asks), None)

    def prompt(self, seat: str | None = None) -> str:
        """What is new to a seat since its last prompt here (at first the rules too), and the question. seat: by default
        the first that is asked. Raises UsageError for a seat that is not asked.
        """
        ask = self._asked(seat)
        step, before, new = self._prompted.get(ask.seat, (-1, Prompt("", ""), ""))
        if step != ask.step:
            now = self._rendered(ask)
            added = now.stem.removeprefix(before.stem)
            new = f"{added}\n{now.question}" if added else now.question
            self._prompted[ask.seat] = ask.step, now, new
        return new

    def whole_prompt(self, seat: str | None = None) -> str:
        """Everything that a seat knows, and the question, as a model without memory is asked."""
        return self._rendered(self._asked(seat)).text

    def _rendered(self, ask: Ask) -> Prompt:
        assert self._job.session is not None
        return _prompts(self._job.templates, self._job.plan.game).render(ask, self._job.session.game.view(ask.seat))

    # Answers

    def answer(self, text: str, seat: str | None = None, *, thinking: str = "") -> None:
        """Answer for a seat, by default the first that is asked. thinking: reasoning that came beside the text; nobody
        at the table reads it. A text that cannot be read becomes a problem of the record, as a model's does.

        Raises UsageError where nothing is asked of the seat.
        """
        self._wait(self._answered(self._replies({seat: text}, thinking)))

    def send(self, texts: Mapping[str, str]) -> None:
        """Answer for several seats, by name. Raises UsageError, before any is given, as `answer` does."""
        self._wait(self._answered(self._replies(texts)))

    async def aanswer(self, text: str, seat: str | None = None, *, thinking: str = "") -> None:
        await self._await(self._answered(self._replies({seat: text}, thinking)))

    async def asend(self, texts: Mapping[str, str]) -> None:
        await self._await(self._answered(self._replies(texts)))

    def _replies(self, texts: Mapping[str, str] | Mapping[str | None, str], thinking: str = "") -> dict[str, Reply]:
        asks = [(self._asked(seat), text) for seat, text in texts.items()]
        if wrong := next((text for _, text in asks if not isinstance(text, str)), None):
            raise UsageError(f"an answer is the text that a model would write, not of type {type(wrong).__name__}")
        return {ask.seat: read_reply(ask, text, thinking) for ask, text in asks}

    def _asked(self, seat: str | None) -> Ask:
        for ask in self.asks:
            if seat in (None, ask.seat):
                return ask
        asked = ", ".join(ask.seat for ask in self.asks)
        state = f"asked now: {asked}" if asked else "the game is over" if self.done else "the table is closed"
        raise UsageError(f"nothing is asked of {seat or 'anybody'}; {state}")

    # What happened

    @property
    def done(self) -> bool:
        """Whether the game has ended."""
        return self._job.record is not None

    @property
    def record(self) -> GameRecord:
        """The game as `play` keeps it; before its end, as far as it has come, with the status of a failed one."""
        if self._job.record is not None:
            return self._job.record
        assert self._job.session is not None
        return self._wait(self._job.unended(self._job.session))

    @property
    def events(self) -> Sequence[Event]:
        """Everything that has happened, secrets included."""
        return self._job.session.events if self._job.session is not None else self.record.events

    @property
    def seats(self) -> dict[str, str]:
        """The role of each seat: for trainers, not for prompts."""
        return {seat.name: seat.role for seat in self.record.seats}

    def rewards(self) -> dict[str, Rewards]:
        """What each seat has earned, by name; before the end, of what has been said and done so far."""
        return rewards_in(self.record, self._detector)

    # Opening and closing

    def close(self) -> None:
        """Stop, with everything so far in the run's folder, if it has one: the same call resumes the game."""
        self._stop()
        self._wait(self._left())

    async def aclose(self) -> None:
        self._stop()
        await self._await(self._left())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # In the tables' loop

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _await(self, work: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _begin(self, work: Coroutine[Any, Any, RunProgress]) -> None:
        self._task = asyncio.create_task(work)
        await self._settled()
        if self._job.session is None and self._out is not None:  # it had ended before
            with Journal.open(self._out) as journal:
                self._job.record = journal.record(self._job.planned.game_id)

    async def _answered(self, replies: Mapping[str, Reply]) -> None:
        for seat, reply in replies.items():
            self._desk.give(seat, reply)
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        await self._settled()

    async def _settled(self) -> None:
        """Wait until agents are asked, or the run ends. A batch's asks come within one turn of the loop."""
        while not (self._task.done() or self._desk.asks):
            changed = asyncio.ensure_future(self._desk.changed.wait())
            await asyncio.wait((self._task, changed), return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
        if not self._task.done():
            return
        stop, ended = self._task.result().stop, self._job.record
        if stop is not None and ended is None:
            raise stop
        if ended is not None and ended.status is Status.FAILED:
            raise PlayerFailed(ended.failure)

    async def _left(self) -> None:
        await asyncio.wait((self._task,))


def _stop(loop: asyncio.AbstractEventLoop, halt: Halt, desk: AgentDesk) -> None:
    why = RunPaused("the table was closed")

    def stop() -> None:
        halt.set(why)
        desk.close(why)

    loop.call_soon_threadsafe(stop)


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """The event loop of all tables of this process, in a thread of its own."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="liescope-tables", daemon=True).start()
    return loop


os.register_at_fork(after_in_child=_loop.cache_clear)  # a forked process has none of its parent's threads

_compiled: dict[tuple[str, str, str], Prompts] = {}


def _prompts(templates: Templates, game: str) -> Prompts:
    """Compiled once for all games with the same templates."""
    key = game, templates.name, templates.hash
    if key not in _compiled:
        _compiled[key] = compiled(templates, game)
    return _compiled[key]


@takes(PlaySettings, others="options")
def environment(
    game: str,
    *,
    number: int = 0,
    out: str | os.PathLike[str] | None = None,
    detector: str | os.PathLike[str] | LoadedDetector | None = None,
    **settings: Any,
) -> Table:
    """A live game for agents: game `number` of the plan that `play` makes of the same settings. A seat of a player
    `agent:NAME` is answered by the caller (`Table.answer`), under this name in the record; all others play as in a run.

    No share of unusable replies stops it unless `max_fallbacks` says so. In an async program, open it with
    `asyncio.to_thread`.

    Parameters
    ----------
    game : str
        A name in `liescope.games.game_registry.GAMES`.
    number : int
        Which game of the plan, from 0; the plan has `games` of each cell.
    out : str or path, optional
        A run's folder, which then holds the game, as `play` would. The same call on it resumes the game.
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
        ...     print(table.rewards()[table.record.by_role("mafioso")[0].name])
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
    return Table(_TableJob(plan, folder, templates, number), folder, own, detector)
