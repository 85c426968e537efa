"""Ctrl-C during a run: the first time requests under way may come in, the second time the run ends at once."""

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

DRAIN = 10.0  # seconds that requests under way have to come in

T = TypeVar("T")


def finish(make: Callable[[Halt], Coroutine[Any, Any, T]], say: bool) -> T:
    """Run to the end what `make` gives, which stops early when its Halt is set. say: tell the user on standard error.

    Works inside a running event loop too, as in a notebook. Raises KeyboardInterrupt where it was cut off.
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
