"""A job done from beginning to end, with a live display, until it ends or a signal ends it.

Ctrl-C, SIGTERM or SIGHUP: requests under way may finish; a Ctrl-C after that ends the run at once.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from liescope.common.errors import Interrupted, UsageError
from liescope.common.signals import end_by, heeded, let_go_of_terminal
from liescope.generate.players.protocol import Halt
from liescope.generate.runs.config import RunConfig
from liescope.generate.runs.job import Job
from liescope.generate.runs.limits import Limits
from liescope.generate.runs.live import live_display
from liescope.generate.runs.opening import BATCHES
from liescope.generate.runs.progress import RunProgress, RunState, state_of
from liescope.generate.runs.result import RunResult
from liescope.generate.runs.runner import run
from liescope.generate.runs.shards.crew import run_sharded
from liescope.generate.runs.shards.engine import Engine

_STATE_EVERY = 2.0  # seconds between two states in the run's folder
DRAIN = 10.0  # seconds that requests under way have to finish after Ctrl-C
SHORT_DRAIN = 8.0  # and after another signal: docker stop kills 10 s after SIGTERM

T = TypeVar("T")


def run_job(
    job: Job,
    out: Path,
    limits: Limits,
    retry_failed: bool,
    about: Mapping[str, Any],
    config: RunConfig,
    progress: bool,
    engine: Engine | None = None,
) -> RunResult:
    """Do the job in a run folder and write the config there. progress: show it on standard error; engine: where workers
    play, None for this process alone.

    Also works inside a running event loop, as in a notebook.
    """
    if engine is not None and limits.batch:
        raise UsageError("batches are made by one process; leave --workers out")
    if not limits.batch:
        _check_batches(out)
    started = time.monotonic()
    written = float("-inf")
    latest: RunProgress | None = None

    def state(tally: RunProgress, ended: bool = False) -> RunState:
        return state_of(tally, config.command, time.monotonic() - started, limits.currency, ended)

    with live_display(config.command, progress) as show:

        def watch(tally: RunProgress) -> None:
            nonlocal written, latest
            latest = tally
            config.write(out)
            now = state(tally)
            show(now)
            if now.seconds - written >= _STATE_EVERY:
                written = now.seconds
                now.write(out)

        def work(halt: Halt) -> Coroutine[Any, Any, RunProgress]:
            if engine is None:
                return run(job, out, limits, retry_failed, watch, halt)
            return run_sharded(job, out, limits, engine, retry_failed, watch, halt)

        try:
            tally = finish(work, progress)
        except (KeyboardInterrupt, SystemExit, Interrupted) as error:
            if latest is not None:  # cut off before it could report its end
                latest.stop = error if isinstance(error, Interrupted) else Interrupted("interrupted")
                state(latest, ended=True).write(out)
            _say_how_to_resume(out, progress)
            raise end_by(error.number) if isinstance(error, Interrupted) else error from None
        state(tally, ended=True).write(out)
    if isinstance(tally.stop, Interrupted):
        _say_how_to_resume(out, progress)
        raise end_by(tally.stop.number)
    return RunResult(out, about, tally, time.monotonic() - started, limits.currency)


def _check_batches(out: Path) -> None:
    """Raises UsageError if batches of the run have not ended: asking for the same would be paid twice."""
    folder = out / BATCHES
    if not folder.exists():
        return
    from liescope.generate.players.openai.batch_store import any_under_way

    if any_under_way(folder):
        raise UsageError(
            f"{out} has batches under way, which are paid for: add --batch to go on with them, or delete {folder} to "
            "ask again"
        )


def _say_how_to_resume(out: Path, wanted: bool) -> None:
    if wanted and out.exists():
        sys.stderr.write(f"\nstopped; run the same command again to go on with {out}\n")


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
