"""The beginning of a run: players are opened and prepared, then its folder is, which gets what came before."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from liescope.common.console import end_by, heeded, let_go_of_terminal
from liescope.common.errors import BudgetSpent, Interrupted, UsageError
from liescope.games.record import GameRecord, Source
from liescope.generate.players.human import Paced, Pacing
from liescope.generate.players.player_protocol import (
    PREFLIGHT,
    VIA_CACHE,
    Attempt,
    EndpointFacts,
    Halt,
    Player,
    PlayerContext,
    Shared,
)
from liescope.generate.players.player_registry import open_player
from liescope.generate.players.reply_cache import ReplyCache
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Job
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.run_folder import PLAN_FILE, check_unchanged
from liescope.generate.runs.run_plan import JudgePlan
from liescope.generate.runs.run_progress import RunProgress

_LOGGED = (
    "host served_model game step seat attempt problem latency_ms prompt_tokens cached_tokens completion_tokens cost via"
)


class RunLog:
    """Writes each line when it happens. Prompts and replies are left out: the journal has them. Without a file it
    writes nothing.
    """

    def __init__(self, file: BinaryIO | None = None) -> None:
        self._file = file

    def write(self, event: str, **facts: Any) -> None:
        """One line: the time (UTC), what happened, and its facts (plain JSON data, no secret)."""
        if self._file is None:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **facts}, allow_nan=False) + "\n"
        try:
            self._file.write(line.encode())
        except OSError as error:
            raise _unwritable(self._file.name, error) from None

    def request(self, attempt: Attempt) -> None:
        """A request that ended, answered or not."""
        self.write("request", **{name: getattr(attempt, name) for name in _LOGGED.split()})

    def game(self, game: GameRecord) -> None:
        """A game that ended."""
        winner = None if game.outcome is None else game.outcome.winner
        self.write("game", game=game.game_id, status=game.status.value, winner=winner, failure=game.failure)


@contextmanager
def open_log(path: Path | None) -> Iterator[RunLog]:
    """The log that is appended to a file, or none. Raises UsageError if the file cannot be written."""
    if path is None:
        yield RunLog()
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab", buffering=0)
    except OSError as error:
        raise _unwritable(path, error) from None
    with file:
        yield RunLog(file)


def _unwritable(path: object, error: OSError) -> UsageError:
    return UsageError(f"the log {path} cannot be written: {error.strerror}; choose another --log")


Watch = Callable[[RunProgress], None]


@dataclass(slots=True)
class OpenRun:
    """A run that is ready to go on. players: by spec, prepared; watch: called with the progress."""

    job: Job
    out: Path
    limits: Limits
    journal: Journal
    players: dict[str, Player]
    progress: RunProgress
    halt: Halt
    log: RunLog
    watch: Watch | None

    def show(self) -> None:
        if self.watch is not None:
            self.watch(self.progress)


@asynccontextmanager
async def opened(
    job: Job,
    out: Path,
    limits: Limits,
    retry_failed: bool = False,
    watch: Watch | None = None,
    halt: Halt | None = None,
    shared: Shared | None = None,
    pacing: Pacing | None = None,
) -> AsyncIterator[OpenRun]:
    """Open a run in its folder, new or begun; as `runner.run`, with its errors."""
    progress, halt = RunProgress(len(job), judged=isinstance(job.plan, JudgePlan)), halt or Halt()
    async with AsyncExitStack() as stack:
        log = stack.enter_context(open_log(limits.log))
        progress.activity.tell = log.write
        journal: Journal | None = None
        attempts, found = list[Attempt](), list[EndpointFacts]()  # what comes before there is a journal
        if (out / PLAN_FILE).exists():
            journal = stack.enter_context(Journal.open(out, write=True))
            type(job.plan).parse(journal.plan, out)
            check_unchanged(journal.plan, job.plan.to_json(), out)
            progress.tokens, progress.cost = journal.spent()

        def keep(attempt: Attempt) -> None:
            progress.tokens += attempt.tokens
            progress.from_cache += attempt.via == VIA_CACHE and attempt.game != PREFLIGHT
            progress.cost += attempt.cost or 0.0
            if attempt.host:
                progress.activity.at(attempt.host).count(attempt)
            log.request(attempt)
            attempts.append(attempt) if journal is None else journal.log_attempt(attempt)

        def learn(facts: EndpointFacts) -> None:
            found.append(facts) if journal is None else journal.record_endpoint(facts)

        context = PlayerContext(
            limits=limits,
            log=keep,
            game=job.game,
            prompts=job.templates,
            spent_tokens=progress.tokens,
            spent_cost=progress.cost,
            facts=() if journal is None else journal.endpoint_facts(),
            learn=learn,
            halt=halt,
            activity=progress.activity,
            cache=None if limits.cache is None else stack.enter_context(ReplyCache(limits.cache)),
            draw=job.plan.draw,
            files=job.plan.files,
            shared=shared or Shared(),
        )
        players = open_players(job.plan.specs, context, stack)
        if pacing is not None:
            players = {
                spec: player if player.source is Source.HUMAN else Paced(player, pacing, halt)
                for spec, player in players.items()
            }
        ended = set[str]() if journal is None or retry_failed else set(journal.game_ids())
        if limits.preflight and any(True for _ in job.chains(ended)):
            await _prepare(list(players.values()))
        if journal is None:
            journal = stack.enter_context(Journal.create(out, job.plan.to_json()))
        for attempt in attempts:
            journal.log_attempt(attempt)
        for facts in found:
            journal.record_endpoint(facts)
        for digest, texts in {job.plan.templates: job.templates.sources, **job.kept()}.items():
            journal.keep_templates(digest, texts)
        if retry_failed:
            journal.forget_failed()
        yield OpenRun(job, out, limits, journal, players, progress, halt, log, watch)
        progress.kinds, progress.endpoints = journal.spent_by_kind(), journal.endpoint_facts()


def open_players(specs: Sequence[str], context: PlayerContext, stack: AsyncExitStack) -> dict[str, Player]:
    players: dict[str, Player] = {}
    for spec in specs:
        player = open_player(spec, context)
        stack.push_async_callback(player.close)
        for other, known in players.items():
            if known.model == player.model:
                raise UsageError(
                    f"the players {other} and {spec} would both be called {player.model!r}, so games could not be "
                    "distinguished; leave one out"
                )
        players[spec] = player
    return players


async def _prepare(players: Sequence[Player]) -> None:
    """Prepare all players at once. Raises the first error, unless the budget is spent, which ends the run later."""
    errors = await asyncio.gather(*(player.prepare() for player in players), return_exceptions=True)
    for error in errors:
        if error is not None and not isinstance(error, BudgetSpent):
            raise error


DRAIN = 10.0  # seconds that requests under way have to finish after Ctrl-C
SHORT_DRAIN = 8.0  # and after another signal: docker stop kills 10 s after SIGTERM

T = TypeVar("T")


def finish(make: Callable[[Halt], Coroutine[Any, Any, T]], say: bool) -> T:
    """Run the coroutine from `make` to its end; it stops early when its Halt is set. say: inform the user on standard
    error.

    Also works inside a running event loop, as in a notebook. Raises what `end_by` gives if it was cut off:
    KeyboardInterrupt, or SystemExit.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(make, say)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_run, make, say).result()


