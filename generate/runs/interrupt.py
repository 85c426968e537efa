"""Ctrl-C during a run: the first lets requests under way finish, the second ends the run at once."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from liescope.common.errors import Interrupted
from liescope.generate.players.shared import Halt

DRAIN = 10.0  # seconds that requests under way have to finish

T = TypeVar("T")


def finish(make: Callable[[Halt], Coroutine[Any, Any, T]], say: bool) -> T:
    """Run the coroutine from `make` to its end; it stops early when its Halt is set. say: inform the user on standard
    error.

    Also works inside a running event loop, as in a notebook. Raises KeyboardInterrupt if it was cut off.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(make, say)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_run, make, say).result()


def _run(make: Callable[[Halt], Coroutine[Any, Any, T]], say: bool) -> T:
    try:
        return asyncio.run(_interruptible(make, say))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


async def _interruptible(make: Callable[[Halt], Coroutine[Any, Any, T]], say: bool) -> T:
    halt, loop, task = Halt(), asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def pressed() -> None:
        if halt.error is not None:
            task.cancel()
            return
        halt.set(Interrupted("interrupted"))
        loop.call_later(DRAIN, task.cancel)
        if say:
            text = "\nstopping: waiting for the requests under way; Ctrl-C again to stop at once\n"
            sys.stderr.write(text)
            sys.stderr.flush()

    if threading.current_thread() is threading.main_thread():
        loop.add_signal_handler(signal.SIGINT, pressed)
    return await make(halt)
