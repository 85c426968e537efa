"""Ctrl-C, SIGTERM or SIGHUP during a run: requests under way may finish; a Ctrl-C after that ends the run at once."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from liescope.common.errors import Interrupted
from liescope.common.signals import end_by, heeded, let_go_of_terminal
from liescope.generate.players.shared import Halt

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