def _run(make: Callable[[Halt], Coroutine[Any, Any, T]], say: bool) -> T:
    halt = Halt()
    try:
        return asyncio.run(_interruptible(make, halt, say))
    except asyncio.CancelledError:
        raise end_by(halt.error.number if isinstance(halt.error, Interrupted) else signal.SIGINT) from None


async def _interruptible(make: Callable[[Halt], Coroutine[Any, Any, T]], halt: Halt, say: bool) -> T:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def asked(number: signal.Signals) -> None:
        if number == signal.SIGHUP:
            let_go_of_terminal()
        if halt.error is not None:
            if number == signal.SIGINT:  # the others often come twice, from a shell and from what ended it
                task.cancel()
            return
        stop = Interrupted("interrupted")
        stop.number = int(number)
        halt.set(stop)
        loop.call_later(DRAIN if number == signal.SIGINT else SHORT_DRAIN, task.cancel)
        if say:
            why, again = ("", " again") if number == signal.SIGINT else (f" ({number.name})", "")
            sys.stderr.write(f"\nstopping{why}: waiting for the requests under way; Ctrl-C{again} to stop at once\n")
            sys.stderr.flush()

    if threading.current_thread() is threading.main_thread():
        for number in heeded():
            loop.add_signal_handler(number, asked, number)
    return await make(halt)
