"""The worker's side: it plays the chains that are leased to it into its shard, and tells all that it has kept.

Work goes on in a thread with an event loop of its own; `exchange`, called from another thread, takes orders and gives
the news since the last call. Orders and news are JSON, between the run and a process (`main`) or an actor (`Actor`). A
worker whose run is gone finishes what is under way and keeps it in the shard.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from liescope.common import errors
from liescope.common.console import heeded
from liescope.common.errors import Interrupted, LiescopeError, RunPaused, UsageError
from liescope.generate.players.openai.accounts import Budget
from liescope.generate.players.player_protocol import Halt, PlayerContext, Shared
from liescope.generate.players.prompts import Templates
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Forking, Job, JudgingJob, Leases, Playing
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_tables import Piece
from liescope.generate.runs.moment import ForkPlan, read_moment
from liescope.generate.runs.open_run import free, keep_books, read_books, read_shard
from liescope.generate.runs.run_folder import PLAN_FILE
from liescope.generate.runs.run_plan import JudgePlan, Plan
from liescope.generate.runs.run_progress import RunProgress
from liescope.generate.runs.runner import run

_SOONEST, _LATEST = 0.05, 0.5  # seconds between the news of two exchanges, with and without anything new
DRAIN = 10.0  # seconds that requests under way have to finish once the run is gone


GONE_AFTER = 120.0  # seconds without an exchange after which a worker takes its run as gone
SUPPLIED = "supplied"  # the run in a shard's folder that holds the games to judge
_LIMITS = TypeAdapter(Limits)


_BYTES = "base64"


def pack(message: dict[str, Any]) -> bytes:
    """A message as one line of JSON."""
    return json.dumps(message, separators=(",", ":"), default=_plain).encode() + b"\n"


def unpack(data: bytes) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(data, object_hook=_live)
    return message


def _plain(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {_BYTES: b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} is no plain data")


def _live(value: dict[str, Any]) -> Any:
    return b64decode(value[_BYTES]) if value.keys() == {_BYTES} else value


def describe_error(error: LiescopeError) -> list[str]:
    return [type(error).__name__, str(error)]


def make_error(data: list[str]) -> LiescopeError:
    """The error again; one that takes more than a message becomes a plain UsageError."""
    kind, words = data
    found = getattr(errors, kind, None)
    if isinstance(found, type) and issubclass(found, LiescopeError) and "__init__" not in vars(found):
        return found(words)
    return UsageError(words)


def make_pause(data: list[str]) -> RunPaused:
    """The reason why a run is ending."""
    error = make_error(data)
    return error if isinstance(error, RunPaused) else RunPaused(str(error))


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


class WorkerSession:
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
        context = PlayerContext(limits=limits, log=lambda _: None, game="")
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


class Actor:
    """A worker on a node of a Ray cluster. Messages are bytes."""

    def __init__(self, config: bytes) -> None:
        data = unpack(config)
        for name, value in data.pop("variables").items():
            os.environ.setdefault(name, value)
        self._folder = _folder(data["shard"])
        self._folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._session = WorkerSession({**data, "folder": str(self._folder)})
        self._asked_at = time.monotonic()
        threading.Thread(target=self._watch, daemon=True).start()

    def where(self) -> str:
        """The id of this node."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def exchange(self, orders: bytes) -> bytes:
        self._asked_at = time.monotonic()
        news = self._session.exchange(unpack(orders))
        self._asked_at = time.monotonic()
        return pack(news)

    def drop(self) -> None:
        """Delete the shard."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _watch(self) -> None:
        while time.monotonic() - self._asked_at < GONE_AFTER:
            time.sleep(1.0)
        self._session.abandon()


def rest_of(shard: str) -> bytes:
    """What the shard of a dead worker on this node holds; it is deleted."""
    folder = _folder(shard)
    if not folder.exists():
        return pack({"pieces": [], "books": {}})
    asyncio.run(free(folder))
    kept = pack(read_shard(folder))
    shutil.rmtree(folder, ignore_errors=True)
    return kept


def _folder(shard: str) -> Path:
    return Path(tempfile.gettempdir()) / f"liescope-{os.getuid()}" / shard


def main() -> None:
    """Serve the run until the worker has told how it ended, or until the run is gone.

    Signals that ask a program to end are the run's to heed: who sends them to every process of a job, as Slurm does,
    would otherwise lose what is under way.
    """
    for number in heeded():
        signal.signal(number, signal.SIG_IGN)
    orders, news = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed must not come between the messages
    if not (config := orders.readline()).endswith(b"\n"):
        return
    session = WorkerSession(unpack(config))
    while (message := orders.readline()).endswith(b"\n"):
        answer = session.exchange(unpack(message))
        try:
            news.write(pack(answer))
            news.flush()
        except BrokenPipeError:
            break
        if answer["end"] is not None:
            os._exit(1 if "died" in answer["end"] else 0)
    session.abandon()
    os._exit(0)  # threads that wait for nothing must not keep the process


if __name__ == "__main__":
    main()
