"""The run's side: deals a job and its budget out to workers, merges what they have kept, and replaces those that die.

Nothing is dealt before the leftovers of an earlier start are merged, and a worker's chains are handed over only once
all that it kept is in the run. So no two workers ever ask for the same reply.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from liescope.common.errors import BudgetSpent, Interrupted, LiescopeError, UsageError
from liescope.generate.players.openai.accounts import used_up
from liescope.generate.players.player_protocol import AnswerRate, Halt, HostActivity
from liescope.generate.players.run_limits import Limits
from liescope.generate.runs.job import Chain, Job
from liescope.generate.runs.journal_tables import ENDPOINTS
from liescope.generate.runs.open_run import SHARDS, OpenRun, Watch, opened, read_books, take
from liescope.generate.runs.run_progress import COUNTERS, NUMBERS, RunProgress
from liescope.generate.runs.shards.engine import Engine, Worker, WorkerDied
from liescope.generate.runs.shards.worker import describe, describe_error, make_error, make_pause

_LEAST = 1e-3  # of a budget: an allowance below this share is not worth asking for


class Dealer:
    """Deals the chains of a job that have not ended, a few at a time and fewer towards the end, so that all workers
    have something to do until there is nothing left.

    Chains with recorded replies go to workers that are about to start, which are given the replies.
    """

    def __init__(self, job: Job, ended: Set[str], begun: Set[str]) -> None:
        self._job = job
        self._begun: deque[Chain] = deque()
        if begun:
            found = (chain for chain in job.chains(ended) if any(game.game_id in begun for game in chain))
            self._begun.extend(tuple(game.number for game in chain) for chain in found)
        self._fresh: Iterator[Chain] = (
            tuple(game.number for game in chain)
            for chain in job.chains(ended)
            if not any(game.game_id in begun for game in chain)
        )
        self.left = len(job) - len(ended)  # games that were not dealt
        self.exhausted = False  # every chain was dealt
        self._dealt: dict[str, list[Chain]] = {}

    def first(self, worker: str, most: int, workers: int) -> list[Chain]:
        """The chains that a new worker begins with. most: how many it plays at once; workers: that are yet to start,
        this one included.
        """
        begun = [self._begun.popleft() for _ in range(-(-len(self._begun) // workers))]
        self._note(worker, begun)
        return begun + self._next(worker, min(most - len(begun), -(-self.left // workers)))

    def more(self, worker: str, taken: int, before: int, workers: int) -> list[Chain]:
        """More chains for a worker that has begun `taken` of its own, `before` of them when it last asked."""
        stock = len(self._dealt[worker]) - taken
        wanted = min(2 * (taken - before), -(-self.left // (2 * workers)))
        return self._next(worker, max(wanted, 1) - stock)

    def take_over(self, dead: str, worker: str, ended: Set[str]) -> list[Chain]:
        """What is left of the chains of a worker that died, for the one that replaces it."""
        games = ([(number, self._job.planned(number).game_id) for number in chain] for chain in self._dealt.pop(dead))
        left = (tuple(number for number, game_id in chain if game_id not in ended) for chain in games)
        self._dealt[worker] = [chain for chain in left if chain]
        return list(self._dealt[worker])

    def _next(self, worker: str, count: int) -> list[Chain]:
        chains = list(islice(self._fresh, max(count, 0)))
        self.exhausted |= len(chains) < count
        self._note(worker, chains)
        return chains

    def _note(self, worker: str, chains: list[Chain]) -> None:
        self._dealt.setdefault(worker, []).extend(chains)
        self.left -= sum(map(len, chains))


class Purse:
    """A budget of which each worker is allowed a part; all parts together never exceed it.

    limit: None for no limit; spent: before the workers started.
    """

    def __init__(self, limit: float | None, spent: float) -> None:
        self.limit = limit
        self._before = spent
        self._spent: dict[str, float] = {}
        self._allowed: dict[str, float] = {}

    @property
    def spent(self) -> float:
        return self._before + sum(self._spent.values())

    def allow(self, worker: str, spent: float, workers: int) -> float | None:
        """What a worker may have spent in all, given what it has spent; no more than that once nothing is left."""
        if self.limit is None:
            return None
        self._spent[worker] = spent
        left = self.limit - self.spent
        others = sum(max(self._allowed[one] - self._spent.get(one, 0.0), 0.0) for one in self._allowed if one != worker)
        part = min(left / (2 * workers), left - others) if workers > 1 else left - others
        if part >= _LEAST * self.limit / workers:
            self._allowed[worker] = max(self._allowed.get(worker, 0.0), spent + part)
        return self._allowed.setdefault(worker, spent)

    def close(self, worker: str, spent: float) -> None:
        """A worker ended: what it did not spend is free again. spent: by the whole run, as far as that was kept; what
        nobody has told yet is the worker's last.
        """
        self._allowed.pop(worker, None)
        self._spent[worker] = self._spent.get(worker, 0.0) + max(spent - self.spent, 0.0)


_SUMMED = tuple(name for name in NUMBERS if name not in ("planned", "before"))


class _Reported(AnswerRate):
    """A rate measured elsewhere."""

    def __init__(self, per_second: float) -> None:
        super().__init__()
        self._reported = per_second

    @property
    def per_second(self) -> float:
        return self._reported


class WorkerTally:
    """base: what the run had before, to which the reports of all workers are added."""

    def __init__(self, base: RunProgress) -> None:
        self.base = base
        self._reports: dict[str, dict[str, Any]] = {}

    def take(self, worker: str, given: dict[str, Any]) -> None:
        """The latest report of a worker."""
        self._reports[worker] = given

    def ended(self, worker: str) -> None:
        """A worker plays and asks no more; what it did stays counted."""
        if worker in self._reports:
            self._reports[worker]["playing"] = 0
            for host in self._reports[worker]["hosts"].values():
                host.update(under_way=0, queued=0, limit=None, per_second=0.0, waits=0.0, paused=False)

    def sum(self, into: RunProgress) -> None:
        """Bring the progress that is shown up to date."""
        for name in _SUMMED:
            setattr(into, name, getattr(self.base, name) + sum(one[name] for one in self._reports.values()))
        for name in COUNTERS:
            total = Counter[str](getattr(self.base, name))
            for one in self._reports.values():
                total.update(one[name])
            setattr(into, name, total)
        names = dict.fromkeys(name for one in self._reports.values() for name in one["hosts"])
        into.activity.hosts = {
            name: _host([one["hosts"][name] for one in self._reports.values() if name in one["hosts"]])
            for name in names
        }


def _host(parts: list[dict[str, Any]]) -> HostActivity:
    """What all workers together do at one host."""

    def total(name: str) -> Any:
        return sum(part[name] or 0 for part in parts)

    limits = [part["limit"] for part in parts if part["limit"] is not None]
    longest = max(parts, key=lambda part: part["waits"])
    return HostActivity(
        under_way=total("under_way"),
        queued=total("queued"),
        limit=sum(limits) if limits else None,
        answers=total("answers"),
        tokens=total("tokens"),
        cached=total("cached_tokens"),
        cost=total("cost"),
        saved=total("saved"),
        limited=total("limited"),
        retries=sum((Counter(part["retries"]) for part in parts), Counter[str]()),
        wait=(time.monotonic() + longest["waits"], longest["waits_because"]) if longest["waits"] else None,
        paused=all(part["paused"] for part in parts),
        rate=_Reported(total("per_second")),
    )


FRUITLESS_DEATHS = 3  # workers in a row that died in one place without having kept anything
_SHOW_EVERY = 0.1  # seconds


async def run_sharded(
    job: Job,
    out: Path,
    limits: Limits,
    engine: Engine,
    retry_failed: bool = False,
    watch: Watch | None = None,
    halt: Halt | None = None,
) -> RunProgress:
    """Do a job in a run folder with several workers; otherwise as `runner.run`, with the same result.

    Raises also UsageError if workers cannot be started or keep dying.
    """
    async with opened(job, out, limits, retry_failed, watch, halt, elsewhere=True) as run:
        try:
            return await _Crew(run, engine).run()
        finally:
            await engine.close()


class _Crew:
    """One process's part of a run that is played by workers."""

    def __init__(self, run: OpenRun, engine: Engine) -> None:
        limits = run.limits
        self._job = run.job
        self._journal = run.journal
        self._out = run.out
        self._engine = engine
        self._described = describe(run.job, limits)
        self._run = run
        self._halt = run.halt
        self._concurrency = limits.concurrency
        self._progress = run.progress
        self._count()
        self._progress.before = self._progress.done + self._progress.failed
        self._tokens = Purse(limits.max_tokens, self._progress.tokens)
        self._cost = Purse(limits.max_cost, self._progress.cost)
        self._dealer = Dealer(run.job, set(self._journal.game_ids()), self._journal.begun())
        self._workers = max(min(engine.workers, limits.concurrency, self._dealer.left), 0)
        self._sharing = self._workers  # the places in which somebody plays, or is about to
        self._kept: set[str] = set()  # the shards from which something came
        self._any_died = False
        self._error: LiescopeError | None = None
        self._shown_at = 0.0

    def _count(self) -> None:
        """Count everything that the journal holds."""
        now = self._progress
        base = RunProgress(
            now.planned,
            calls=now.calls,
            from_cache=now.from_cache,
            unrated=now.unrated,
            retried=now.retried,
            judged=now.judged,
        )
        for game in self._journal.records():
            base.add(game)
        base.tokens, base.cost = self._journal.spent()
        self._tally = WorkerTally(base)
        self._tally.sum(self._progress)

    async def run(self) -> RunProgress:
        try:
            async with asyncio.TaskGroup() as group:
                for place in range(self._workers):
                    group.create_task(self._fill(place))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            self._show()
        if self._error is not None:
            raise self._error
        if self._any_died:  # what a worker kept and did not tell is in the journal alone
            hosts = self._progress.activity.hosts
            self._count()
            self._progress.activity.hosts = hosts
        ended = self._progress.done + self._progress.failed
        if self._progress.stop is None and ended < self._progress.planned:  # who was asked to end may have died of it
            self._progress.stop = self._halt.error
        if isinstance(self._progress.stop, BudgetSpent):  # a worker knows only its own part
            self._progress.stop = self._used_up()
        return self._progress

    async def _fill(self, place: int) -> None:
        try:
            await self._keep_going(place)
        finally:
            self._sharing -= 1

    async def _keep_going(self, place: int) -> None:
        """One worker after the other in this place, until one has ended by itself."""
        shard, deaths = uuid4().hex[:12], 0
        concurrency = self._concurrency // self._workers + (place < self._concurrency % self._workers)
        chains = self._dealer.first(shard, concurrency, self._workers - place)
        while chains or not self._dealer.exhausted:
            try:
                await self._work(shard, chains, concurrency)
            except WorkerDied as error:
                self._any_died = True
                self._leave(shard)
                deaths = 0 if shard in self._kept else deaths + 1
                if deaths >= FRUITLESS_DEATHS:
                    raise UsageError(
                        f"{deaths} workers in a row died before they had kept anything, the last because of: {error}; "
                        "fix the cause and run the same command again"
                    ) from None
                if self._halt.error is not None:
                    return
                dead, shard = shard, uuid4().hex[:12]
                chains = self._dealer.take_over(dead, shard, set(self._journal.game_ids()))
            else:
                self._leave(shard)
                return

    async def _work(self, shard: str, chains: Sequence[Chain], concurrency: int) -> None:
        """One worker from its start to its end. Raises WorkerDied."""
        folder = self._out / SHARDS / shard
        worker = await self._engine.start(self._config(shard, chains, concurrency), folder)
        try:
            await self._talk(shard, worker)
        except BaseException:
            take(self._journal, self._out, shard, await worker.kill())
            raise
        await worker.close()

    def _config(self, shard: str, chains: Sequence[Chain], concurrency: int) -> dict[str, Any]:
        begun = self._journal.begun()
        ids = (self._job.planned(number).game_id for chain in chains for number in chain)
        facts = [(asdict(one),) for one in self._journal.endpoint_facts()]
        return {
            **self._described,
            "limits": {**self._described["limits"], "concurrency": concurrency},
            "chains": chains,
            "final": self._dealer.exhausted,
            "pieces": [self._journal.replies_of(one for one in ids if one in begun), (ENDPOINTS, facts)],
            "supplies": self._supplies(chains),
            "books": read_books(self._out),
            "allowance": self._allowance(shard, 0, 0.0),
        }

    def _supplies(self, chains: Sequence[Chain]) -> list[Any]:
        return self._job.supplies(number for chain in chains for number in chain)

    async def _talk(self, shard: str, worker: Worker) -> None:
        taken, orders = 0, dict[str, Any]()
        while True:
            news = await worker.exchange(orders)
            self._keep(shard, news)
            if news["end"] is not None:
                self._ended(news["end"])
                return
            orders = {"allowance": self._allowance(shard, *news["spent"])}
            if self._halt.error is not None:
                orders |= {"halt": describe_error(self._halt.error)}
            else:
                orders["chains"] = self._dealer.more(shard, news["taken"], taken, self._sharing)
                orders["supplies"] = self._supplies(orders["chains"])
                orders["final"] = self._dealer.exhausted
            taken = news["taken"]

    def _keep(self, shard: str, news: dict[str, Any]) -> None:
        """Take what a worker has kept into the run."""
        if news["pieces"]:
            self._kept.add(shard)
        take(self._journal, self._out, shard, news)
        self._tally.take(shard, news["progress"])
        now = time.monotonic()
        if now - self._shown_at >= _SHOW_EVERY:
            self._shown_at = now
            self._show()

    def _ended(self, end: dict[str, Any]) -> None:
        """How a worker ended. A used-up allowance ends this worker alone: others may have something left of theirs."""
        if "died" in end:
            raise WorkerDied(end["died"])
        if "error" in end:
            self._error = self._error or make_error(end["error"])
            self._halt.set(make_pause(end["error"]))
        elif end["stop"] is not None:
            asked = self._halt.error
            stop = asked if isinstance(asked, Interrupted) else make_error(end["stop"])
            if self._progress.stop is None or isinstance(self._progress.stop, BudgetSpent):
                self._progress.stop = stop
            if not isinstance(stop, BudgetSpent):
                self._halt.set(make_pause(end["stop"]))

    def _allowance(self, shard: str, tokens: int, cost: float) -> tuple[float | None, float | None]:
        return self._tokens.allow(shard, tokens, self._sharing), self._cost.allow(shard, cost, self._sharing)

    def _used_up(self) -> BudgetSpent:
        """The error for the budget that is used up, or nearest to it."""
        tokens, money = self._tokens.limit, self._cost.limit
        if tokens and (not money or self._tokens.spent / tokens >= self._cost.spent / money):
            return used_up("tokens", tokens, self._tokens.spent)
        return used_up("money", money or 0.0, self._cost.spent)

    def _leave(self, shard: str) -> None:
        limited = self._tokens.limit is not None or self._cost.limit is not None
        tokens, cost = self._journal.spent() if limited else (0, 0.0)
        self._tokens.close(shard, tokens)
        self._cost.close(shard, cost)
        self._tally.ended(shard)

    def _show(self) -> None:
        self._tally.sum(self._progress)
        self._run.show()
