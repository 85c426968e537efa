"""The worker's side: it plays the chains that are leased to it into its shard, and tells all that it has kept.

Work goes on in a thread with an event loop of its own; `exchange`, called from another thread, takes orders and gives
the news since the last call.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from liescope.common.errors import Interrupted, LiescopeError, RunPaused
from liescope.generate.players.openai.budget import Budget
from liescope.generate.players.shared import Halt, Shared
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.progress import RunProgress
from liescope.generate.runs.runner import run
from liescope.generate.runs.shards.absorb import Piece
from liescope.generate.runs.shards.allowance import Allowance
from liescope.generate.runs.shards.books import keep_books, read_books
from liescope.generate.runs.shards.jobs import describe_error, make_job, make_limits, make_pause, supply
from liescope.generate.runs.shards.leases import Leases, ShardJob
from liescope.generate.runs.shards.tally import report

_SOONEST, _LATEST = 0.05, 0.5  # seconds between the news of two exchanges, with and without anything new
DRAIN = 10.0  # seconds that requests under way have to finish once the run is gone


class Session:
    """One worker's part of a run.

    config: plain data: the shard's folder, the job, its plan, limits, the chains to begin with, the replies that they
    have, what they need of other runs, books and facts about endpoints, the budget's first allowance.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self.folder = Path(config["folder"])
        self._config = config
        self._leases = Leases(config["chains"])
        self._leases.deal((), config["final"])
        self._halt: Halt | None = None
        self._halted: RunPaused | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._allowance: Allowance | None = None
        self._report = report(RunProgress(0))
        self._pieces: list[Piece] = []
        self._books = config["books"]
        self._news = threading.Condition()
        self._urgent = False
        self._told_at = 0.0
        self._end: dict[str, Any] | None = None
        supply(config["job"], self.folder, config["supplies"])
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    # Called from the thread of the exchanges

    def exchange(self, orders: dict[str, Any]) -> dict[str, Any]:
        """Take orders; wait a moment for news and give them. The last news say how the worker ended."""
        supply(self._config["job"], self.folder, orders.get("supplies", ()))
        self._leases.deal(orders.get("chains", ()), orders.get("final", False))
        if self._allowance is not None and "allowance" in orders:
            self._allowance.allow(*orders["allowance"])
        if "halt" in orders:
            self.halt(make_pause(orders["halt"]))
        with self._news:
            self._news.wait_for(self._should_tell_at_once, max(self._told_at + _SOONEST - time.monotonic(), 0.0))
            self._news.wait_for(
                lambda: self._pieces or self._should_tell_at_once(), self._told_at + _LATEST - time.monotonic()
            )
            self._told_at, self._urgent = time.monotonic(), False
            end = self._end  # seen before the rows are taken: nothing comes after it
            pieces, self._pieces = self._pieces, []
        books = read_books(self.folder) if any(self._config["job"].get("play", {}).get("learning", ())) else {}
        changed = {name: text for name, text in books.items() if self._books.get(name) != text}
        self._books = books
        return {
            "pieces": pieces,
            "books": changed,
            "taken": self._leases.taken,
            "progress": self._report,
            "spent": [0, 0.0] if self._allowance is None else [self._allowance.tokens, self._allowance.cost],
            "end": end,
        }

    def _should_tell_at_once(self) -> bool:
        return self._urgent or self._leases.starved or self._end is not None

    def halt(self, error: RunPaused) -> None:
        """End the run here; requests under way finish."""
        self._halted = error
        self._leases.deal((), final=True)
        if self._loop is not None and self._halt is not None:
            self._loop.call_soon_threadsafe(self._halt.set, error)

    def abandon(self) -> None:
        """The run is gone: finish what is under way, and keep it in the shard."""
        self.halt(Interrupted("the run that this worker belongs to is gone"))
        if self._allowance is not None:
            self._allowance.allow(0, None)
            self._allowance.allow(0, None)
        self._thread.join(DRAIN)

    # In the worker's own thread

    def _work(self) -> None:
        end: dict[str, Any] = {"died": "an unexpected error"}
        try:
            stop = asyncio.run(self._run()).stop
            end = {"stop": None if stop is None else describe_error(stop)}
        except LiescopeError as error:
            end = {"error": describe_error(error)}
        finally:
            with self._news:
                self._end = end
                self._news.notify_all()

    async def _run(self) -> RunProgress:
        config = self._config
        limits = make_limits(config["limits"], self.folder)
        keep_books(self.folder, config["books"])
        with Journal.create(self.folder, config["plan"]) as journal:
            journal.absorb("", config["pieces"])
        shared, self._halt, self._loop = Shared(), Halt(), asyncio.get_running_loop()
        context = limits.context(log=lambda _: None, game="")
        allowance = self._allowance = Allowance(context, self._hurry)
        allowance.allow(*config["allowance"])
        shared.once(Budget, lambda: allowance)
        if self._halted is not None:
            self.halt(self._halted)
        job = ShardJob(make_job(config["job"], self.folder, limits.prompts), config["plan"], self._leases)
        return await run(job, self.folder, limits, watch=self._watch, halt=self._halt, feed=self._feed, shared=shared)

    def _watch(self, progress: RunProgress) -> None:
        self._report = report(progress)

    def _feed(self, pieces: Sequence[Piece]) -> None:
        with self._news:
            self._pieces += pieces
            self._news.notify_all()

    def _hurry(self) -> None:
        with self._news:
            self._urgent = True
            self._news.notify_all()
