"""What shards hold, and how a run takes it in: journals by their rows, lesson books, of which the longer is the newer.

Shards that a run left behind when it was killed are merged before anything else is played.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from liescope.common.errors import UsageError
from liescope.common.folders import take_lock
from liescope.generate.runs.folder import PLAN_FILE, write_whole
from liescope.generate.runs.job import LESSONS
from liescope.generate.runs.journal import Journal
from liescope.generate.runs.tables import ENDPOINTS

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
