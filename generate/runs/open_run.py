"""What surrounds a run: its log, its players, and how it ends early when it is asked to."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from liescope.common.console import end_by, heeded, let_go_of_terminal
from liescope.common.errors import BudgetSpent, Interrupted, UsageError
from liescope.generate.players.player_protocol import Halt, Player, PlayerContext
from liescope.generate.players.player_registry import open_player

LOGGED = (
    *("host", "served_model", "game", "step", "seat", "attempt", "problem", "latency_ms"),
    *("prompt_tokens", "cached_tokens", "completion_tokens", "cost", "via"),
)
"""What the log has of a request; prompts and replies are in the journal."""
Tell = Callable[..., None]
"""Takes what happened, and its facts: plain JSON data, no secret."""


@contextmanager
def open_log(path: Path | None) -> Iterator[Tell]:
    """Appends a line to a file when something happens, with its time (UTC); without a file it does nothing.

    Raises UsageError if the file cannot be written.
    """
    if path is None:
        yield lambda *_, **__: None
        return
    with _writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("ab", buffering=0)

    def tell(event: str, **facts: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        with _writing(path):
            file.write((json.dumps({"time": now, "event": event, **facts}, allow_nan=False) + "\n").encode())

    with file:
        yield tell


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UsageError(f"the log {path} cannot be written: {error.strerror}; choose another --log") from None


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


async def prepare(players: Sequence[Player]) -> None:
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
