"""What a run deals out to its workers, chains of games and allowances of its budget, and takes in of their shards.

A shard gives its journal by its rows, and its lesson books, of which the longer is the newer. Shards that a run left
behind when it was killed are merged before anything else is played.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections import deque
from collections.abc import Iterator, Mapping, Set
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from liescope.common.errors import UsageError
from liescope.common.folders import take_lock
from liescope.generate.runs.job import LESSONS, Chain, Job
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.journal_tables import ENDPOINTS
from liescope.generate.runs.run_folder import PLAN_FILE, write_whole

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


SHARDS = "shards"  # the folder of the shards in a run's folder
_WAIT = 20.0  # seconds that a worker without a run may take to end


async def merge_leftovers(journal: Journal, run: Path) -> int:
    """Merge every shard in a run's folder and delete it; returns their number.

    A worker whose run was killed finishes its requests first. Raises UsageError if one does not end, BadData for a
    damaged shard.
    """
    folders = sorted(path for path in (run / SHARDS).glob("*") if path.is_dir())
    for folder in folders:
        await free(folder)
        merge_shard(journal, run, folder)
    return len(folders)


def merge_shard(journal: Journal, run: Path, folder: Path) -> None:
    """Take everything in a shard that nobody writes to, and delete it."""
    take(journal, run, folder.name, read_shard(folder))
    drop(folder)


def take(journal: Journal, run: Path, shard: str, news: Mapping[str, Any]) -> None:
    """Take pieces and books of a shard: books first, which may be ahead of the replies but not behind."""
    keep_books(run, news["books"])
    journal.absorb(shard, news["pieces"])


def read_shard(folder: Path) -> dict[str, Any]:
    """The pieces and books of a shard; none of one that was not begun."""
    if not (folder / PLAN_FILE).exists():
        return {"pieces": [], "books": {}}
    with Journal.open(folder) as shard:
        pieces = [*shard.everything(), (ENDPOINTS, [(asdict(facts),) for facts in shard.endpoint_facts()])]
    return {"pieces": pieces, "books": read_books(folder)}


def drop(folder: Path) -> None:
    """Delete a shard, and the folder of the shards if it was the last."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.parent.is_dir() and not any(folder.parent.iterdir()):
        folder.parent.rmdir()


async def free(folder: Path) -> None:
    """Wait until nobody writes to a shard. Raises UsageError if that takes too long."""
    until = time.monotonic() + _WAIT
    while True:
        try:
            os.close(take_lock(folder))
        except UsageError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.1)
        else:
            return


def read_books(run: Path) -> dict[str, str]:
    """The whole lines of every book in a run's folder, by file name."""
    return {
        file.name: file.read_bytes().rpartition(b"\n")[0].decode() + "\n"
        for file in sorted((run / LESSONS).glob("*.jsonl"))
        if b"\n" in file.read_bytes()
    }


def keep_books(run: Path, books: Mapping[str, str]) -> None:
    """Replace the books in a run's folder that are shorter."""
    for name, text in books.items():
        file = run / LESSONS / Path(name).name
        if not file.exists() or file.stat().st_size < len(text.encode()):
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, text)
