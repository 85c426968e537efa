"""The worker's side: it plays the chains that are leased to it into its shard, and tells all that it has kept.

Work goes on in a thread with an event loop of its own; `exchange`, called from another thread, takes orders and gives
the news since the last call.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from liescope.common.errors import Interrupted, LiescopeError, RunPaused
from liescope.generate.players.openai.accounts import Budget
from liescope.generate.players.prompts import Templates
from liescope.generate.players.protocol import Halt, PlayerContext, Shared
from liescope.generate.runs.folder import PLAN_FILE
from liescope.generate.runs.job import Forking, Job, JudgePlan, JudgingJob, Leases, Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.limits import Limits
from liescope.generate.runs.moment import ForkPlan, read_moment
from liescope.generate.runs.plan import Plan
from liescope.generate.runs.progress import RunProgress
from liescope.generate.runs.runner import run
from liescope.generate.runs.shards.dealer import keep_books, read_books
from liescope.generate.runs.shards.engine import describe_error, make_pause
from liescope.generate.runs.tables import Piece

_SOONEST, _LATEST = 0.05, 0.5  # seconds between the news of two exchanges, with and without anything new
DRAIN = 10.0  # seconds that requests under way have to finish once the run is gone


SUPPLIED = "supplied"  # the run in a shard's folder that holds the games to judge
_LIMITS = TypeAdapter(Limits)


def describe(job: Job, limits: Limits) -> dict[str, Any]:
    """A job with its limits as plain data, from which a worker makes it again; its players were prepared here."""
    return {
        "plan": job.plan.to_json(),
        "templates": [job.templates.name, dict(job.templates.sources)],
        **job.described(),
        "limits": {**_LIMITS.dump_python(limits, mode="json"), "preflight": False},
    }


def _made(config: dict[str, Any], shard: Path) -> Job:
    """The job again, in a shard's folder."""
    data, (name, sources) = config["plan"], config["templates"]
    templates = Templates(name, sources, shard)
    if JudgePlan.KEY in data:
        return JudgingJob(JudgePlan.model_validate(data), templates, shard / SUPPLIED)
    if ForkPlan.KEY in data:
        return Forking(ForkPlan.model_validate(data), read_moment(config["moment"], shard), templates)
    return Playing(Plan.model_validate(data), shard, templates)


class Allowance(Budget):
    """A budget whose limits another thread raises. ask: called when it is used up; then the worker waits for an answer.

    Raises BudgetSpent from `check` once an answer has not raised it.
    """

    def __init__(self, context: PlayerContext, ask: Callable[[], None]) -> None:
        super().__init__(context)
        self._ask = ask
        self._answered = threading.Condition()
        self._answers = 0

    def allow(self, tokens: float | None, cost: float | None) -> None:
        """Set the limits, for what this worker has spent in all."""
        with self._answered:
            self._max_tokens, self._max_cost = tokens, cost
            self._answers += 1
            self._answered.notify_all()

    @property
    def used_up(self) -> bool:
        spent = ((self.tokens, self._max_tokens), (self.cost, self._max_cost))
        return any(limit is not None and one >= limit for one, limit in spent)

    def check(self) -> None:
        if self.used_up:
            with self._answered:
                seen = self._answers
                self._ask()
                # The next answer may have been on its way already when this was used up; the one after it was not.
                self._answered.wait_for(lambda: not self.used_up or self._answers >= seen + 2)
        super().check()


class Session:
    """One worker's part of a run.

    config: plain data: the shard's folder, what `describe` says, the chains to begin with, the replies that they have,
    what they need of other runs, books and facts about endpoints, the budget's first allowance.
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
        self._report = RunProgress(0).counts()
        self._pieces: list[Piece] = []
        self._books = config["books"]
        self._news = threading.Condition()
        self._urgent = False
        self._told_at = 0.0
        self._end: dict[str, Any] | None = None
        self._supply(config["supplies"])
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    # Called from the thread of the exchanges

    def exchange(self, orders: dict[str, Any]) -> dict[str, Any]:
        """Take orders; wait a moment for news and give them. The last news say how the worker ended."""
        self._supply(orders.get("supplies", ()))
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
        books = read_books(self.folder) if any(self._config["plan"].get("learning", ()) or ()) else {}
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

    def _supply(self, pieces: Sequence[Piece]) -> None:
        """Keep what the job needs of another run."""
        if not pieces:
            return
        folder = self.folder / SUPPLIED
        begun = (folder / PLAN_FILE).exists()
        with (
            Journal.open(folder, write=True, checked=True) if begun else Journal.create(folder, self._config["played"])
        ) as journal:
            journal.absorb("", pieces)

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
        limits: Limits = _LIMITS.validate_python(config["limits"])
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
        job = _made(config, self.folder)
        job.leases = self._leases
        return await run(job, self.folder, limits, watch=self._watch, halt=self._halt, feed=self._feed, shared=shared)

    def _watch(self, progress: RunProgress) -> None:
        self._report = progress.counts()

    def _feed(self, pieces: Sequence[Piece]) -> None:
        with self._news:
            self._pieces += pieces
            self._news.notify_all()

    def _hurry(self) -> None:
        with self._news:
            self._urgent = True
            self._news.notify_all()
