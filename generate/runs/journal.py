"""The journal: one folder per run, which never loses a paid reply.

A run folder holds `run.json` (the resolved plan, the versions it was made with, the format's number) and
`journal.sqlite` (every request and reply as it arrives, and every game as it ends). SQLite keeps a write-ahead log, so
a process killed at any moment loses nothing that was committed, and others may read while the run goes on. Only one
process writes; it holds a lock on the folder. Every row carries a checksum, and its contents are checked when it is
read.

Whatever arrives within one turn of the event loop shares a commit: a reply is never separated from its attempt, a reply
from an endpoint is safe before anything else happens, and instant players do not cost a commit each.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import Any

from liescope.common.errors import BadData, UsageError
from liescope.common.folders import take_lock
from liescope.common.stores import check_not_in_store
from liescope.games.core import Ask, Reply
from liescope.games.record import GameRecord, Status, record_to_json, reply_to_json
from liescope.generate.players.player_protocol import Attempt, EndpointFacts
from liescope.generate.runs.journal_reader import JournalReader
from liescope.generate.runs.journal_tables import (
    INSERT_REQUEST,
    RequestStore,
    create,
    dumped,
    escaped,
    insertion,
    signed,
)
from liescope.generate.runs.run_folder import (
    FORMAT,
    PLAN_FILE,
    RunHead,
    check_whole,
    connect,
    guard,
    one,
    read_head,
    versions,
    write_head,
)


class Journal(JournalReader):
    """A run folder, open. Use it as a context manager; leaving it commits and releases the lock.

    Every method raises BadData if the journal is damaged, and UsageError if it cannot be written (no space left,
    no permission, opened for reading).
    """

    def __init__(self, path: Path, head: RunHead, base: sqlite3.Connection, lock: int | None) -> None:
        super().__init__(path, head.plan, base)
        self.versions = head.versions
        self._head = head
        self._lock = lock
        self._rows: dict[str, list[tuple[Any, ...]]] = {"attempts": [], "replies": [], "unanswered": [], "games": []}
        self._requests = RequestStore()
        self._last: dict[str, int] = {}  # the last place taken in games and attempts
        self._waiting = False
        self._broken: UsageError | None = None
        self.games_at_once = 1
        """How many games share a commit where there is no event loop: more where they can be had again."""

    # Opening and closing

    @classmethod
    def create(cls, path: Path, plan: Mapping[str, Any]) -> Journal:
        """A new run in an empty or missing folder, open for writing. plan: plain JSON data.

        Raises UsageError if the folder already holds a run, is locked by another process or cannot be written to.
        """
        check_not_in_store(path)
        with guard(path), ExitStack() as undo:
            path.mkdir(parents=True, exist_ok=True)
            lock = take_lock(path)
            undo.callback(os.close, lock)
            if (path / PLAN_FILE).exists():
                raise UsageError(f"{path} holds a run already; choose another folder for the new one")
            base = connect(path, write=True)
            undo.callback(base.close)
            if one(base, "PRAGMA user_version")[0]:
                check_whole(path, base)
            create(base)
            if one(base, "SELECT (SELECT count(*) FROM games) + (SELECT count(*) FROM replies)")[0]:
                raise BadData(f"{path} holds a journal whose {PLAN_FILE} is missing; put it back or start elsewhere")
            head = RunHead(FORMAT, versions(plan), dict(plan))
            write_head(path, head)
            undo.pop_all()
        return cls(path, head, base, lock)

    @classmethod
    def in_memory(cls, plan: Mapping[str, Any]) -> Journal:
        """A run that nobody keeps: it lasts as long as it is open, in the thread that made it."""
        base = sqlite3.connect(":memory:")
        create(base)
        return cls(Path(), RunHead(FORMAT, {}, dict(plan)), base, os.open(os.devnull, os.O_RDONLY))

    @classmethod
    def open(cls, path: Path, write: bool = False, checked: bool = False) -> Journal:
        """An existing run, opened for reading (also while another process writes to it) or to resume it.

        checked: this process already checked the whole file. Raises BadData if the folder holds no run or a damaged
        one, UsageError if another process is writing to it.
        """
        check_not_in_store(path)
        head = read_head(path)
        with guard(path), ExitStack() as undo:
            lock = take_lock(path) if write else None
            if lock is not None:
                undo.callback(os.close, lock)
            base = connect(path, write)
            undo.callback(base.close)
            check_whole(path, base, checked)
            if not write:
                base.execute("PRAGMA query_only = ON")
            undo.pop_all()
        return cls(path, head, base, lock)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if error is None:
                self.commit()
            else:  # the error being raised matters more than a failed last commit
                with suppress(UsageError):
                    self.commit()
        finally:
            self.close()

    def close(self) -> None:
        """Close without committing pending rows; leaving the context manager commits first."""
        self._base.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def log_attempt(self, attempt: Attempt) -> None:
        """Keep one request, successful or not. They are numbered in order of arrival, even across resumed runs."""
        self._check_writable()
        a = attempt
        sent = None if a.request is None else self._requests.keep(a.game, a.seat, a.request)
        # The checksum covers types, and SQLite returns floats from a REAL column.
        money = [None if value is None else float(value) for value in (a.cost, a.latency_ms)]
        said = [None if text is None else escaped(text) for text in (a.response_id, a.served_model)]
        tokens = (a.prompt_tokens, a.cached_tokens, a.completion_tokens)
        kept = (a.game, a.step, a.seat, escaped(a.problem), escaped(a.raw), *tokens, *money, sent, *said, a.via)
        self._add("attempts", (self._place("attempts", "place"), *kept))

    def log_reply(self, ask: Ask, model: str, reply: Reply, position: int = 0) -> None:
        """Keep the reply to an ask. position: the ask's place in its batch, since replies may arrive in a different
        order.
        """
        self._check_writable()
        kept = (dumped(reply_to_json(reply)), escaped(reply.raw))
        self._add("replies", (ask.game, ask.step, ask.seat, position, ask.kind.value, model, *kept))

    def log_failure(self, ask: Ask, model: str) -> None:
        """Note the ask and model of attempts that all failed."""
        self._check_writable()
        self._add("unanswered", (ask.game, ask.step, ask.seat, ask.kind.value, model))

    def add_record(self, record: GameRecord, number: int | None = None) -> None:
        """Keep a game that ended. number: its place in the run, by default the next one."""
        self._check_writable()
        self._requests.forget(record.game_id)
        number = self._place("games", "number") if number is None else number
        self._add("games", (number, record.game_id, record.status.value, dumped(record_to_json(record))))

    def keep_templates(self, digest: str, sources: Mapping[str, str]) -> None:
        """Keep complete prompt templates, by file name, under the hash that the plan names; once is enough."""
        self._check_writable()
        if self.templates(digest):
            return
        with guard(self.path), self._base:
            kept = [signed((digest, name, escaped(source))) for name, source in sources.items()]
            self._base.executemany(insertion("templates"), kept)

    def forget_failed(self, game_ids: Iterable[str] | None = None) -> int:
        """Forget that games failed (all, or those with the ids), so that they resume from their last reply; returns
        their number.
        """
        self._check_writable()
        self.commit()
        with guard(self.path), self._base:
            if game_ids is None:
                return self._base.execute("DELETE FROM games WHERE status = ?", (Status.FAILED.value,)).rowcount
            which = [(Status.FAILED.value, game_id) for game_id in game_ids]
            return self._base.executemany("DELETE FROM games WHERE (status, game_id) = (?, ?)", which).rowcount

    def endpoint_facts(self) -> tuple[EndpointFacts, ...]:
        """What the run has found out about its endpoints so far, one entry for each host and model."""
        return self._head.endpoints

    def record_endpoint(self, facts: EndpointFacts) -> None:
        """Keep what was found out about an endpoint, replacing what was known about the same host and model."""
        self._check_writable()
        known = {(one.host, one.model): one for one in self.endpoint_facts()}
        if known.get((facts.host, facts.model)) != facts:
            known[facts.host, facts.model] = facts
            self._head.endpoints = tuple(known.values())
            with guard(self.path):
                write_head(self.path, self._head)

    def rewrite(self, change: Callable[[sqlite3.Connection], None], plan: Mapping[str, Any]) -> None:
        """Change what is kept, atomically, leaving no trace of the old in the folder. plan: replaces the run's."""
        self._check_writable()
        self.commit()
        with guard(self.path):
            self._base.execute("PRAGMA secure_delete = ON")  # else deleted rows stay readable in free pages
            with self._base:
                change(self._base)
            self.plan = self._head.plan = dict(plan)
            write_head(self.path, self._head)
            # Old words may fill whole pages of the file and of the log beside it.
            self._base.execute("VACUUM")
            busy, *_ = one(self._base, "PRAGMA wal_checkpoint(TRUNCATE)")
        if busy:
            raise UsageError(
                f"{self.path} has changed, but another process reads it, so that what it was is still in its files; "
                "do it again when that has ended"
            )

    def commit(self) -> None:
        """Make everything so far durable. Raises the error of an earlier background commit, if any."""
        if self._broken is None and any(self._rows.values()):
            try:
                with guard(self.path), self._base:
                    self._base.executemany(INSERT_REQUEST, self._requests.rows)
                    for table, rows in self._rows.items():
                        self._base.executemany(insertion(table), map(signed, rows))
            except UsageError as error:
                self._broken = error
            for waiting in self._rows.values():
                waiting.clear()
            self._requests.rows.clear()
        if self._broken is not None:
            raise self._broken

    def _place(self, table: str, column: str) -> int:
        """The place of a new row: after the last one of the table."""
        if table not in self._last:
            with guard(self.path):
                (self._last[table],) = one(self._base, f"SELECT coalesce(max({column}), 0) FROM {table}")
        self._last[table] += 1
        return self._last[table]

    def _check_writable(self) -> None:
        if self._lock is None:
            raise UsageError(f"{self.path} is open for reading; open it with write=True")
        if self._broken is not None:
            raise self._broken

    def _add(self, table: str, row: tuple[Any, ...]) -> None:
        """Take in a row. It is committed at the end of this turn of the event loop; if there is none, at once or
        with the games that share a commit.
        """
        self._rows[table].append(row)
        if self._waiting:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            if len(self._rows["games"]) % self.games_at_once == 0:
                self.commit()
            return
        self._waiting = True
        loop.call_soon(self._end_of_turn)

    def _end_of_turn(self) -> None:
        self._waiting = False
        with suppress(UsageError):  # the error waits in _broken for the next write or commit
            self.commit()


def read_runs(runs: Iterable[Path | Sequence[Path]]) -> Iterator[tuple[str, GameRecord, list[dict[str, Any]]]]:
    """(run name, game, its calls) of every game of the runs, in order, one at a time. A run in parts is the sequence of
    their folders; its games come in the order of the whole.
    """
    for run in runs:
        places = list[tuple[int, Path]]()
        for path in [run] if isinstance(run, Path) else run:
            with Journal.open(path) as journal:
                places += [(number, path) for number in journal.numbered()]
        for path, games in groupby(sorted(places), key=itemgetter(1)):
            with Journal.open(path, checked=True) as journal:
                for record in journal.records_at(number for number, _ in games):
                    yield journal.name, record, journal.calls(record.game_id)
